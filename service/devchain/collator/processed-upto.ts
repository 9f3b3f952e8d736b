import { shardContainsPrefix, shardIsAncestor, shardsIntersect } from '#service/decode/shard.ts';
import type { ProcessedUpto } from '#service/decode/tlb/processed-info.ts';
import type { ShardIdent } from '#service/decode/tlb/shard-ident.ts';
import type { Place } from './routing.ts';

/** Facts about a queued message that its delivery needs. */
export type Enqueued = {
  /** Order of delivery: the message's lt, then its hash. */
  readonly lt: bigint;
  readonly hash: Buffer;
  readonly enqueuedLt: bigint;
  /** The shard whose queue has the message, and the shard that takes it next. */
  readonly current: Place;
  readonly next: Place;
};

/** Returns the end lt of the block that a masterchain block lists for a place's shard. For the masterchain, its own end lt. */
export type ShardEndLt = (masterchainSeqno: number, place: Place) => bigint;

/** Progress of a shard in the queues of other shards. */
export type Processed = { readonly owner: ShardIdent; readonly list: readonly ProcessedUpto[] };

/** True when the owner has taken the message already (`MsgProcessedUpto::already_processed`). */
export function isProcessed({ owner, list }: Processed, message: Enqueued, endLt: ShardEndLt): boolean {
  return list.some((upto) => {
    if (owner.workchain !== message.next.workchain || !shardContainsPrefix(upto.shard, message.next.prefix))
      return false;
    if (message.lt > upto.lt || (message.lt === upto.lt && Buffer.compare(message.hash, upto.hash) > 0)) return false;
    // A shard sees all its own messages. Of other shards it sees only the queue of the last block that it read.
    if (owner.workchain === message.current.workchain && shardContainsPrefix(upto.shard, message.current.prefix)) {
      return true;
    }
    return message.enqueuedLt < endLt(upto.masterchainSeqno, message.current);
  });
}

/** Adds an entry, and removes entries that another entry covers. The result is ordered by shards and seqnos. */
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

/** Returns the list of one half after a split, without entries of the other half. */
export function splitProcessed({ list }: Processed, half: ShardIdent): Processed {
  const mine = list.filter(({ shard }) => shardsIntersect(shard, half.shard));
  return {
    owner: half,
    list: compact(
      mine.map((one) => ({ ...one, shard: shardIsAncestor(half.shard, one.shard) ? one.shard : half.shard })),
    ),
  };
}

/** Returns the list of a shard after its halves were merged. */
export function mergeProcessed(left: Processed, right: Processed, owner: ShardIdent): Processed {
  return { owner, list: compact([...left.list, ...right.list]) };
}

/** Returns the lowest masterchain seqno of the list; `none` when it is empty. */
export function leastSeqno({ list }: Processed, none: number): number {
  return list.reduce((least, { masterchainSeqno }) => Math.min(least, masterchainSeqno), none);
}
