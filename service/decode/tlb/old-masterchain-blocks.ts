import { openExtra, updateHashmap } from '../hashmap-writer.ts';
import type { CellStore } from '../cell-store.ts';
import type { BitWriter } from '../bit-writer.ts';
import type { CellSlice } from '../cell-slice.ts';
import type { CellTable } from '../cell-table.ts';
import { keyUint, lookupHashmap, uintKey, walkHashmap } from '../hashmap.ts';
import type { WalkOptions } from '../hashmap.ts';
import { readExtBlockRef, writeExtBlockRef } from './ext-block-ref.ts';
import type { ExtBlockRef } from './ext-block-ref.ts';

/** Reference to an earlier masterchain block in a later state. */
export type OldMasterchainBlock = ExtBlockRef & { readonly keyBlock: boolean };

/** Augmentation of the dictionary: whether key blocks are below, and the highest `end_lt`. */
export type KeyMaxLt = { readonly keyBlock: boolean; readonly maxEndLt: bigint };

/** `_ key:Bool max_end_lt:uint64 = KeyMaxLt`. */
export function readKeyMaxLt(slice: CellSlice): KeyMaxLt {
  return { keyBlock: slice.bit(), maxEndLt: slice.uint64() };
}

/** `_ key:Bool blk_ref:ExtBlkRef = KeyExtBlkRef`. */
function readOldBlock(slice: CellSlice): OldMasterchainBlock {
  const keyBlock = slice.bit();
  return { ...readExtBlockRef(slice), keyBlock };
}

function skipKeyMaxLt(slice: CellSlice): void {
  slice.skip(65);
}

/** A block by seqno in `prev_blocks:OldMcBlocksInfo`, `HashmapAugE 32 KeyExtBlkRef KeyMaxLt`; undefined when there is none. */
export function findOldMasterchainBlock(
  table: CellTable,
  root: number | undefined,
  seqno: number,
): OldMasterchainBlock | undefined {
  const slice = lookupHashmap(table, root, 32, uintKey(seqno, 32), { readExtra: skipKeyMaxLt });
  return slice && readOldBlock(slice);
}

/** Visits the earlier blocks in the order of their seqnos, until `visit` returns false. */
export function walkOldMasterchainBlocks(
  table: CellTable,
  root: number | undefined,
  visit: (seqno: number, block: OldMasterchainBlock) => boolean | void,
  options: Omit<WalkOptions, 'readExtra'> = {},
): boolean {
  return walkHashmap(table, root, 32, (key, slice) => visit(keyUint(key, 32), readOldBlock(slice)), {
    ...options,
    readExtra: skipKeyMaxLt,
  });
}

/** The reverse of `readKeyMaxLt`. */
function writeKeyMaxLt(writer: BitWriter, { keyBlock, maxEndLt }: KeyMaxLt): BitWriter {
  return writer.bit(keyBlock).int(maxEndLt, 64);
}

/** Adds one block to the dictionary and returns its root. */
export function addOldMasterchainBlock(store: CellStore, root: number | undefined, block: OldMasterchainBlock): number {
  const write = (writer: BitWriter): void => {
    writeKeyMaxLt(writer, { keyBlock: block.keyBlock, maxEndLt: block.endLt });
    writeExtBlockRef(writer.bit(block.keyBlock), block);
  };
  const augmentation = {
    join(writer: BitWriter, left: CellSlice, right: CellSlice): void {
      const [one, other] = [readKeyMaxLt(left), readKeyMaxLt(right)];
      const maxEndLt = one.maxEndLt > other.maxEndLt ? one.maxEndLt : other.maxEndLt;
      writeKeyMaxLt(writer, { keyBlock: one.keyBlock || other.keyBlock, maxEndLt });
    },
  };
  return updateHashmap(store, root, { bits: 32, augmentation }, [{ key: uintKey(block.seqno, 32), write }])!;
}

/** Writes `prev_blocks:OldMcBlocksInfo` from its root. */
export function writeOldMasterchainBlocks(writer: BitWriter, store: CellStore, root: number | undefined): BitWriter {
  writer.maybeRef(root);
  const whole = root === undefined ? { keyBlock: false, maxEndLt: 0n } : readKeyMaxLt(openExtra(store, root, 32));
  return writeKeyMaxLt(writer, whole);
}
