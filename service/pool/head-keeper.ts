import type { Logger } from 'pino';

import { blockText, sameBlock } from '../decode/block-id.ts';
import { ProofError } from '../proof/errors.ts';
import { headCandidates } from './head.ts';
import type { Head, Tip } from './head.ts';
import type { Member } from './member.ts';
import type { PoolMetrics } from './metrics.ts';
import type { PoolTuning } from './options.ts';
import type { PoolContext } from './reads.ts';
import { hasNewest } from './slices.ts';
import { judge } from './verdict.ts';

/** Blocks proved at a time: the newest candidate and, when its proof is slow, the ones below it. */
const PROVING_MAX = 4;

/** Blocks remembered as not proved: one a lite server is plenty. */
const REFUSED_MAX = 64;

/** The block is right, but the state hash told with it is not that of its header. */
const wrongStateHash = new ProofError('hash_mismatch', { subject: 'masterchainInfo.stateRootHash' });

/** Keeps the served head: the one place that sets it, and it only ever goes up. */
export type HeadKeeper = {
  readonly head: () => Head | undefined;
  /** Looks at the tips anew; called after every report. */
  readonly consider: () => void;
  /** Stops proving; resolves when nothing is under way. */
  readonly close: () => Promise<void>;
};

export type HeadKeeperDependencies = {
  readonly members: readonly Member[];
  /** A head made of a tip, checked as the trust setting asks. Throws when the block cannot be accepted. */
  readonly prove: (tip: Tip, context: PoolContext) => Promise<Head>;
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
  const stop = new AbortController();
  const proving = new Map<string, { sinceMs: number; done: Promise<void> }>();
  const refusedUntilMs = new Map<string, number>();
  let head: Head | undefined;

  function consider(): void {
    if (stop.signal.aborted) return;
    const tips = members.flatMap((member) => (hasVoice(member) ? (member.tip() ?? []) : []));
    const servedSeqno = head?.block.seqno ?? 0;
    for (const tip of headCandidates({ tips, servedSeqno, nowMs: now(), unproved: options.unproved })) {
      const key = tip.block.rootHash.toString('latin1') + tip.block.fileHash.toString('latin1');
      if ((refusedUntilMs.get(key) ?? 0) > now()) continue;
      const underWay = proving.get(key);
      if (underWay === undefined) {
        if (proving.size < PROVING_MAX) proving.set(key, { sinceMs: now(), done: proveTip(key, tip) });
        return;
      }
      if (now() - underWay.sinceMs < tuning.slowAfterMs) return;
    }
  }

  async function proveTip(key: string, tip: Tip): Promise<void> {
    try {
      const timeoutMs = head === undefined ? tuning.firstProveTimeoutMs : tuning.proveTimeoutMs;
      const signal = AbortSignal.any([stop.signal, AbortSignal.timeout(timeoutMs)]);
      publish(await dependencies.prove(tip, { deadlineMs: now() + timeoutMs, signal, isUrgent: true }));
    } catch (error) {
      if (!stop.signal.aborted) refuse(key, tip, error);
    }
    proving.delete(key);
    consider();
  }

  function publish(proved: Head): void {
    if (stop.signal.aborted || proved.block.seqno <= (head?.block.seqno ?? 0)) return;
    if (head === undefined) logger.info({ block: blockText(proved.block) }, 'first masterchain head');
    head = proved;
    dependencies.onHead?.();
    for (const member of reporters(proved)) {
      if (!member.tip()?.stateRootHash.equals(proved.stateRootHash))
        member.judged('report', judge(wrongStateHash), wrongStateHash);
    }
  }

  function reporters({ block }: Tip): Member[] {
    return members.filter((member) => {
      const tip = member.tip();
      return tip !== undefined && sameBlock(tip.block, block);
    });
  }

  /** A block that fails its own proof was made up by those who reported it. */
  function refuse(key: string, tip: Tip, error: unknown): void {
    metrics.headRefused();
    remember(refusedUntilMs, key, now() + tuning.refusedMs);
    logger.warn({ block: blockText(tip.block), err: error }, 'reported masterchain block is not proved and not served');
    const verdict = judge(error);
    if (verdict.health !== 'misbehaved') return;
    for (const member of reporters(tip)) member.judged('report', verdict, error);
  }

  return {
    head: () => head,
    consider,
    async close() {
      stop.abort();
      await Promise.all([...proving.values()].map(({ done }) => done));
    },
  };
}

/** One that is in, and whose newest block is not the end of a slice of the past. */
export function hasVoice(member: Pick<Member, 'health' | 'use'>): boolean {
  return member.health().phase === 'in' && hasNewest(member.use().slices);
}

function remember(map: Map<string, number>, key: string, value: number): void {
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > REFUSED_MAX && oldest !== undefined) map.delete(oldest);
}
