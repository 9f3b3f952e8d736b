import { shardContainsPrefix, shardIsAncestor, shardsIntersect } from '#service/decode/shard.ts';
import type { ProcessedUpto } from '#service/decode/tlb/processed-info.ts';
import type { ShardIdent } from '#service/decode/tlb/shard-ident.ts';
import type { Place } from './routing.ts';

/** A message in a queue, as far as its delivery goes. */
export type Enqueued = {
  /** Order of delivery: the message's lt, then its hash. */
  readonly lt: bigint;
  readonly hash: Buffer;
  readonly enqueuedLt: bigint;
  /** The shard whose queue it is in, and the one that takes it next. */
  readonly current: Place;
  readonly next: Place;
};

/** End lt of the block that a masterchain block lists for the shard of a place; of itself for the masterchain. */
export type ShardEndLt = (masterchainSeqno: number, place: Place) => bigint;

/** What of other shards' queues a shard has taken. */
export type Processed = { readonly owner: ShardIdent; readonly list: readonly ProcessedUpto[] };

/** Whether the owner has taken the message already (`MsgProcessedUpto::already_processed`). */
export function isProcessed({ owner, list }: Processed, message: Enqueued, endLt: ShardEndLt): boolean {
  return list.some((upto) => {
    if (owner.workchain !== message.next.workchain || !shardContainsPrefix(upto.shard, message.next.prefix))
      return false;
    if (message.lt > upto.lt || (message.lt === upto.lt && Buffer.compare(message.hash, upto.hash) > 0)) return false;
    // Of its own messages a shard knows all; of others' only what was in the queue of the block it looked at.
    if (owner.workchain === message.current.workchain && shardContainsPrefix(upto.shard, message.current.prefix)) {
      return true;
    }
    return message.enqueuedLt < endLt(upto.masterchainSeqno, message.current);
  });
}

/** The list with one entry more, without entries that another one covers, in the order of shards and seqnos. */
export function addProcessed({ owner, list }: Processed, entry: Omit<ProcessedUpto, 'shard'>): Processed {
  return { owner, list: compact([...list, { ...entry, shard: owner.shard }]) };
}

function compact(list: readonly ProcessedUpto[]): ProcessedUpto[] {
  const sorted = list.toSorted((one, other) =>
    one.shard === other.shard ? one.masterchainSeqno - other.masterchainSeqno : one.shard < other.shard ? -1 : 1,
  );
  return sorted.filter((one, index) => !sorted.some((other, at) => at !== index && covers(other, one, at < index)));
}

/** @param isFirst of two equal entries the first covers the second */
function covers(one: ProcessedUpto, other: ProcessedUpto, isFirst: boolean): boolean {
  if (!shardIsAncestor(one.shard, other.shard) || one.masterchainSeqno < other.masterchainSeqno) return false;
  if (one.lt !== other.lt) return one.lt > other.lt;
  const order = Buffer.compare(one.hash, other.hash);
  if (order !== 0) return order > 0;
  return one.shard !== other.shard || one.masterchainSeqno !== other.masterchainSeqno || isFirst;
}

/** What holds for one half after a split: entries of the other half are left out. */
export function splitProcessed({ list }: Processed, half: ShardIdent): Processed {
  const mine = list.filter(({ shard }) => shardsIntersect(shard, half.shard));
  return {
    owner: half,
    list: compact(
      mine.map((one) => ({ ...one, shard: shardIsAncestor(half.shard, one.shard) ? one.shard : half.shard })),
    ),
  };
}

/** What holds for a shard after its halves were merged. */
export function mergeProcessed(left: Processed, right: Processed, owner: ShardIdent): Processed {
  return { owner, list: compact([...left.list, ...right.list]) };
}

/** The lowest masterchain seqno of the list; `none` when it is empty. */
export function leastSeqno({ list }: Processed, none: number): number {
  return list.reduce((least, { masterchainSeqno }) => Math.min(least, masterchainSeqno), none);
}
