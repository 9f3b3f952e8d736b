import type { Logger } from 'pino';

import { blockText, sameBlock } from '../decode/block-id.ts';
import { ProofError } from '../proof/errors.ts';
import { headCandidates, leadingTips } from './head.ts';
import type { Head, Tip } from './head.ts';
import type { Member } from './member.ts';
import type { PoolMetrics } from './metrics.ts';
import type { PoolTuning } from './options.ts';
import type { PoolContext } from './reads.ts';
import { hasNewest } from './slices.ts';
import { createTipProofs } from './tip-proofs.ts';
import { judge, type Verdict } from './verdict.ts';

/** Most blocks proved at a time: the newest candidate and, when its proof is slow, the blocks below it. */
const PROVING_MAX = 4;

/** Most of them that few lite servers have yet. One slot stays free for the block that is served next. */
const LEADING_MAX = 2;

/** Error when the block is right, but the reported state hash is not that of its header. */
const wrongStateHash = new ProofError('hash_mismatch', { subject: 'masterchainInfo.stateRootHash' });

/** Sets the served head, which only goes up. No other code sets it. */
export type HeadKeeper = {
  readonly head: () => Head | undefined;
  /** Evaluates the tips again; called after every report. */
  readonly consider: () => void;
  /** Stops proving; resolves when no proof is in progress. */
  readonly close: () => Promise<void>;
};

export type HeadKeeperDependencies = {
  readonly members: readonly Member[];
  /** Makes a head from a tip, checked as the trust setting requires. Throws when the block is not acceptable. */
  readonly prove: (tip: Tip, context: PoolContext) => Promise<Head>;
  /** Announces a head to other pods. It settles before any answer at the block, and never rejects. Absent without other pods. */
  readonly announce?: ((seqno: number) => Promise<void>) | undefined;
  /** Called after every new head. */
  readonly onHead?: () => void;
  readonly metrics: PoolMetrics;
  readonly logger: Logger;
  readonly now: () => number;
};

export function createHeadKeeper(
  options: { unproved: boolean; tuning: PoolTuning },
  dependencies: HeadKeeperDependencies,
): HeadKeeper {
  const { members, metrics, logger, now } = dependencies;
  const { tuning } = options;
  let announcedSeqno = 0;
  let head: Head | undefined;
  let isClosed = false;
  const proofs = createTipProofs(tuning, {
    prove: dependencies.prove,
    onRefused,
    onDone: consider,
    timeoutMs: () => (head === undefined ? tuning.firstProveTimeoutMs : tuning.proveTimeoutMs),
    now,
  });

  function consider(): void {
    if (isClosed) return;
    const tips = members.flatMap((member) => (hasVote(member) ? (member.tip() ?? []) : []));
    const servedSeqno = (): number => head?.block.seqno ?? 0;
    serveOne(headCandidates({ tips, servedSeqno: servedSeqno(), nowMs: now(), unproved: options.unproved }));
    // Other lite servers have the block of the first one a moment later. If the block is proved by then, it is served at once.
    if (head !== undefined) leadingTips({ tips, servedSeqno: servedSeqno(), nowMs: now() }).forEach(prepare);
  }

  /** Serves the newest block that is proved, or proves quickly. */
  function serveOne(candidates: readonly Tip[]): void {
    for (const tip of candidates) {
      const { head: ready, refusal, sinceMs } = proofs.stateOf(tip);
      if (ready !== undefined) return void serve(ready);
      if (refusal?.isEarly === false) continue;
      if (sinceMs === undefined) {
        if (proofs.running() < PROVING_MAX) proofs.start(tip, false);
        return;
      }
      if (now() - sinceMs < tuning.slowAfterMs) return;
    }
  }

  function prepare(tip: Tip): void {
    const isKnown = Object.values(proofs.stateOf(tip)).some((part) => part !== undefined);
    if (!isKnown && proofs.running() < LEADING_MAX) proofs.start(tip, true);
  }

  async function serve(next: Head): Promise<void> {
    const { seqno } = next.block;
    if (seqno <= announcedSeqno) return;
    announcedSeqno = seqno;
    if (dependencies.announce !== undefined) await dependencies.announce(seqno);
    publish(next);
  }

  function publish(next: Head): void {
    if (isClosed || next.block.seqno <= (head?.block.seqno ?? 0)) return;
    if (head === undefined) logger.info({ block: blockText(next.block) }, 'first masterchain head');
    head = next;
    proofs.forget(next.block.seqno);
    dependencies.onHead?.();
    for (const member of reportersOf(next, members)) {
      if (!member.tip()?.stateRootHash.equals(next.stateRootHash))
        member.judged('report', judge(wrongStateHash), wrongStateHash);
    }
  }

  /** Refuses a block that fails its proof: the servers that reported it invented it. */
  function onRefused(tip: Tip, verdict: Verdict, error: unknown): void {
    metrics.headRefused();
    logger.warn({ block: blockText(tip.block), err: error }, 'reported masterchain block is not proved and not served');
    if (verdict.health !== 'misbehaved') return;
    for (const member of reportersOf(tip, members)) member.judged('report', verdict, error);
  }

  return {
    head: () => head,
    consider,
    close() {
      isClosed = true;
      return proofs.close();
    },
  };
}

function reportersOf({ block }: Tip, members: readonly Member[]): Member[] {
  return members.filter((member) => {
    const tip = member.tip();
    return tip !== undefined && sameBlock(tip.block, block);
  });
}

/** Reports whether a server counts for the head. It must be in, and its newest block must not be the end of a slice of the past. */
export function hasVote(member: Pick<Member, 'health' | 'use'>): boolean {
  return member.health().phase === 'in' && hasNewest(member.use().slices);
}
