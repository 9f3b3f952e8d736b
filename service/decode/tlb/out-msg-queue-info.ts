import { CellSlice } from '../cell-slice.ts';
import type { CellTable } from '../cell-table.ts';

/** Messages that wait to leave a shard. */
export type OutMsgQueueInfo = {
  /** Root of `HashmapAug 352 EnqueuedMsg uint64`. */
  readonly queue: number | undefined;
  /** Root of `Hashmap 96 ProcessedUpto`. */
  readonly processed: number | undefined;
  /** Root of the dispatch queue: accounts whose messages wait their turn. */
  readonly dispatch: number | undefined;
  /** Length of the queue; undefined in states of before it was counted. */
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
