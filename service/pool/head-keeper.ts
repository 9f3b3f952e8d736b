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
import { judge } from './verdict.ts';

/** Most blocks proved at a time: the newest candidate and, when its proof is slow, the blocks below it. */
const PROVING_MAX = 4;

/** Most of them that few lite servers have yet. One slot stays free for the block that is served next. */
const LEADING_MAX = 2;

/** Most blocks remembered as proved, and as refused. One for each lite server is plenty. */
const REMEMBERED_MAX = 64;

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
  const stop = new AbortController();
  const proving = new Map<string, { sinceMs: number; done: Promise<void> }>();
  /** Proved blocks that are not served yet. */
  const proved = new Map<string, Head>();
  const refusals = new Map<string, { readonly untilMs: number; readonly isEarly: boolean }>();
  let announcedSeqno = 0;
  let head: Head | undefined;

  function consider(): void {
    if (stop.signal.aborted) return;
    const tips = members.flatMap((member) => (hasVote(member) ? (member.tip() ?? []) : []));
    const servedSeqno = (): number => head?.block.seqno ?? 0;
    serveOne(headCandidates({ tips, servedSeqno: servedSeqno(), nowMs: now(), unproved: options.unproved }));
    // Other lite servers have the block of the first one a moment later. If the block is proved by then, it is served at once.
    if (head !== undefined) leadingTips({ tips, servedSeqno: servedSeqno(), nowMs: now() }).forEach(prepare);
  }

  function refusalOf(key: string) {
    const refusal = refusals.get(key);
    return refusal !== undefined && refusal.untilMs > now() ? refusal : undefined;
  }

  /** Serves the newest block that is proved, or proves quickly. */
  function serveOne(candidates: readonly Tip[]): void {
    for (const tip of candidates) {
      const key = keyOf(tip);
      const ready = proved.get(key);
      if (ready !== undefined) return void serve(ready);
      if (refusalOf(key)?.isEarly === false) continue;
      const underWay = proving.get(key);
      if (underWay === undefined) {
        if (proving.size < PROVING_MAX) startProof(key, tip, false);
        return;
      }
      if (now() - underWay.sinceMs < tuning.slowAfterMs) return;
    }
  }

  function prepare(tip: Tip): void {
    const key = keyOf(tip);
    const isKnown = proved.has(key) || proving.has(key) || refusalOf(key) !== undefined;
    if (!isKnown && proving.size < LEADING_MAX) startProof(key, tip, true);
  }

  function startProof(key: string, tip: Tip, isEarly: boolean): void {
    proving.set(key, { sinceMs: now(), done: proveTip(key, tip, isEarly) });
  }

  async function proveTip(key: string, tip: Tip, isEarly: boolean): Promise<void> {
    try {
      const timeoutMs = head === undefined ? tuning.firstProveTimeoutMs : tuning.proveTimeoutMs;
      const signal = AbortSignal.any([stop.signal, AbortSignal.timeout(timeoutMs)]);
      remember(proved, key, await dependencies.prove(tip, { deadlineMs: now() + timeoutMs, signal, isUrgent: true }));
    } catch (error) {
      if (!stop.signal.aborted) refuse(key, tip, error, isEarly);
    }
    proving.delete(key);
    consider();
  }

  async function serve(next: Head): Promise<void> {
    const { seqno } = next.block;
    if (seqno <= announcedSeqno) return;
    announcedSeqno = seqno;
    if (dependencies.announce !== undefined) await dependencies.announce(seqno);
    publish(next);
  }

  function publish(next: Head): void {
    if (stop.signal.aborted || next.block.seqno <= (head?.block.seqno ?? 0)) return;
    if (head === undefined) logger.info({ block: blockText(next.block) }, 'first masterchain head');
    head = next;
    for (const [key, { block }] of proved) if (block.seqno <= next.block.seqno) proved.delete(key);
    dependencies.onHead?.();
    for (const member of reporters(next)) {
      if (!member.tip()?.stateRootHash.equals(next.stateRootHash))
        member.judged('report', judge(wrongStateHash), wrongStateHash);
    }
  }

  function reporters({ block }: Tip): Member[] {
    return members.filter((member) => {
      const tip = member.tip();
      return tip !== undefined && sameBlock(tip.block, block);
    });
  }

  /** Refuses a block that fails its proof: the servers that reported it invented it. */
  function refuse(key: string, tip: Tip, error: unknown, wasEarly: boolean): void {
    const verdict = judge(error);
    // The proof may have failed because few lite servers have the block yet. Once more have it, it is tried again at once.
    const isEarly = wasEarly && verdict.health !== 'misbehaved';
    remember(refusals, key, { untilMs: now() + tuning.refusedMs, isEarly });
    if (isEarly) return;
    metrics.headRefused();
    logger.warn({ block: blockText(tip.block), err: error }, 'reported masterchain block is not proved and not served');
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

/** Reports whether a server counts for the head. It must be in, and its newest block must not be the end of a slice of the past. */
export function hasVote(member: Pick<Member, 'health' | 'use'>): boolean {
  return member.health().phase === 'in' && hasNewest(member.use().slices);
}

function keyOf({ block }: Tip): string {
  return block.rootHash.toString('latin1') + block.fileHash.toString('latin1');
}

function remember<V>(map: Map<string, V>, key: string, value: V): void {
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > REMEMBERED_MAX && oldest !== undefined) map.delete(oldest);
}
