import type { AccountKey, EventType } from '../changes.ts';

/** Types of events that show a trace, in their order. */
export const traceTypes = ['transactions', 'actions', 'trace'] as const satisfies readonly EventType[];

export type TraceType = (typeof traceTypes)[number];

/** Levels of a sent snapshot in rising order. `unended` is the final part of a trace that goes on. */
export const ranks = { pending: 1, confirmed: 2, unended: 3, finalized: 4 } as const;

/** Newest snapshot of a type that a connection was sent. */
export type Shown = {
  readonly rank: number;
  /** Print of its content; undefined for a final one. */
  readonly print: string | undefined;
};

/** Snapshots of one trace that a connection was sent. */
export type TraceEntry = {
  readonly shown: ReadonlyMap<TraceType, Shown>;
  /** Accounts by which the trace matched, the first ones. */
  readonly accounts: readonly AccountKey[];
  /** Hash by which the caller named the trace; undefined when no hash matched. */
  readonly hash: string | undefined;
};

/** Traces that a connection was sent and that are not final. */
export type TraceMemory = {
  readonly get: (key: string) => TraceEntry | undefined;
  readonly put: (key: string, entry: TraceEntry) => void;
  readonly drop: (key: string) => void;
  readonly clear: () => void;
};

export type TraceMemoryDependencies = {
  readonly nowMs: () => number;
  readonly onAdd: (key: string) => void;
  readonly onDrop: (key: string) => void;
};

/** Traces of a connection. */
const TRACES_MAX = 10_000;

/** Milliseconds after its newest snapshot for which a trace is remembered. */
const REMEMBERED_MS = 15 * 60_000;

export function createTraceMemory({ nowMs, onAdd, onDrop }: TraceMemoryDependencies): TraceMemory {
  /** Oldest snapshot first. Allocated by the first snapshot: most connections never have one. */
  let entries: Map<string, { readonly entry: TraceEntry; readonly atMs: number }> | undefined;

  function drop(key: string): void {
    if (entries?.delete(key) === true) onDrop(key);
  }

  return {
    get(key) {
      const there = entries?.get(key);
      if (there === undefined || nowMs() - there.atMs < REMEMBERED_MS) return there?.entry;
      drop(key);
      return undefined;
    },
    put(key, entry) {
      entries ??= new Map();
      if (!entries.delete(key)) onAdd(key);
      entries.set(key, { entry, atMs: nowMs() });
      for (const [oldest, { atMs }] of entries) {
        if (entries.size <= TRACES_MAX && nowMs() - atMs < REMEMBERED_MS) return;
        drop(oldest);
      }
    },
    drop,
    clear() {
      for (const key of entries?.keys() ?? []) onDrop(key);
      entries = undefined;
    },
  };
}
