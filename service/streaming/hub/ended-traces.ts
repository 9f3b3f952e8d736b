import type { Change, Position, TraceSnapshot } from '../changes.ts';
import type { FinalStates } from './final-states.ts';
import { traceOf, type LevelHead } from './levels-log.ts';
import { endOf as endOfBlock, isAfter, positionOf, steps } from './positions.ts';
import { createRecentKeys } from './recent-keys.ts';

/** Traces whose ends or portions this process has seen. Nothing at a lower level follows these. */
export type EndedTraces = {
  /** Notes the ends among the final changes of a block, before connections have them. */
  readonly note: (changes: readonly Change[]) => void;
  /** Position before the first end of a trace; undefined for a trace that goes on. */
  readonly endOf: (key: string | null) => Position | undefined;
  /** Reports whether a change that is not final says about a final trace what was true before. */
  readonly isLate: (change: Pick<LevelHead, 'kind' | 'key'>) => boolean;
  /** Reports the same about a whole change, also about a state. */
  readonly isOvertaken: (change: Change) => boolean;
  /** Reads the blocks behind a position that were not seen, a few at most: the changes of another pod may come from there. */
  readonly reach: (behind: Position | null) => Promise<void>;
  /** Final position from which on the ends of all traces were seen. */
  readonly from: () => Position | null;
  /** No connection was there until now, so ends of traces were not seen. */
  readonly miss: () => void;
};

/** Traces that became final: what is said about them as pending came too late. Some minutes of mainnet. */
const KEYS_MAX = 20_000;

/** Blocks that are read for a change. One of a pod that is farther behind is left out. */
const REACHED_MAX = 64;

export type EndedTracesDependencies = {
  /** Takes the changes that are noted or read. */
  readonly states: Pick<FinalStates, 'note' | 'isLate'>;
  /** Final position behind all changes that live connections were given. */
  readonly livePosition: () => Position | null;
  /** @throws StoreError */
  readonly changesOf: (mcSeqno: number) => Promise<readonly Change[]>;
};

export function createEndedTraces({ states, livePosition, changesOf }: EndedTracesDependencies): EndedTraces {
  const ends = createRecentKeys<Position>(KEYS_MAX);
  /** Traces that are sent in portions. A transaction of a former portion has no other final event. */
  const portioned = createRecentKeys<true>(KEYS_MAX);
  let first: Position | null = null;
  const endOf: EndedTraces['endOf'] = (key) => (key === null ? undefined : ends.get(key));
  const from = (): Position | null => first ?? livePosition();
  const isLate: EndedTraces['isLate'] = ({ kind, key }) =>
    key !== null && (endOf(key) !== undefined || (kind === 'trace' && portioned.get(key) !== undefined));
  /** Counts the times without a connection. */
  let missed = 0;
  let reaching = Promise.resolve();

  /** @returns false when the block before the seen ones cannot be read, or need not be */
  async function reachBack(behind: Position | null): Promise<boolean> {
    const [seen, times] = [from(), missed];
    if (seen === null || !isAfter(seen, behind)) return false;
    const { mcSeqno } = seen;
    if (mcSeqno < 1 || mcSeqno - (behind?.mcSeqno ?? 1) > REACHED_MAX) return false;
    const changes = await changesOf(mcSeqno).catch(() => undefined);
    if (changes === undefined || times !== missed) return false;
    states.note(changes);
    for (const change of changes.toReversed()) {
      if (change.kind !== 'trace' || change.position === null) continue;
      if (isPortion(change)) portioned.replace(change.key, true);
      if (!isEnd(change)) continue;
      ends.replace(change.key, positionOf(change.position, steps.before));
    }
    first = endOfBlock(mcSeqno - 1);
    return true;
  }

  async function reachAll(behind: Position | null): Promise<void> {
    while (await reachBack(behind));
  }

  return {
    reach: (behind) => (reaching = reaching.then(() => reachAll(behind))),
    note(changes) {
      states.note(changes);
      for (const change of changes) {
        if (change.kind === 'invalidation' || change.position === null) continue;
        const before = positionOf(change.position, steps.before);
        first ??= before;
        if (change.kind !== 'trace') continue;
        if (isPortion(change)) portioned.replace(change.key, true);
        if (isEnd(change)) ends.replace(change.key, ends.get(change.key) ?? before);
      }
    },
    endOf,
    isLate,
    isOvertaken: (change) => isLate(traceOf(change)) || states.isLate(change),
    from,
    miss() {
      first = livePosition();
      missed++;
    },
  };
}

/** Reports whether a trace is final with a change. */
export function isEnd({ finality, stage }: Pick<TraceSnapshot, 'finality' | 'stage'>): boolean {
  return finality === 'finalized' && (stage === undefined || stage === 'last');
}

/** Reports whether a final part brings events to connections of every scope. */
function isPortion({ stage }: Pick<TraceSnapshot, 'stage'>): boolean {
  return stage === 'first' || stage === 'next';
}

/** Reports whether a change is a final part of a trace that goes on. */
export function isOpenPart(change: Change): change is TraceSnapshot {
  return change.kind === 'trace' && change.finality === 'finalized' && !isEnd(change);
}
