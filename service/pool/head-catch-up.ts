import type { Head, Tip } from './head.ts';
import { LEAP_BLOCKS_MAX } from './head.ts';
import type { Member } from './member.ts';
import type { PoolContext } from './reads.ts';

export type HeadCatchUpDependencies = {
  readonly members: readonly Member[];
  /** Makes a head from a tip, checked as the trust setting requires. Throws when the block is not acceptable. */
  readonly prove: (tip: Tip, context: PoolContext) => Promise<Head>;
  /** Milliseconds of the pool's clock. */
  readonly now: () => number;
};

/**
 * Finds a block above the served head, for a caller who has seen it at another pod. The result is the oldest block from `seqno` on that some lite
 * server reports, proved like a head. Undefined when there is none. Callers who need the same block share one proof.
 */
export function createHeadCatchUp(
  { timeoutMs }: { readonly timeoutMs: number },
  { members, prove, now }: HeadCatchUpDependencies,
) {
  const proving = new Map<string, Promise<Head>>();

  // The proof has its own time, because a caller who leaves must not end it for others.
  const ownTime = (): PoolContext => ({ deadlineMs: now() + timeoutMs, signal: AbortSignal.timeout(timeoutMs) });

  return async (seqno: number): Promise<Head | undefined> => {
    const tips = members.flatMap((member) => (member.health().phase === 'in' ? (member.tip() ?? []) : []));
    const [tip] = tips
      .filter(({ block }) => block.seqno >= seqno && block.seqno <= seqno + LEAP_BLOCKS_MAX)
      .toSorted((a, b) => a.block.seqno - b.block.seqno);
    if (tip === undefined) return undefined;
    const key = tip.block.rootHash.toString('latin1') + tip.block.fileHash.toString('latin1');
    const underWay = proving.get(key) ?? prove(tip, ownTime());
    proving.set(key, underWay);
    try {
      return await underWay;
    } catch {
      // A server that lies about its tip is detected when the head is proved.
      return undefined;
    } finally {
      proving.delete(key);
    }
  };
}
