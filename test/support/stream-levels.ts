import { printOf } from './json-print.ts';
import type { StreamFrame } from './stream-readers.ts';

/** Checks the levels of traces and states in the events of a caller, by the rules of the contract (service/streaming/README.md#finality). */
export type StreamLevels = {
  /** A connection begins that remembers no level of the one before. */
  readonly connect: () => void;
  /**
   * Another subscription of the same connection takes effect. What it does not cover needs no end.
   * @param covers reports whether it includes what an event shows
   */
  readonly change: (covers: (event: StreamFrame) => boolean) => void;
  /** @param isPortion transactions without the others of their trace, for `finality_scope: transaction` */
  readonly take: (event: StreamFrame, isPortion?: boolean) => void;
  /** Broken rules. */
  readonly faults: readonly string[];
  /** Traces and states that were shown, and neither became final nor were withdrawn. */
  readonly open: () => readonly string[];
};

const ranks: Readonly<Record<string, number>> = { pending: 1, confirmed: 2, finalized: 3 };

const FINAL = 3;

type Shown = {
  readonly rank: number;
  /** Print of the event without its cursor: events of long messages have hundreds of kilobytes. */
  readonly content: string;
  readonly isWhole: boolean;
  /** Without its objects if it is final. */
  readonly event: StreamFrame;
};

export function createStreamLevels(): StreamLevels {
  /** Newest event of each type, by the key of its trace. */
  const shown = new Map<string, Map<string, Shown>>();
  const open = new Set<string>();
  /** Signed states without a final one. */
  const states = new Map<string, Shown>();
  /** Traces of a former subscription. The service may remember them. */
  const left = new Set<string>();
  const faults: string[] = [];

  function withdraw(key: string, reason: unknown): void {
    const before = shown.get(key);
    if (before === undefined && !left.has(key)) faults.push(`${key}: withdrawn without a snapshot`);
    const isFinal = before?.values().some(({ rank, isWhole }) => rank === FINAL && isWhole) === true;
    // A type that is final stays so. Another type of the trace may be withdrawn as unmatched.
    if (isFinal && reason !== 'unmatched') faults.push(`${key}: withdrawn after it was final`);
    shown.delete(key);
    open.delete(key);
  }

  function show(key: string, event: StreamFrame): void {
    const type = event['type'] as string;
    const one = shownOf(event);
    const { rank } = one;
    const types = shown.get(key) ?? new Map<string, Shown>();
    const last = types.get(type);
    const isPart = typeof event['part'] === 'number' && event['part'] > 1;
    if (last !== undefined && !isPart) {
      if (rank < last.rank) faults.push(`${key}: ${type} falls from ${last.rank} to ${rank}`);
      if (rank === last.rank && one.content === last.content) faults.push(`${key}: ${type} repeats`);
      if (last.rank === FINAL && last.isWhole) faults.push(`${key}: ${type} after the final one`);
    }
    types.set(type, one);
    shown.set(key, types);
    if (rank < FINAL) open.add(key);
    else open.delete(key);
  }

  function showState(name: string, event: StreamFrame): void {
    const one = shownOf(event);
    if (one.rank === FINAL) return void states.delete(name);
    if (states.get(name)?.content === one.content) faults.push(`${name} repeats`);
    states.set(name, one);
  }

  return {
    connect() {
      for (const all of [shown, open, states, left]) all.clear();
    },
    change(covers) {
      for (const [key, types] of shown) {
        if (types.values().some(({ event, rank }) => rank < FINAL && covers(event))) continue;
        if (!open.delete(key)) continue;
        shown.delete(key);
        left.add(key);
      }
      for (const [name, { event }] of states) if (!covers(event)) states.delete(name);
    },
    take(event, isPortion = false) {
      const key = event['trace_external_hash_norm'];
      if (typeof key !== 'string') return showState(nameOfState(event), event);
      if (event['type'] === 'trace_invalidated') withdraw(key, event['reason']);
      else if (isPortion) open.delete(key);
      else show(key, event);
    },
    faults,
    open: () => [...open, ...states.keys()],
  };
}

function shownOf(event: StreamFrame): Shown {
  const rank = ranks[event['finality'] as string]!;
  const content = printOf({ ...event, cursor: undefined });
  return { rank, content, isWhole: event['is_incomplete'] !== true, event: rank === FINAL ? {} : event };
}

function nameOfState({ type, account, jetton }: StreamFrame): string {
  const address = account ?? (jetton as { readonly address: string }).address;
  return `${type as string} ${address as string}`;
}
