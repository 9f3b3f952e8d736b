import { expect } from 'vitest';
import type { BitWriter } from '#service/decode/bit-writer.ts';
import { BitWriter as Writer } from '#service/decode/bit-writer.ts';
import { CellSlice } from '#service/decode/cell-slice.ts';
import type { CellStore } from '#service/decode/cell-store.ts';
import { createCellStore } from '#service/decode/cell-store.ts';
import type { HashmapChange, HashmapShape } from '#service/decode/hashmap-writer.ts';
import { updateHashmap } from '#service/decode/hashmap-writer.ts';
import { walkHashmap } from '#service/decode/hashmap.ts';
import { addStateUpdate } from '#service/decode/merkle-builder.ts';
import { applyMerkleUpdate } from '#service/decode/merkle.ts';
import { storeAccountBlocks, walkAccountBlocks, walkAccountTransactions } from '#service/decode/tlb/account-blocks.ts';
import { readBlock, storeBlock } from '#service/decode/tlb/block.ts';
import { readBlockExtra, storeBlockExtra } from '#service/decode/tlb/block-extra.ts';
import { previousBlocks, readBlockInfo, storeBlockInfo } from '#service/decode/tlb/block-info.ts';
import { readCreatorStats, writeCreatorStats } from '#service/decode/tlb/creator-stats.ts';
import {
  currencyAugmentation,
  skipCurrencyCollection,
  writeCurrencyCollection,
} from '#service/decode/tlb/currency-collection.ts';
import {
  importFeesAugmentation,
  importFeesOf,
  readImportFees,
  readInMsg,
  writeImportFees,
  writeInMsg,
} from '#service/decode/tlb/in-msg.ts';
import {
  readMasterchainBlockDetails,
  readMasterchainBlockExtra,
  storeMasterchainBlockDetails,
  storeMasterchainBlockExtra,
} from '#service/decode/tlb/masterchain-block-extra.ts';
import {
  readMasterchainStateDetails,
  readMasterchainStateExtra,
  storeMasterchainStateDetails,
  storeMasterchainStateExtra,
} from '#service/decode/tlb/masterchain-state-extra.ts';
import { readMessage } from '#service/decode/tlb/message.ts';
import { readMessageEnvelope, storeMessageEnvelope } from '#service/decode/tlb/msg-envelope.ts';
import { addOldMasterchainBlock, walkOldMasterchainBlocks } from '#service/decode/tlb/old-masterchain-blocks.ts';
import { exportedValueOf, readOutMsg, writeOutMsg } from '#service/decode/tlb/out-msg.ts';
import {
  leastLtAugmentation,
  readEnqueuedMessage,
  readOutMsgQueueInfo,
  storeOutMsgQueueInfo,
  writeEnqueuedMessage,
} from '#service/decode/tlb/out-msg-queue-info.ts';
import { listProcessedUpto, storeProcessedInfo } from '#service/decode/tlb/processed-info.ts';
import { updateShardAccounts, walkShardAccounts } from '#service/decode/tlb/shard-account.ts';
import { listShardsWithFunds, storeShardHashes } from '#service/decode/tlb/shard-descr.ts';
import { listShardFees, storeShardFees } from '#service/decode/tlb/shard-fees.ts';
import {
  readShardState,
  readShardStateDetails,
  storeShardState,
  storeShardStateDetails,
} from '#service/decode/tlb/shard-state.ts';
import { readTransaction } from '#service/decode/tlb/transaction.ts';
import { readValueFlow, storeValueFlow } from '#service/decode/tlb/value-flow.ts';
import type { Chain, ChainBlock } from '#service/devchain/chain/chain.ts';

// Reads and writes every structure of a block or a state again: it must become the same cell.

export function blocksOf(chain: Chain): ChainBlock[] {
  const ends = [0n, 1n << 62n, 2n << 62n, 3n << 62n].flatMap((prefix) => chain.along(0, prefix));
  const shards = new Map(ends.map((block) => [block.id.rootHash.toString('hex'), block])).values();
  return [...Array.from({ length: chain.lastSeqno }, (_, index) => chain.masterchain(index + 1)!), ...shards];
}

/** Returns the block's cells in a store of their own. */
function open(chain: Chain, block: ChainBlock): { store: CellStore; root: number } {
  const boc = chain.parse(block);
  const store = createCellStore();
  return { store, root: store.import(boc, boc.roots[0]!) };
}

export function rewriteBlock(chain: Chain, block: ChainBlock): void {
  const { store, root } = open(chain, block);
  const parts = readBlock(store, root);
  expect(storeBlock(store, parts)).toBe(root);
  const info = readBlockInfo(store, parts.info);
  expect(storeBlockInfo(store, info)).toBe(parts.info);
  expect(previousBlocks(store, info).length).toBe(block.previous.length);
  expect(storeValueFlow(store, readValueFlow(store, parts.valueFlow))).toBe(parts.valueFlow);
  expect(storeBlockExtra(store, readBlockExtra(store, parts.extra))).toBe(parts.extra);
}

type Entries = { readonly root: number | undefined; readonly bits: number };

/** Builds the dictionary again from the result of `entry` for each value. */
function rebuild(
  store: CellStore,
  { root, bits }: Entries,
  augmentation: NonNullable<HashmapShape['augmentation']>,
  skip: (slice: CellSlice) => void,
  entry: (value: CellSlice, key: Buffer) => (writer: BitWriter) => void,
): void {
  const changes: HashmapChange[] = [];
  walkHashmap(store, root, bits, (key, value) => void changes.push({ key, write: entry(value, key) }), {
    readExtra: skip,
  });
  expect(updateHashmap(store, undefined, { bits, augmentation }, changes)).toBe(root);
}

export function rewriteMessages(chain: Chain, block: ChainBlock): string[] {
  const { store, root } = open(chain, block);
  const extra = readBlockExtra(store, readBlock(store, root).extra);
  const kinds: string[] = [];
  const inRoot = new CellSlice(store, extra.inMsgDescr).maybeRef();
  rebuild(store, { root: inRoot, bits: 256 }, importFeesAugmentation, readImportFees, (value) => {
    const inMsg = readInMsg(value);
    kinds.push(`in:${inMsg.kind}`);
    const envelope = inMsg.kind === 'external' ? undefined : inMsg.envelope;
    expect(envelope && storeMessageEnvelope(store, readMessageEnvelope(new CellSlice(store, envelope)))).toBe(envelope);
    return (writer) => writeInMsg(writeImportFees(writer, importFeesOf(store, inMsg)), inMsg);
  });
  const outRoot = new CellSlice(store, extra.outMsgDescr).maybeRef();
  rebuild(store, { root: outRoot, bits: 256 }, currencyAugmentation, skipCurrencyCollection, (value) => {
    const outMsg = readOutMsg(value);
    kinds.push(`out:${outMsg.kind}`);
    return (writer) => writeOutMsg(writeCurrencyCollection(writer, exportedValueOf(store, outMsg)), outMsg);
  });
  return kinds;
}

export function rewriteAccountBlocks(chain: Chain, block: ChainBlock): void {
  const { store, root } = open(chain, block);
  const { accountBlocks } = readBlockExtra(store, readBlock(store, root).extra);
  const blocks: Parameters<typeof storeAccountBlocks>[1][number][] = [];
  walkAccountBlocks(store, accountBlocks, (one) => {
    const transactions: (typeof blocks)[number]['transactions'][number][] = [];
    walkAccountTransactions(one, (lt, cell) => {
      transactions.push({ lt, cell, totalFees: readTransaction(store, cell).totalFees });
    });
    blocks.push({ account: one.account, stateUpdate: one.stateUpdate, transactions });
  });
  expect(storeAccountBlocks(store, blocks)).toBe(new CellSlice(store, accountBlocks).maybeRef());
}

export function rewriteMasterchainBlock(chain: Chain, block: ChainBlock): void {
  const { store, root } = open(chain, block);
  const custom = readBlockExtra(store, readBlock(store, root).extra).custom!;
  const extra = readMasterchainBlockExtra(store, custom);
  expect(storeMasterchainBlockExtra(store, extra)).toBe(custom);
  expect(storeMasterchainBlockDetails(store, readMasterchainBlockDetails(store, extra.details))).toBe(extra.details);
  expect(storeShardHashes(store, listShardsWithFunds(store, extra.shardHashes))).toBe(extra.shardHashes);
  expect(storeShardFees(store, listShardFees(store, extra.shardFees))).toBe(extra.shardFees);
}

export function rewriteState(store: CellStore, root: number, whole: boolean): void {
  const state = readShardState(store, root);
  expect(storeShardState(store, state)).toBe(root);
  expect(storeShardStateDetails(store, readShardStateDetails(store, state.details))).toBe(state.details);
  const queue = readOutMsgQueueInfo(store, state.outMsgQueueInfo);
  expect(storeOutMsgQueueInfo(store, queue)).toBe(state.outMsgQueueInfo);
  expect(storeProcessedInfo(store, listProcessedUpto(store, queue.processed))).toBe(queue.processed);
  rebuild(
    store,
    { root: queue.queue, bits: 352 },
    leastLtAugmentation,
    (slice) => slice.skip(64),
    (value) => {
      const message = readEnqueuedMessage(value);
      const { message: cell, emittedLt } = readMessageEnvelope(new CellSlice(store, message.envelope));
      return (writer) => writeEnqueuedMessage(writer.int(emittedLt ?? createdLt(store, cell), 64), message);
    },
  );
  if (whole) rewriteAccounts(store, state.accounts);
  if (state.custom === undefined) return;
  const extra = readMasterchainStateExtra(store, state.custom);
  expect(storeMasterchainStateExtra(store, extra)).toBe(state.custom);
  const details = readMasterchainStateDetails(store, extra.details);
  expect(storeMasterchainStateDetails(store, details)).toBe(extra.details);
  walkHashmap(store, details.blockCreateStats?.root, 256, (_, value) => {
    const copy = new Writer().rest(value.clone()).finish(store);
    expect(writeCreatorStats(new Writer(), readCreatorStats(value)).finish(store)).toBe(copy);
  });
  if (whole) rewriteOldBlocks(store, details.prevBlocks);
}

function createdLt(store: CellStore, message: number): bigint {
  const { info } = readMessage(store, message);
  return info.kind === 'internal' ? info.createdLt : 0n;
}

function rewriteAccounts(store: CellStore, accounts: number): void {
  const changes: Parameters<typeof updateShardAccounts>[2][number][] = [];
  walkShardAccounts(store, accounts, (id, account) => void changes.push({ id, account }));
  const root = new CellSlice(store, accounts).maybeRef();
  expect(updateShardAccounts(store, undefined, changes)).toBe(root);
  // Changing entries singly, and the last first, gives the same.
  const odd = changes.filter((_, index) => index % 2 === 1);
  const taken = odd.map(({ id }) => ({ id, account: undefined }));
  const half = updateShardAccounts(store, root, taken);
  expect(odd.toReversed().reduce((at, change) => updateShardAccounts(store, at, [change]), half)).toBe(root);
}

function rewriteOldBlocks(store: CellStore, root: number | undefined): void {
  let rebuilt: number | undefined;
  walkOldMasterchainBlocks(store, root, (_, block) => {
    rebuilt = addOldMasterchainBlock(store, rebuilt, block);
  });
  expect(rebuilt).toBe(root);
}

export function leadTo(chain: Chain, { previous: [id], state }: ChainBlock): void {
  const { states, zeroStates } = chain;
  const before = chain.find(id!)?.state ?? zeroStates.find((zero) => zero.id.workchain === id!.workchain)!.state;
  const target = createCellStore();
  // The states are in the order in which they were made. Every new cell of a state comes after the root of the old state.
  const update = addStateUpdate(target, states, before, state, before + 1);
  const world = createCellStore();
  world.import(states, before);
  expect(world.hash(applyMerkleUpdate(world, target, update))).toEqual(states.hash(state));
}
