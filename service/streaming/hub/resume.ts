import { finalities, type Begun, type FinalLog, type Position, type Subscription } from '../changes.ts';
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
};

/** Beginning without a cursor. */
export const atPresent: Resume = { resumed: null, from: undefined, gapFrom: null, isPast: false };

/** Blocks by which another process may be ahead of this one: about an hour. */
const AHEAD_MAX = 1_000;

/**
 * Decides how a cursor goes on.
 * @param cursor its position; null for one from before the first block
 * @param present final position that live connections have behind them
 * @throws StreamingError `invalid_cursor`, `replay_busy`
 */
export async function planResume(
  cursor: Position | null,
  wish: Subscription,
  present: Position | null,
  log: Pick<FinalLog, 'oldest'>,
): Promise<Resume> {
  // The index was not read yet. The first block that this process follows is unknown, and blocks before that block would be lost.
  if (cursor !== null && present === null) throw indexAway();
  const position = cursor ?? endOf(0);
  const resumed = wish.minFinality === finalities.at(-1) ? 'full' : 'finalized';
  if (position.mcSeqno > (present?.mcSeqno ?? 0) + AHEAD_MAX) throw invalidCursor();
  if (present === null || !isAfter(present, position)) return { resumed, from: position, gapFrom: null, isPast: false };
  const oldest = await log.oldest();
  if (oldest !== null && position.mcSeqno >= oldest - 1)
    return { resumed, from: position, gapFrom: null, isPast: true };
  return { resumed: 'none', from: undefined, gapFrom: Math.max(position.mcSeqno, 1), isPast: false };
}
