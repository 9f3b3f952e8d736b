import type { BitWriter } from '../bit-writer.ts';
import type { CellSlice } from '../cell-slice.ts';
import type { CellStore } from '../cell-store.ts';
import { DecodeError } from '../errors.ts';
import { NO_CURRENCIES } from './currency-collection.ts';
import type { CurrencyCollection } from './currency-collection.ts';
import { envelopeValue } from './in-msg.ts';

/** Exit of a message from a block, or from its queue; cells of messages, envelopes, transactions and `InMsg`. */
export type OutMsg =
  /** Message to outside. */
  | { readonly kind: 'external'; readonly message: number; readonly transaction: number }
  /** Message to an account of the same block, which received it at once. */
  | { readonly kind: 'immediate'; readonly envelope: number; readonly transaction: number; readonly reimport: number }
  /** Message to the queue, or to the queue of deferred messages. */
  | { readonly kind: 'new' | 'deferred'; readonly envelope: number; readonly transaction: number }
  /** Message in transit to another shard; `requeued` from this shard's own queue. */
  | { readonly kind: 'transit' | 'requeued' | 'deferredTransit'; readonly envelope: number; readonly imported: number }
  /** Message from this shard's own queue to an account of the shard. */
  | { readonly kind: 'dequeuedImmediately'; readonly envelope: number; readonly reimport: number }
  /** Message removed from the queue after another shard took it in its block that ended at `importLt`. */
  | { readonly kind: 'dequeued'; readonly envelope: number; readonly importLt: bigint }
  | {
      readonly kind: 'dequeuedShort';
      readonly envelopeHash: Buffer;
      readonly nextWorkchain: number;
      /** Unsigned 64 bits. */
      readonly nextPrefix: bigint;
      readonly importLt: bigint;
    };

/**
 * `msg_export_ext$000 msg:^(Message Any) transaction:^Transaction`,
 * `msg_export_imm$010 out_msg:^MsgEnvelope transaction:^Transaction reimport:^InMsg`,
 * `msg_export_new$001`, `msg_export_new_defer$10100 out_msg:^MsgEnvelope transaction:^Transaction`,
 * `msg_export_tr$011`, `msg_export_tr_req$111`, `msg_export_deferred_tr$10101 out_msg:^MsgEnvelope imported:^InMsg`,
 * `msg_export_deq_imm$100 out_msg:^MsgEnvelope reimport:^InMsg`,
 * `msg_export_deq$1100 out_msg:^MsgEnvelope import_block_lt:uint63`, `msg_export_deq_short$1101 msg_env_hash:bits256
 * next_workchain:int32 next_addr_pfx:uint64 import_block_lt:uint64`. Throws DecodeError `bad_tag`.
 */
export function readOutMsg(slice: CellSlice): OutMsg {
  const tag = slice.uint(3);
  if (tag === 0) return { kind: 'external', message: slice.ref(), transaction: slice.ref() };
  if (tag === 2) {
    return { kind: 'immediate', envelope: slice.ref(), transaction: slice.ref(), reimport: slice.ref() };
  }
  if (tag === 1) return { kind: 'new', envelope: slice.ref(), transaction: slice.ref() };
  if (tag === 3 || tag === 7) {
    return { kind: tag === 3 ? 'transit' : 'requeued', envelope: slice.ref(), imported: slice.ref() };
  }
  if (tag === 4) return { kind: 'dequeuedImmediately', envelope: slice.ref(), reimport: slice.ref() };
  if (tag === 6) return readDequeued(slice);
  const rest = slice.uint(2);
  if (rest === 0) return { kind: 'deferred', envelope: slice.ref(), transaction: slice.ref() };
  if (rest === 1) return { kind: 'deferredTransit', envelope: slice.ref(), imported: slice.ref() };
  throw new DecodeError('bad_tag', 'The cell is no OutMsg.', { cell: slice.cell, type: 'OutMsg', found: tag });
}

function readDequeued(slice: CellSlice): OutMsg {
  if (!slice.bit()) return { kind: 'dequeued', envelope: slice.ref(), importLt: slice.uintBig(63) };
  return {
    kind: 'dequeuedShort',
    envelopeHash: slice.hash(),
    nextWorkchain: slice.int(32),
    nextPrefix: slice.uint64(),
    importLt: slice.uint64(),
  };
}

const TAGS = {
  external: [0, 3],
  immediate: [2, 3],
  new: [1, 3],
  transit: [3, 3],
  requeued: [7, 3],
  dequeuedImmediately: [4, 3],
  dequeued: [12, 4],
  dequeuedShort: [13, 4],
  deferred: [20, 5],
  deferredTransit: [21, 5],
} as const;

/** The reverse of `readOutMsg`. */
export function writeOutMsg(writer: BitWriter, outMsg: OutMsg): BitWriter {
  const [tag, bits] = TAGS[outMsg.kind];
  writer.uint(tag, bits);
  if (outMsg.kind === 'external') return writer.ref(outMsg.message).ref(outMsg.transaction);
  if (outMsg.kind === 'dequeuedShort') {
    const { envelopeHash, nextWorkchain, nextPrefix, importLt } = outMsg;
    return writer.bytes(envelopeHash).int(nextWorkchain, 32).int(nextPrefix, 64).int(importLt, 64);
  }
  writer.ref(outMsg.envelope);
  if (outMsg.kind === 'dequeued') return writer.int(outMsg.importLt, 63);
  if (outMsg.kind === 'immediate') return writer.ref(outMsg.transaction).ref(outMsg.reimport);
  if (outMsg.kind === 'dequeuedImmediately') return writer.ref(outMsg.reimport);
  return writer.ref('imported' in outMsg ? outMsg.imported : outMsg.transaction);
}

/**
 * Returns the value that leaves the block with the message. Nothing leaves with a message to outside, or one that stays. A message counted at its
 * queueing counts as nothing too.
 */
export function exportedValueOf(store: CellStore, outMsg: OutMsg): CurrencyCollection {
  switch (outMsg.kind) {
    case 'external':
    case 'immediate':
    case 'dequeuedImmediately':
    case 'dequeued':
    case 'dequeuedShort':
      return NO_CURRENCIES;
    default:
      return envelopeValue(store, outMsg.envelope);
  }
}
