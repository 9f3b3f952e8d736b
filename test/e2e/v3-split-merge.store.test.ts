import { beginCell, Cell } from '@ton/core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { BitWriter } from '#service/decode/bit-writer.ts';
import { parseBoc } from '#service/decode/boc.ts';
import { writeBoc } from '#service/decode/boc-writer.ts';
import type { CellStore } from '#service/decode/cell-store.ts';
import { createCellStore } from '#service/decode/cell-store.ts';
import { storeAccountBlocks } from '#service/decode/tlb/account-blocks.ts';
import { readBlockExtra, storeBlockExtra } from '#service/decode/tlb/block-extra.ts';
import { readBlock, storeBlock } from '#service/decode/tlb/block.ts';
import { NO_CURRENCIES, writeCurrencyCollection } from '#service/decode/tlb/currency-collection.ts';
import { rowsOf } from '#service/indexer/rows/rows.ts';
import { assembleTraces } from '#service/indexer/traces/assembly.ts';
import type { SourceBlock } from '#service/indexer/source.ts';
import { createWriter } from '#service/store/writer.ts';
import type { SplitOrMerge } from '#test/service/decode/split-or-merge.ts';
import { writeSplitOrMerge } from '#test/service/decode/split-or-merge.ts';
import { recordedBlocks } from '#test/service/indexer/recorded-blocks.ts';
import type { StoreUnderTest } from '#test/support/store.ts';
import { createMigratedStore } from '#test/support/templates.ts';
import { startV3UnderTest, type V3UnderTest } from '#test/support/v3-service.ts';

type Json = Record<string, unknown>;

const account = Buffer.alloc(32, 0x11);
const sibling = Buffer.alloc(32, 0x91);
const utime = 1_790_000_000;
const firstLt = 5_000_000n;

const splitInfo = {
  currentShardPrefixLength: 3,
  accountSplitDepth: 5,
  thisAddress: BigInt(`0x${account.toString('hex')}`),
  siblingAddress: BigInt(`0x${sibling.toString('hex')}`),
};
const storagePhase = { storageFeesCollected: 7n, storageFeesDue: 3n, statusChange: 'unchanged' } as const;
const vm = {
  type: 'vm',
  success: true,
  messageStateUsed: false,
  accountActivated: false,
  gasFees: 900n,
  gasUsed: 90n,
  gasLimit: 1000n,
  mode: 0,
  exitCode: 0,
  vmSteps: 4,
  vmInitStateHash: 0n,
  vmFinalStateHash: 0n,
} as const;
const actionPhase = {
  success: true,
  valid: true,
  noFunds: false,
  statusChange: 'unchanged',
  resultCode: 0,
  totalActions: 1,
  specActions: 0,
  skippedActions: 1,
  messagesCreated: 0,
  actionListHash: 0n,
  totalMessageSize: { cells: 2n, bits: 100n },
} as const;

/** As block.tlb has them, with all that each may have. */
const descriptions: readonly SplitOrMerge[] = [
  { type: 'split-prepare', splitInfo, storagePhase, computePhase: vm, actionPhase, aborted: false, destroyed: false },
  { type: 'split-install', splitInfo, installed: true },
  { type: 'merge-prepare', splitInfo, storagePhase, aborted: true },
  {
    type: 'merge-install',
    splitInfo,
    storagePhase,
    creditPhase: { dueFeesColelcted: 2n, credit: { coins: 11n } },
    computePhase: { type: 'skipped', reason: 'no-gas' },
    aborted: true,
    destroyed: false,
  },
];

const splitView = {
  cur_shard_pfx_len: 3,
  acc_split_depth: 5,
  this_addr: `0:${account.toString('hex').toUpperCase()}`,
  sibling_addr: `0:${sibling.toString('hex').toUpperCase()}`,
};
const storageView = { storage_fees_collected: '7', storage_fees_due: '3', status_change: 'unchanged' };

/** Descriptions of the same transactions in v3 (service/v3/README.md#description). */
const views: readonly Json[] = [
  {
    type: 'split_prepare',
    aborted: false,
    destroyed: false,
    storage_ph: storageView,
    compute_ph: expect.objectContaining({ skipped: false, success: true, gas_used: '90', vm_steps: 4 }) as Json,
    action: expect.objectContaining({ success: true, skipped_actions: 1 }) as Json,
    split_info: splitView,
  },
  { type: 'split_install', installed: true, split_info: splitView },
  { type: 'merge_prepare', aborted: true, storage_ph: storageView, split_info: splitView },
  {
    type: 'merge_install',
    aborted: true,
    destroyed: false,
    storage_ph: storageView,
    credit_ph: { due_fees_collected: '2', credit: '11' },
    compute_ph: { skipped: true, reason: 'no_gas' },
    split_info: splitView,
  },
];

/** `transaction$0111` without messages; an installing one holds the one before it. */
function transactionCells(): Cell[] {
  const cells: Cell[] = [];
  for (const [index, description] of descriptions.entries()) {
    const before = cells.at(-1);
    const stateUpdate = beginCell()
      .storeUint(0x72, 8)
      .storeUint(index, 256)
      .storeUint(index + 1, 256);
    const cell = beginCell()
      .storeUint(7, 4)
      .storeBuffer(account)
      .storeUint(firstLt + BigInt(index), 64)
      .storeBuffer(before?.hash() ?? Buffer.alloc(32))
      .storeUint(before === undefined ? 0n : firstLt + BigInt(index - 1), 64)
      .storeUint(utime, 32)
      .storeUint(0, 15)
      .storeUint(0b1010, 4)
      .storeRef(beginCell().storeUint(0, 2))
      .storeUint(0, 5)
      .storeRef(stateUpdate)
      .storeRef(writeSplitOrMerge(description, before ?? Cell.EMPTY))
      .endCell();
    cells.push(cell);
  }
  return cells;
}

/** The block with these transactions of one account in place of its own. */
function withTransactions({ id, boc }: SourceBlock, cells: readonly Cell[]): SourceBlock {
  const store = createCellStore();
  const bag = parseBoc(boc);
  const block = readBlock(store, store.import(bag, bag.roots[0]!));
  const transactions = cells.map((cell, index) => ({
    lt: firstLt + BigInt(index),
    cell: importCell(store, cell),
    totalFees: NO_CURRENCIES,
  }));
  const stateUpdate = importCell(store, beginCell().storeUint(0x72, 8).storeUint(0, 512).endCell());
  const root = storeAccountBlocks(store, [{ account, transactions, stateUpdate }]);
  const accountBlocks = writeCurrencyCollection(new BitWriter().maybeRef(root), NO_CURRENCIES).finish(store);
  const extra = storeBlockExtra(store, { ...readBlockExtra(store, block.extra), accountBlocks });
  return { id, boc: writeBoc(store, [storeBlock(store, { ...block, extra })]) };
}

function importCell(store: CellStore, cell: Cell): number {
  const bag = parseBoc(cell.toBoc());
  return store.import(bag, bag.roots[0]!);
}

describe('transactions that split and merge accounts', () => {
  const cells = transactionCells();
  const hashes = cells.map((cell) => cell.hash().toString('base64'));
  let v3: V3UnderTest;
  let mcSeqno: number;

  async function createIndex(testFile: string): Promise<StoreUnderTest> {
    const index = await createMigratedStore(testFile);
    const group = (await recordedBlocks()).find(({ shards }) => shards.length > 0)!;
    ({ mcSeqno } = group);
    const rows = rowsOf({ ...group, shards: [withTransactions(group.shards[0]!, cells)] });
    const writer = createWriter({ carriage: 'copy', assemble: assembleTraces }, index.store);
    await writer.write([rows], { advance: async () => {} });
    return index;
  }

  beforeAll(async () => {
    v3 = await startV3UnderTest(import.meta.filename, {}, createIndex);
  });
  afterAll(() => v3.close());

  async function list(query: Record<string, string>): Promise<Json[]> {
    const { status, flaws, body } = await v3.get('transactions', { sort: 'asc', ...query });
    expect([status, flaws]).toEqual([200, []]);
    return (body as { transactions: Json[] }).transactions;
  }

  it('are told with their descriptions whole, in the form of the published contract', async () => {
    const found = await list({ account: `0:${account.toString('hex')}` });
    expect(found.map(({ hash }) => hash)).toEqual(hashes);
    expect(found.map(({ description }) => description)).toEqual(views);
    expect(found).toMatchObject(
      descriptions.map(() => ({
        in_msg: null,
        out_msgs: [],
        orig_status: 'active',
        end_status: 'active',
        mc_block_seqno: mcSeqno,
      })),
    );
  });

  it('are found by their hashes, and each is the whole of a trace of its own', async () => {
    for (const [index, hash] of hashes.entries()) {
      expect(await list({ hash })).toMatchObject([{ hash, trace_id: hash, description: views[index] }]);
      const { status, flaws, body } = await v3.get('traces', { tx_hash: hash });
      expect([status, flaws]).toEqual([200, []]);
      expect(body).toMatchObject({
        traces: [{ trace_id: hash, is_incomplete: false, transactions_order: [hash], trace_info: { transactions: 1 } }],
      });
    }
  });
});
