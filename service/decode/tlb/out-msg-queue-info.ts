import { BitWriter } from '../bit-writer.ts';
import type { CellStore } from '../cell-store.ts';
import { openExtra } from '../hashmap-writer.ts';
import type { Augmentation } from '../hashmap-writer.ts';
import { CellSlice } from '../cell-slice.ts';
import type { CellTable } from '../cell-table.ts';

/** Messages that wait to leave a shard. */
export type OutMsgQueueInfo = {
  /** Root of `HashmapAug 352 EnqueuedMsg uint64`. */
  readonly queue: number | undefined;
  /** Root of `Hashmap 96 ProcessedUpto`. */
  readonly processed: number | undefined;
  /** Root of the dispatch queue: accounts whose messages wait for their turn. */
  readonly dispatch: number | undefined;
  /** Length of the queue; undefined in states older than the count. */
  readonly size: bigint | undefined;
};

/**
 * `_ out_queue:OutMsgQueue proc_info:ProcessedInfo extra:(Maybe OutMsgQueueExtra) = OutMsgQueueInfo`,
 * `_ (HashmapAugE 352 EnqueuedMsg uint64) = OutMsgQueue`, `_ (HashmapE 96 ProcessedUpto) = ProcessedInfo`,
 * `out_msg_queue_extra#0 dispatch_queue:(HashmapAugE 256 AccountDispatchQueue uint64) out_queue_size:(Maybe uint48)`.
 */
export function readOutMsgQueueInfo(table: CellTable, cell: number): OutMsgQueueInfo {
  const slice = new CellSlice(table, cell);
  const queue = slice.maybeRef();
  slice.skip(64);
  const processed = slice.maybeRef();
  if (!slice.bit()) return { queue, processed, dispatch: undefined, size: undefined };
  slice.expectTag(4, 0, 'OutMsgQueueExtra');
  const dispatch = slice.maybeRef();
  slice.skip(64);
  return { queue, processed, dispatch, size: slice.bit() ? slice.uintBig(48) : undefined };
}

/** The reverse of `readOutMsgQueueInfo`. */
export function storeOutMsgQueueInfo(store: CellStore, info: OutMsgQueueInfo): number {
  const { queue, processed, dispatch, size } = info;
  const writer = new BitWriter();
  writeLeastLt(writer, store, queue, 352).maybeRef(processed);
  const hasMore = size !== undefined || dispatch !== undefined;
  writer.bit(hasMore);
  if (!hasMore) return writer.finish(store);
  writeLeastLt(writer.uint(0, 4), store, dispatch, 256).bit(size !== undefined);
  if (size !== undefined) writer.int(size, 48);
  return writer.finish(store);
}

/** Writes a root with the augmentation over it: the least lt below, 0 for an empty queue. */
function writeLeastLt(writer: BitWriter, store: CellStore, root: number | undefined, bits: number): BitWriter {
  const least = root === undefined ? 0n : openExtra(store, root, bits).uint64();
  return writer.maybeRef(root).int(least, 64);
}

/** Augmentation `uint64` over the branches of a queue: the least. */
export const leastLtAugmentation: Augmentation = {
  join(writer, left, right) {
    const [one, other] = [left.uint64(), right.uint64()];
    writer.int(one < other ? one : other, 64);
  },
};

/** Message in the queue: `_ enqueued_lt:uint64 out_msg:^MsgEnvelope = EnqueuedMsg`. */
export type EnqueuedMessage = { readonly enqueuedLt: bigint; readonly envelope: number };

/** Reads an `EnqueuedMsg`. */
export function readEnqueuedMessage(slice: CellSlice): EnqueuedMessage {
  return { enqueuedLt: slice.uint64(), envelope: slice.ref() };
}

/** The reverse of `readEnqueuedMessage`. */
export function writeEnqueuedMessage(writer: BitWriter, { enqueuedLt, envelope }: EnqueuedMessage): BitWriter {
  return writer.int(enqueuedLt, 64).ref(envelope);
}
