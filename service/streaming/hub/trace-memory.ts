import type { AccountKey, EventType, Position } from '../changes.ts';

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
  /** Position of a final one: a message may begin two traces of one key. */
  readonly position: Position | null;
};

/** Snapshots of one trace that a connection was sent. */
export type TraceEntry = {
  readonly shown: ReadonlyMap<TraceType, Shown>;
  /** Accounts by which the trace matched, the first ones. */
  readonly accounts: readonly AccountKey[];
  /** Hash by which the caller named the trace; undefined when no hash matched. */
  readonly hash: string | undefined;
};

/** Traces of a connection. */
const TRACES_MAX = 10_000;

/** Milliseconds after its newest snapshot for which a trace is remembered. */
const REMEMBERED_MS = 15 * 60_000;

export type TraceMemoryDependencies = {
  readonly nowMs: () => number;
  /** The connection remembers a trace, or forgets it. */
  readonly onTrace: (key: string, isKnown: boolean) => void;
};

/** Traces that a connection was sent and that are not final. */
export class TraceMemory {
  readonly #dependencies: TraceMemoryDependencies;
  /** Oldest snapshot first. Allocated by the first snapshot: most connections never have one. */
  #entries: Map<string, { readonly entry: TraceEntry; readonly atMs: number }> | undefined;

  constructor(dependencies: TraceMemoryDependencies) {
    this.#dependencies = dependencies;
  }

  get(key: string): TraceEntry | undefined {
    const there = this.#entries?.get(key);
    if (there === undefined || this.#dependencies.nowMs() - there.atMs < REMEMBERED_MS) return there?.entry;
    this.drop(key);
    return undefined;
  }

  put(key: string, entry: TraceEntry): void {
    const nowMs = this.#dependencies.nowMs();
    this.#entries ??= new Map();
    if (!this.#entries.delete(key)) this.#dependencies.onTrace(key, true);
    this.#entries.set(key, { entry, atMs: nowMs });
    for (const [oldest, { atMs }] of this.#entries) {
      if (this.#entries.size <= TRACES_MAX && nowMs - atMs < REMEMBERED_MS) return;
      this.drop(oldest);
    }
  }

  drop(key: string): void {
    if (this.#entries?.delete(key) === true) this.#dependencies.onTrace(key, false);
  }

  isEmpty(): boolean {
    return this.#entries === undefined || this.#entries.size === 0;
  }

  clear(): void {
    for (const key of this.#entries?.keys() ?? []) this.#dependencies.onTrace(key, false);
    this.#entries = undefined;
  }
}
