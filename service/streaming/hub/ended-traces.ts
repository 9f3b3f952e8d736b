import type { Change, Position, TraceSnapshot } from '../changes.ts';
import type { LevelHead } from './levels-log.ts';
import { positionOf, steps } from './positions.ts';
import { createRecentKeys } from './recent-keys.ts';

/** Traces whose ends this process has seen. Nothing at a lower level follows an end. */
export type EndedTraces = {
  /** Notes the ends among the final changes of a block, before connections have them. */
  readonly note: (changes: readonly Change[]) => void;
  /** Position before the first end of a trace; undefined for a trace that goes on. */
  readonly endOf: (key: string | null) => Position | undefined;
  /** Reports whether a change that is not final says about a final trace what was true before. */
  readonly isLate: (change: Pick<LevelHead, 'kind' | 'key'>) => boolean;
  /** Final position from which on the ends of all traces were seen. */
  readonly from: () => Position | null;
  /** No connection was there until now, so ends of traces were not seen. */
  readonly miss: () => void;
};

/** Traces that became final: what is said about them as pending came too late. Some minutes of mainnet. */
const KEYS_MAX = 20_000;

/** @param livePosition final position behind all changes that live connections were given */
export function createEndedTraces(livePosition: () => Position | null): EndedTraces {
  const ends = createRecentKeys<Position>(KEYS_MAX);
  let first: Position | null = null;
  const endOf: EndedTraces['endOf'] = (key) => (key === null ? undefined : ends.get(key));
  return {
    note(changes) {
      for (const change of changes) {
        if (change.kind === 'invalidation' || change.position === null) continue;
        const before = positionOf(change.position, steps.before);
        first ??= before;
        if (change.kind === 'trace' && isEnd(change)) ends.replace(change.key, ends.get(change.key) ?? before);
      }
    },
    endOf,
    isLate: ({ kind, key }) => (kind === 'trace' || kind === 'invalidation') && endOf(key) !== undefined,
    from: () => first ?? livePosition(),
    miss() {
      first = livePosition();
    },
  };
}

/** Reports whether a trace is final with a change. */
export function isEnd({ finality, stage }: Pick<TraceSnapshot, 'finality' | 'stage'>): boolean {
  return finality === 'finalized' && (stage === undefined || stage === 'last');
}

/** Reports whether a change is a final part of a trace that goes on. */
export function isOpenPart(change: Change): change is TraceSnapshot {
  return change.kind === 'trace' && change.finality === 'finalized' && !isEnd(change);
}
