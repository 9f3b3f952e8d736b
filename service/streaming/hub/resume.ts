import { finalities, type Begun, type Finality, type FinalLog, type Position, type Subscription } from '../changes.ts';
import { indexAway, invalidCursor } from '../errors.ts';
import { endOf, isAfter } from './positions.ts';

/** Beginning of a subscription. */
export type Resume = {
  readonly resumed: Begun['resumed'];
  /** Position behind which events follow; undefined: the present. */
  readonly from: Position | undefined;
  /** First block of the gap; null when there is none. */
  readonly gapFrom: number | null;
  /** Blocks of the past have to be read. */
  readonly isPast: boolean;
  /** The cursor is of a pod that was ahead. Changes below `finalized` wait until this one is as far: it may not know yet that a trace is final. */
  readonly isAhead?: true;
  /** Place in the log of levels behind which its records follow; undefined: the present. */
  readonly levels?: LevelsStart | undefined;
};

/** Log, mark behind which records follow, and snapshots of the former connection. */
export type LevelsStart = ShownBefore & { readonly epoch: number; readonly mark: number };

/** Snapshots that a former connection may have been shown. */
export type ShownBefore = {
  /** Mark from which on. */
  readonly since: number;
  /** Level from which on. */
  readonly shownFrom: Finality;
};

export type ResumedFrom = {
  readonly log: Pick<FinalLog, 'oldest'>;
  readonly levels: LevelsStart | undefined;
  readonly wasBelow: boolean;
};

/** Beginning without a cursor. */
export const atPresent: Resume = { resumed: null, from: undefined, gapFrom: null, isPast: false };

/** Blocks by which another process may be ahead of this one: about an hour. */
const AHEAD_MAX = 1_000;

/**
 * Decides how a cursor goes on.
 * @param cursor its position; null for one from before the first block
 * @param present final position that live connections have behind them
 * @param past.levels the cursor's place in the log of levels, if all that follows is there
 * @param past.wasBelow the former connection was below `finalized`, and may have snapshots that this one cannot withdraw
 * @throws StreamingError `invalid_cursor`, `replay_busy`
 */
export async function planResume(
  cursor: Position | null,
  wish: Subscription,
  present: Position | null,
  { log, levels, wasBelow }: ResumedFrom,
): Promise<Resume> {
  // The index was not read yet. The first block that this process follows is unknown, and blocks before that block would be lost.
  if (cursor !== null && present === null) throw indexAway();
  const position = cursor ?? endOf(0);
  const isFinalAlone = wish.minFinality === finalities.at(-1) && !wasBelow;
  const resumed = isFinalAlone || levels !== undefined ? 'full' : 'finalized';
  const start = { resumed, from: position, gapFrom: null, ...(levels && { levels }) } as const;
  if (position.mcSeqno > (present?.mcSeqno ?? 0) + AHEAD_MAX) throw invalidCursor();
  if (present === null || !isAfter(present, position)) {
    const isAhead = wish.minFinality !== 'finalized' && isAfter(position, present) && cursor !== null;
    return { ...start, isPast: isAhead || levels !== undefined, ...(isAhead && { isAhead }) };
  }
  const oldest = await log.oldest();
  if (oldest !== null && position.mcSeqno >= oldest - 1) return { ...start, isPast: true };
  return { resumed: 'none', from: undefined, gapFrom: Math.max(position.mcSeqno, 1), isPast: false };
}
