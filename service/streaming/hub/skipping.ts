import type { Subscription } from '../changes.ts';
import type { Past, Touched } from './past.ts';

/** Blocks that a replay reads. */
export type Skipping = {
  /** First block from `mcSeqno` on that may concern the subscription. It is at most one behind `newest`. */
  readonly next: (mcSeqno: number, newest: number) => Promise<number>;
};

/** Shorter replays read every block: most callers were away for seconds, and their blocks are in the memory. */
const SKIPPED_MIN = 32;

export function createSkipping(
  wish: Pick<Subscription, 'accounts' | 'traces'>,
  past: Pick<Past, 'touched'>,
  signal: AbortSignal,
): Skipping {
  let known: Touched | undefined;
  let at = 0;
  return {
    async next(mcSeqno, newest) {
      const isKnown = known !== undefined && mcSeqno <= known.until;
      if (!isKnown && newest - mcSeqno >= SKIPPED_MIN) {
        known = await past.touched(wish, { from: mcSeqno, to: newest }, signal);
        at = 0;
      }
      if (known === undefined || mcSeqno > known.until) return mcSeqno;
      while (at < known.seqnos.length && known.seqnos[at]! < mcSeqno) at++;
      return known.seqnos[at] ?? known.until + 1;
    },
  };
}
