import { CellSlice } from '../decode/cell-slice.ts';
import type { CellTable } from '../decode/cell-table.ts';
import { lookUp, key32 } from './dictionary.ts';

// Steps from cell to cell through blocks and states. Each opens the cells that it names and no other, as what is opened
// is what a proof shows.

/** `block#11ef55aa`: opens the root. */
export type BlockCells = {
  readonly info: number;
  readonly valueFlow: number;
  readonly stateUpdate: number;
  readonly extra: number;
};

export function openBlock(table: CellTable, root: number): BlockCells {
  const slice = new CellSlice(table, root);
  slice.expectTag(32, 0x11ef55aa, 'Block');
  return { info: slice.ref(), valueFlow: slice.ref(), stateUpdate: slice.ref(), extra: slice.ref() };
}

/** What the chain needs of `block_info#9bc7a987`. */
export type BlockHeader = {
  readonly afterMerge: boolean;
  readonly afterSplit: boolean;
  readonly keyBlock: boolean;
  readonly seqno: number;
  readonly workchain: number;
  /** Unsigned 64 bits. */
  readonly shard: bigint;
  readonly utime: number;
  readonly startLt: bigint;
  readonly endLt: bigint;
  readonly catchainSeqno: number;
  readonly masterRef: number | undefined;
  readonly prevRef: number;
  readonly prevVertRef: number | undefined;
};

/** Opens the info cell of a block. */
export function openHeader(table: CellTable, info: number): BlockHeader {
  const slice = new CellSlice(table, info);
  slice.expectTag(32, 0x9bc7a987, 'BlockInfo');
  slice.skip(32);
  const notMaster = slice.bit();
  const afterMerge = slice.bit();
  slice.skip(1);
  const afterSplit = slice.bit();
  slice.skip(2);
  const keyBlock = slice.bit();
  const vertical = slice.bit();
  const hasVersion = (slice.uint(8) & 1) !== 0;
  const seqno = slice.uint(32);
  slice.skip(32);
  const { workchain, shard } = readShard(slice);
  const utime = slice.uint(32);
  const startLt = slice.uint64();
  const endLt = slice.uint64();
  slice.skip(32);
  const catchainSeqno = slice.uint(32);
  slice.skip(64);
  if (hasVersion) slice.skip(104);
  const masterRef = notMaster ? slice.ref() : undefined;
  const prevRef = slice.ref();
  const prevVertRef = vertical ? slice.ref() : undefined;
  return {
    afterMerge,
    afterSplit,
    keyBlock,
    seqno,
    workchain,
    shard,
    utime,
    startLt,
    endLt,
    catchainSeqno,
    masterRef,
    prevRef,
    prevVertRef,
  };
}

/** `shard_ident$00`: where a block or state stands. */
function readShard(slice: CellSlice): { workchain: number; shard: bigint } {
  slice.expectTag(2, 0, 'ShardIdent');
  const prefixBits = slice.uint(6);
  const workchain = slice.int(32);
  return { workchain, shard: slice.uint64() | (1n << BigInt(63 - prefixBits)) };
}

/** `ext_blk_ref$_`: a block named by seqno and hashes. */
export type BlockReference = {
  readonly endLt: bigint;
  readonly seqno: number;
  readonly rootHash: Buffer;
  readonly fileHash: Buffer;
};

export function readBlockReference(slice: CellSlice): BlockReference {
  return { endLt: slice.uint64(), seqno: slice.uint(32), rootHash: slice.hash(), fileHash: slice.hash() };
}

/** `BlkPrevInfo`: opens its cell and, after a merge, the two below. */
export function openPrevious(table: CellTable, header: BlockHeader): BlockReference[] {
  const slice = new CellSlice(table, header.prevRef);
  if (!header.afterMerge) return [readBlockReference(slice)];
  return [readBlockReference(slice.refSlice()), readBlockReference(slice.refSlice())];
}

/** `block_extra`. */
export type BlockExtra = {
  readonly inMessages: number;
  readonly outMessages: number;
  readonly accountBlocks: number;
  /** The masterchain's part. */
  readonly custom: number | undefined;
};

export function openExtra(table: CellTable, extra: number): BlockExtra {
  const slice = new CellSlice(table, extra);
  slice.expectTag(32, 0x4a33f6fd, 'BlockExtra');
  const [inMessages, outMessages, accountBlocks] = [slice.ref(), slice.ref(), slice.ref()];
  slice.skip(512);
  return { inMessages, outMessages, accountBlocks, custom: slice.maybeRef() };
}

/** `masterchain_block_extra#cca5`: opens its cell and the one with the signatures of the previous block. */
export type MasterchainExtra = {
  /** Root of the dictionary of shards, absent when there is none. */
  readonly shards: number | undefined;
  readonly previousSignatures: number | undefined;
  /** Root of the configuration, in key blocks. */
  readonly config: number | undefined;
};

export function openMasterchainExtra(table: CellTable, custom: number): MasterchainExtra {
  const slice = new CellSlice(table, custom);
  slice.expectTag(16, 0xcca5, 'McBlockExtra');
  const keyBlock = slice.bit();
  const shards = slice.maybeRef();
  slice.maybeRef();
  for (let part = 0; part < 2; part++) skipCurrencies(slice);
  const previousSignatures = slice.refSlice().maybeRef();
  if (!keyBlock) return { shards, previousSignatures, config: undefined };
  slice.skip(256);
  return { shards, previousSignatures, config: slice.ref() };
}

/** Moves over a `CurrencyCollection`. */
export function skipCurrencies(slice: CellSlice): void {
  slice.skipVarUint(16);
  slice.maybeRef();
}

/** `shard_state#9023afe2`: opens the root and the cell of totals and libraries. */
export type StateCells = {
  readonly workchain: number;
  readonly shard: bigint;
  readonly seqno: number;
  readonly utime: number;
  readonly endLt: bigint;
  readonly outQueue: number;
  readonly accounts: number;
  /** Root of the dictionary of libraries. */
  readonly libraries: number | undefined;
  /** The masterchain's part. */
  readonly custom: number | undefined;
};

export function openState(table: CellTable, root: number): StateCells {
  const slice = new CellSlice(table, root);
  slice.expectTag(32, 0x9023afe2, 'ShardStateUnsplit');
  slice.skip(32);
  const { workchain, shard } = readShard(slice);
  const seqno = slice.uint(32);
  slice.skip(32);
  const utime = slice.uint(32);
  const endLt = slice.uint64();
  slice.skip(32);
  const outQueue = slice.ref();
  slice.skip(1);
  const accounts = slice.ref();
  const totals = slice.refSlice();
  const custom = slice.maybeRef();
  totals.skip(128);
  for (let part = 0; part < 2; part++) skipCurrencies(totals);
  return { workchain, shard, seqno, utime, endLt, outQueue, accounts, libraries: totals.maybeRef(), custom };
}

/** `masterchain_state_extra#cc26`: opens its cell and the one with the history of blocks. */
export type MasterchainState = {
  readonly shards: number | undefined;
  /** Root of the configuration. */
  readonly config: number;
  /** Root of the dictionary of earlier masterchain blocks. */
  readonly previousBlocks: number | undefined;
  readonly lastKeyBlock: BlockReference | undefined;
  /** Of the statistics of block creators: tag 0x17 or 0x34, and the root of the dictionary. */
  readonly creators: { readonly augmented: boolean; readonly root: number | undefined } | undefined;
};

export function openMasterchainState(table: CellTable, custom: number): MasterchainState {
  const slice = new CellSlice(table, custom);
  slice.expectTag(16, 0xcc26, 'McStateExtra');
  const shards = slice.maybeRef();
  slice.skip(256);
  const config = slice.ref();
  const history = slice.refSlice();
  const hasCreators = (history.uint(16) & 1) !== 0;
  history.skip(65);
  const previousBlocks = history.maybeRef();
  history.skip(65);
  history.skip(1);
  const lastKeyBlock = history.bit() ? readBlockReference(history) : undefined;
  const creators = hasCreators ? { augmented: history.uint(8) === 0x34, root: history.maybeRef() } : undefined;
  return { shards, config, previousBlocks, lastKeyBlock, creators };
}

/** A configuration parameter's cell, unopened; opens the way to it. */
export function findParameter(table: CellTable, config: number, parameter: number): number | undefined {
  return lookUp({ table, cell: config }, 32, key32(parameter))?.ref();
}

/** An earlier masterchain block by seqno in a state's `prev_blocks`; opens the way to it. */
export function findPreviousBlock(
  table: CellTable,
  root: number | undefined,
  seqno: number,
): (BlockReference & { key: boolean }) | undefined {
  const value = root === undefined ? undefined : lookUp({ table, cell: root }, 32, key32(seqno));
  if (value === undefined) return undefined;
  value.skip(65);
  const key = value.bit();
  return { key, ...readBlockReference(value) };
}
