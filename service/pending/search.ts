import type { LocalTraces } from './local-traces.ts';
import { markIndexed, placeOf } from './pending-trace.ts';
import type { PendingTrace } from './pending-trace.ts';
import type { IndexedTrace, PendingFilter, PendingIndex } from './pending.ts';
import type { Sharing } from './sharing.ts';
import { KEPT_MS } from './watch-list.ts';

/** Traces of one answer. */
const FOUND_MAX = 100;

export type SearchDependencies = {
  readonly own: LocalTraces;
  readonly sharing: Sharing;
  readonly index: Pick<PendingIndex, 'findTaken'>;
  readonly unixMs: () => number;
};

/** Finds pending traces of this process and of other pods, oldest first, without the parts that are indexed. Rejects as the index does. */
export type Search = (filter: PendingFilter) => Promise<readonly PendingTrace[]>;

export function createSearch({ own, sharing, index, unixMs }: SearchDependencies): Search {
  async function keysOf({ accounts = [], actionAccounts = [], hashes = [] }: PendingFilter): Promise<Set<string>> {
    const places = [
      ...accounts.map((account) => placeOf('trace', account)),
      ...actionAccounts.map((account) => placeOf('action', account)),
    ];
    const ofPlaces = await inTurns(places, async (place) => [...own.keysOf(place), ...(await sharing.keysOf(place))]);
    const ofHashes = await inTurns(hashes, async (hash) => {
      const text = hash.toString('hex');
      return own.keyBy(text) ?? (await sharing.keyBy(text)) ?? text;
    });
    return new Set([...ofPlaces.flat(), ...ofHashes]);
  }

  async function read(key: string): Promise<PendingTrace | undefined> {
    const trace = own.get(key) ?? (await sharing.get(key));
    return trace !== undefined && unixMs() - trace.sentUnixMs < KEPT_MS ? trace : undefined;
  }

  /** The last of some keys that there are traces of, as many as an answer may have. */
  async function readLast(keys: readonly string[]): Promise<readonly PendingTrace[]> {
    const traces: PendingTrace[] = [];
    for (let end = keys.length; end > 0 && traces.length < FOUND_MAX; end -= FOUND_MAX) {
      const found = await Promise.all(keys.slice(Math.max(end - FOUND_MAX, 0), end).map(read));
      traces.unshift(...found.filter((trace) => trace !== undefined));
    }
    return traces.slice(-FOUND_MAX);
  }

  return async (filter) => {
    const traces = await readLast([...(await keysOf(filter))]);
    if (traces.length === 0) return [];
    const taken = await index.findTaken(traces);
    return traces
      .map((trace) => withoutIndexed(trace, taken.get(trace.key.toString('hex')), filter.wanted))
      .filter((trace) => trace !== undefined)
      .toSorted((a, b) => a.sentUnixMs - b.sentUnixMs);
  };
}

/** Asks for each of a list, not for more of it at a time than an answer may have. */
async function inTurns<T, R>(list: readonly T[], ask: (one: T) => Promise<R>): Promise<R[]> {
  const answers: R[] = [];
  for (let at = 0; at < list.length; at += FOUND_MAX) {
    answers.push(...(await Promise.all(list.slice(at, at + FOUND_MAX).map(ask))));
  }
  return answers;
}

/** Wanted part of the trace; undefined when the index has its actions too. */
function withoutIndexed(
  trace: PendingTrace,
  indexed: IndexedTrace | undefined,
  wanted: PendingFilter['wanted'],
): PendingTrace | undefined {
  if (indexed === undefined) return trace;
  if (indexed.isClassified) return undefined;
  const marked = markIndexed(trace, indexed.accounts);
  if (wanted === 'actions') return marked;
  return { ...marked, transactions: marked.transactions.filter(({ isIndexed }) => isIndexed !== true) };
}
