import type { StreamFrame } from './stream-readers.ts';

/** Checks the levels of traces in the events of a caller, by the rules of the contract (service/streaming/README.md#finality). */
export type StreamLevels = {
  /** A connection begins that remembers no level of the one before. */
  readonly connect: () => void;
  readonly take: (event: StreamFrame) => void;
  /** Broken rules. */
  readonly faults: readonly string[];
  /** Traces that were shown, and neither became final nor were withdrawn. */
  readonly open: () => readonly string[];
};

const ranks: Readonly<Record<string, number>> = { pending: 1, confirmed: 2, finalized: 3 };

const FINAL = 3;

type Shown = { readonly rank: number; readonly content: string; readonly isWhole: boolean };

export function createStreamLevels(): StreamLevels {
  /** Newest event of each type, by the key of its trace. */
  const shown = new Map<string, Map<string, Shown>>();
  const open = new Set<string>();
  const faults: string[] = [];

  function withdraw(key: string, reason: unknown): void {
    const before = shown.get(key);
    if (before === undefined) faults.push(`${key}: withdrawn without a snapshot`);
    const isFinal = before?.values().some(({ rank, isWhole }) => rank === FINAL && isWhole) === true;
    // A type that is final stays so. Another type of the trace may be withdrawn as unmatched.
    if (isFinal && reason !== 'unmatched') faults.push(`${key}: withdrawn after it was final`);
    shown.delete(key);
    open.delete(key);
  }

  function show(key: string, event: StreamFrame): void {
    const type = event['type'] as string;
    const rank = ranks[event['finality'] as string]!;
    const content = JSON.stringify({ ...event, cursor: undefined });
    const types = shown.get(key) ?? new Map<string, Shown>();
    const last = types.get(type);
    const isPart = typeof event['part'] === 'number' && event['part'] > 1;
    if (last !== undefined && !isPart) {
      if (rank < last.rank) faults.push(`${key}: ${type} falls from ${last.rank} to ${rank}`);
      if (rank === last.rank && content === last.content) faults.push(`${key}: ${type} repeats`);
      if (last.rank === FINAL && last.isWhole) faults.push(`${key}: ${type} after the final one`);
    }
    types.set(type, { rank, content, isWhole: event['is_incomplete'] !== true });
    shown.set(key, types);
    if (rank < FINAL) open.add(key);
    else open.delete(key);
  }

  return {
    connect() {
      shown.clear();
      open.clear();
    },
    take(event) {
      const key = event['trace_external_hash_norm'];
      if (typeof key !== 'string') return;
      if (event['type'] === 'trace_invalidated') withdraw(key, event['reason']);
      else show(key, event);
    },
    faults,
    open: () => [...open],
  };
}
