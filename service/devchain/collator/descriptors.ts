import { BitWriter } from '#service/decode/bit-writer.ts';
import type { CellStore } from '#service/decode/cell-store.ts';
import { openExtra, updateHashmap } from '#service/decode/hashmap-writer.ts';
import type { HashmapChange } from '#service/decode/hashmap-writer.ts';
import {
  NO_CURRENCIES,
  currencyAugmentation,
  readCurrencyCollection,
  writeCurrencyCollection,
} from '#service/decode/tlb/currency-collection.ts';
import type { CurrencyCollection } from '#service/decode/tlb/currency-collection.ts';
import type { ImportFees, InMsg } from '#service/decode/tlb/in-msg.ts';
import {
  importFeesAugmentation,
  importFeesOf,
  messageOfInMsg,
  readImportFees,
  writeImportFees,
  writeInMsg,
} from '#service/decode/tlb/in-msg.ts';
import type { OutMsg } from '#service/decode/tlb/out-msg.ts';
import { exportedValueOf, writeOutMsg } from '#service/decode/tlb/out-msg.ts';

/** Incoming and outgoing messages of a block. */
export type Descriptors = {
  addIn(inMsg: InMsg): void;
  /** @param hash of the message, the key */
  addOut(hash: Buffer, outMsg: OutMsg): void;
  finish(): FinishedDescriptors;
};

export type FinishedDescriptors = {
  /** Cells of `InMsgDescr` and `OutMsgDescr`. */
  readonly inMsgDescr: number;
  readonly outMsgDescr: number;
  readonly imported: ImportFees;
  readonly exported: CurrencyCollection;
};

const KEY_BITS = 256;

/** Gathers descriptors in the block's store. */
export function createDescriptors(cells: CellStore): Descriptors {
  const inbound: HashmapChange[] = [];
  const outbound: HashmapChange[] = [];
  return {
    addIn(inMsg) {
      const fees = importFeesOf(cells, inMsg);
      const write = (writer: BitWriter): void => void writeInMsg(writeImportFees(writer, fees), inMsg);
      inbound.push({ key: cells.hash(messageOfInMsg(cells, inMsg)), write });
    },
    addOut(hash, outMsg) {
      const value = exportedValueOf(cells, outMsg);
      const write = (writer: BitWriter): void => void writeOutMsg(writeCurrencyCollection(writer, value), outMsg);
      outbound.push({ key: hash, write });
    },
    finish() {
      const inRoot = updateHashmap(cells, undefined, { bits: KEY_BITS, augmentation: importFeesAugmentation }, inbound);
      const outRoot = updateHashmap(cells, undefined, { bits: KEY_BITS, augmentation: currencyAugmentation }, outbound);
      const imported =
        inRoot === undefined
          ? { feesCollected: 0n, valueImported: NO_CURRENCIES }
          : readImportFees(openExtra(cells, inRoot, KEY_BITS));
      return {
        inMsgDescr: writeImportFees(new BitWriter().maybeRef(inRoot), imported).finish(cells),
        outMsgDescr: storeCurrencyDictionary(cells, outRoot),
        imported,
        exported: totalOf(cells, outRoot),
      };
    },
  };
}

/** The sum over a dictionary of 256-bit keys whose augmentation is `CurrencyCollection`. */
export function totalOf(cells: CellStore, root: number | undefined): CurrencyCollection {
  return root === undefined ? NO_CURRENCIES : readCurrencyCollection(openExtra(cells, root, KEY_BITS));
}

/** A cell of such a dictionary, `HashmapAugE 256 X CurrencyCollection`. */
export function storeCurrencyDictionary(cells: CellStore, root: number | undefined): number {
  return writeCurrencyCollection(new BitWriter().maybeRef(root), totalOf(cells, root)).finish(cells);
}
