import { BitWriter } from '../bit-writer.ts';
import { CellSlice } from '../cell-slice.ts';
import type { CellStore } from '../cell-store.ts';
import type { CellTable } from '../cell-table.ts';
import { DecodeError } from '../errors.ts';
import type { Augmentation } from '../hashmap-writer.ts';
import {
  NO_CURRENCIES,
  addCurrencies,
  onlyGrams,
  readCurrencyCollection,
  writeCurrencyCollection,
} from './currency-collection.ts';
import type { CurrencyCollection } from './currency-collection.ts';
import { readMessage } from './message.ts';
import { readMessageEnvelope } from './msg-envelope.ts';

/** Entry of a message into a block; cells of messages, envelopes and transactions. */
export type InMsg =
  /** Message from outside. */
  | { readonly kind: 'external'; readonly message: number; readonly transaction: number }
  /** Message from the same block (`immediate`), another block's queue (`final`), or the queue of deferred messages. */
  | {
      readonly kind: 'immediate' | 'final' | 'deferredFinal';
      readonly envelope: number;
      readonly transaction: number;
      readonly forwardFee: bigint;
    }
  /** Message in transit to another shard. */
  | {
      readonly kind: 'transit';
      readonly envelope: number;
      readonly outEnvelope: number;
      readonly transitFee: bigint;
    }
  | { readonly kind: 'deferredTransit'; readonly envelope: number; readonly outEnvelope: number };

/**
 * `msg_import_ext$000 msg:^(Message Any) transaction:^Transaction`,
 * `msg_import_imm$011` and `msg_import_fin$100 in_msg:^MsgEnvelope transaction:^Transaction fwd_fee:Grams`,
 * `msg_import_tr$101 in_msg:^MsgEnvelope out_msg:^MsgEnvelope transit_fee:Grams`,
 * `msg_import_deferred_fin$00100 in_msg:^MsgEnvelope transaction:^Transaction fwd_fee:Grams`,
 * `msg_import_deferred_tr$00101 in_msg:^MsgEnvelope out_msg:^MsgEnvelope`. Instant hypercube routing and discarded messages
 * do not occur. Throws DecodeError `bad_tag`.
 */
export function readInMsg(slice: CellSlice): InMsg {
  const tag = slice.uint(3);
  if (tag === 0) return { kind: 'external', message: slice.ref(), transaction: slice.ref() };
  if (tag === 3 || tag === 4) return readArrival(slice, tag === 3 ? 'immediate' : 'final');
  if (tag === 5) {
    return { kind: 'transit', envelope: slice.ref(), outEnvelope: slice.ref(), transitFee: slice.coins() };
  }
  if (tag !== 1)
    throw new DecodeError('bad_tag', 'The cell is no InMsg.', { cell: slice.cell, type: 'InMsg', found: tag });
  const isTransit = slice.uint(2) === 1;
  if (isTransit) return { kind: 'deferredTransit', envelope: slice.ref(), outEnvelope: slice.ref() };
  return readArrival(slice, 'deferredFinal');
}

function readArrival(slice: CellSlice, kind: 'immediate' | 'final' | 'deferredFinal'): InMsg {
  return { kind, envelope: slice.ref(), transaction: slice.ref(), forwardFee: slice.coins() };
}

const TAGS = {
  external: [0, 3],
  immediate: [3, 3],
  final: [4, 3],
  transit: [5, 3],
  deferredFinal: [4, 5],
  deferredTransit: [5, 5],
} as const;

/** The reverse of `readInMsg`. */
export function writeInMsg(writer: BitWriter, inMsg: InMsg): BitWriter {
  const [tag, bits] = TAGS[inMsg.kind];
  writer.uint(tag, bits);
  if (inMsg.kind === 'external') return writer.ref(inMsg.message).ref(inMsg.transaction);
  writer.ref(inMsg.envelope);
  if (inMsg.kind === 'deferredTransit') return writer.ref(inMsg.outEnvelope);
  if (inMsg.kind === 'transit') return writer.ref(inMsg.outEnvelope).coins(inMsg.transitFee);
  return writer.ref(inMsg.transaction).coins(inMsg.forwardFee);
}

/** Makes a cell of `InMsg`, to which `OutMsg` and `McBlockExtra` refer. */
export function storeInMsg(store: CellStore, inMsg: InMsg): number {
  return writeInMsg(new BitWriter(), inMsg).finish(store);
}

/** Import of a message: fees for this block's validators, and value from other blocks. */
export type ImportFees = { readonly feesCollected: bigint; readonly valueImported: CurrencyCollection };

const NO_IMPORT: ImportFees = { feesCollected: 0n, valueImported: NO_CURRENCIES };

/** `import_fees$_ fees_collected:Grams value_imported:CurrencyCollection = ImportFees`. */
export function readImportFees(slice: CellSlice): ImportFees {
  return { feesCollected: slice.coins(), valueImported: readCurrencyCollection(slice) };
}

/** The reverse of `readImportFees`. */
export function writeImportFees(writer: BitWriter, { feesCollected, valueImported }: ImportFees): BitWriter {
  return writeCurrencyCollection(writer.coins(feesCollected), valueImported);
}

/** Returns the import of an `InMsg`, by the rules of global version 12 and later (no IHR fee). Sums are made in the store. */
export function importFeesOf(store: CellStore, inMsg: InMsg): ImportFees {
  if (inMsg.kind === 'external') return NO_IMPORT;
  if (inMsg.kind === 'immediate') return { feesCollected: inMsg.forwardFee, valueImported: NO_CURRENCIES };
  const valueImported = envelopeValue(store, inMsg.envelope);
  if (inMsg.kind === 'deferredTransit') return { feesCollected: 0n, valueImported };
  return { feesCollected: inMsg.kind === 'transit' ? inMsg.transitFee : inMsg.forwardFee, valueImported };
}

/** Returns the value of an envelope: the message's value and the remaining forward fee. */
export function envelopeValue(store: CellStore, envelope: number): CurrencyCollection {
  const { message, forwardFeeRemaining } = readMessageEnvelope(new CellSlice(store, envelope));
  const { info } = readMessage(store, message);
  if (info.kind !== 'internal') {
    throw new DecodeError('bad_tag', 'An envelope has a message that is not internal.', { cell: envelope });
  }
  return addCurrencies(store, info.value, onlyGrams(forwardFeeRemaining));
}

/** Cell of the message that an `InMsg` is about: its hash is the key in `InMsgDescr`. */
export function messageOfInMsg(table: CellTable, inMsg: InMsg): number {
  if (inMsg.kind === 'external') return inMsg.message;
  return readMessageEnvelope(new CellSlice(table, inMsg.envelope)).message;
}

/** `InMsgDescr`, `HashmapAugE 256 InMsg ImportFees`. */
export const importFeesAugmentation: Augmentation = {
  join(writer, left, right, store) {
    const [one, other] = [readImportFees(left), readImportFees(right)];
    writeImportFees(writer, {
      feesCollected: one.feesCollected + other.feesCollected,
      valueImported: addCurrencies(store, one.valueImported, other.valueImported),
    });
  },
};
