import { FULL_SHARD } from '#service/decode/block-id.ts';
import type { BlockId } from '#service/decode/block-id.ts';
import { shardIsAncestor, shardParent, shardPrefixBits } from '#service/decode/shard.ts';
import { NO_CURRENCIES } from '#service/decode/tlb/currency-collection.ts';
import type { ListedShard } from '#service/decode/tlb/shard-descr.ts';
import type { ChainConfig, Workchain } from './chain-config.ts';

/** A shard block that a masterchain block includes. */
export type ShardTop = Pick<
  ListedShard,
  | 'block'
  | 'startLt'
  | 'endLt'
  | 'beforeSplit'
  | 'wantSplit'
  | 'wantMerge'
  | 'minRefMasterchainSeqno'
  | 'utime'
  | 'feesCollected'
  | 'fundsCreated'
> & {
  /** Public key of the validator that made it. */
  readonly creators: readonly Buffer[];
  /** Nanotons minted by the block, besides the configured creation of blocks. */
  readonly minted: bigint;
};

/** Placeholder for an absent lowest referenced seqno. */
export const NO_SEQNO = 0xffff_ffff;

/** The shards of workchains that are listed for the first time: their zerostates. */
export function newWorkchains(
  shards: readonly ListedShard[],
  { workchains }: ChainConfig,
  masterchainSeqno: number,
  utime: number,
): ListedShard[] {
  return [...workchains]
    .filter(([id, { active, enabledSince }]) => {
      return active && enabledSince <= utime && !shards.some(({ block }) => block.workchain === id);
    })
    .map(([workchain, { zeroRootHash: rootHash, zeroFileHash: fileHash }]) => ({
      block: { workchain, shard: FULL_SHARD, seqno: 0, rootHash, fileHash },
      regMasterchainSeqno: masterchainSeqno,
      startLt: 0n,
      endLt: 0n,
      beforeSplit: false,
      beforeMerge: false,
      wantSplit: false,
      wantMerge: false,
      nextCatchainUpdated: false,
      nextCatchainSeqno: 0,
      nextValidatorShard: FULL_SHARD,
      minRefMasterchainSeqno: NO_SEQNO,
      utime: 0,
      splitMergeAt: undefined,
      feesCollected: NO_CURRENCIES,
      fundsCreated: NO_CURRENCIES,
    }));
}

/** Replaces listed shard blocks by the new blocks that follow them. After a split or a merge the list has other shards. */
export function takeTops(
  shards: readonly ListedShard[],
  tops: readonly ShardTop[],
  masterchainSeqno: number,
): ListedShard[] {
  const remaining = shards.filter(({ block }) => !tops.some((top) => replaces(top.block, block)));
  const taken = tops.map((top): ListedShard => {
    const before = shards.filter(({ block }) => replaces(top.block, block));
    const same = before.find(({ block }) => block.shard === top.block.shard);
    const seqnos = before.map(({ nextCatchainSeqno }) => nextCatchainSeqno);
    return {
      block: top.block,
      startLt: top.startLt,
      endLt: top.endLt,
      beforeSplit: top.beforeSplit,
      wantSplit: top.wantSplit,
      wantMerge: top.wantMerge,
      minRefMasterchainSeqno: top.minRefMasterchainSeqno,
      utime: top.utime,
      feesCollected: top.feesCollected,
      fundsCreated: top.fundsCreated,
      regMasterchainSeqno: masterchainSeqno,
      beforeMerge: false,
      nextCatchainUpdated: false,
      nextCatchainSeqno: before.length === 2 ? Math.max(...seqnos) + 1 : seqnos[0]!,
      nextValidatorShard: top.block.shard,
      splitMergeAt: same?.splitMergeAt,
    };
  });
  return [...remaining, ...taken].toSorted(byPlace);
}

function replaces(top: BlockId, old: BlockId): boolean {
  if (top.workchain !== old.workchain) return false;
  return shardIsAncestor(top.shard, old.shard) || shardIsAncestor(old.shard, top.shard);
}

function byPlace({ block: one }: ListedShard, { block: other }: ListedShard): number {
  if (one.workchain !== other.workchain) return one.workchain >>> 0 < other.workchain >>> 0 ? -1 : 1;
  return one.shard < other.shard ? -1 : 1;
}

/** The list with splits and merges decided, prepared and called off, and new validator sessions. */
export function planShards(
  shards: readonly ListedShard[],
  { workchains }: ChainConfig,
  { utime, newSessions }: { readonly utime: number; readonly newSessions: boolean },
): ListedShard[] {
  // A shard sees its sibling's old state, as in the node. Both halves thus decide from the same facts.
  return shards.map((shard) => {
    const { workchain } = shard.block;
    return planShard(shard, siblingOf(shards, shard), workchains.get(workchain), utime, newSessions);
  });
}

function siblingOf(shards: readonly ListedShard[], { block }: ListedShard): ListedShard | undefined {
  if (block.shard === FULL_SHARD) return undefined;
  const parent = shardParent(block.shard);
  return shards.find(
    ({ block: other }) =>
      other.workchain === block.workchain &&
      other.shard !== block.shard &&
      other.shard !== FULL_SHARD &&
      shardParent(other.shard) === parent,
  );
}

/** `update_one_shard` of the node. */
function planShard(
  shard: ListedShard,
  sibling: ListedShard | undefined,
  workchain: Workchain | undefined,
  utime: number,
  newSession: boolean,
): ListedShard {
  let plan = shard.splitMergeAt;
  if (plan !== undefined && (utime >= plan.utime + plan.intervalSeconds || shard.beforeSplit)) plan = undefined;
  else if (plan?.kind === 'merge' && (sibling === undefined || sibling.beforeSplit)) plan = undefined;
  let beforeMerge = false;
  if (workchain !== undefined && !shard.beforeSplit) {
    const { minSplit, maxSplit, splitMergeDelaySeconds, splitMergeIntervalSeconds: intervalSeconds } = workchain;
    const depth = shardPrefixBits(shard.block.shard);
    const tooDeep = depth > maxSplit;
    const start = { utime: utime + splitMergeDelaySeconds, intervalSeconds };
    if (plan === undefined && (shard.wantSplit || depth < minSplit) && depth < maxSplit && depth < 60) {
      plan = { kind: 'split', ...start };
    } else if (plan === undefined && canMerge(shard, sibling, depth, minSplit, tooDeep)) {
      if (sibling!.splitMergeAt === undefined) plan = { kind: 'merge', ...start };
    } else if (plan?.kind === 'merge' && sibling?.splitMergeAt?.kind === 'merge') {
      const due = utime >= plan.utime && utime >= sibling.splitMergeAt.utime;
      beforeMerge = due && canMerge(shard, sibling, depth, minSplit, tooDeep);
    }
  }
  const oldSession = shard.beforeMerge && !beforeMerge;
  const nextCatchainSeqno = shard.nextCatchainSeqno + (newSession || oldSession ? 1 : 0);
  return { ...shard, splitMergeAt: plan, beforeMerge, nextCatchainSeqno };
}

function canMerge(
  shard: ListedShard,
  sibling: ListedShard | undefined,
  depth: number,
  minSplit: number,
  tooDeep: boolean,
): boolean {
  if (sibling === undefined || sibling.beforeSplit || depth <= minSplit) return false;
  return tooDeep || (shard.wantMerge && sibling.wantMerge);
}
