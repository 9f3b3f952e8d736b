import { Cell, loadAccount, loadTransaction } from '@ton/core';
import type { Account, Transaction } from '@ton/core';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';

import { blockText } from '#service/decode/block-id.ts';
import { parseBoc } from '#service/decode/boc.ts';
import { writeBoc } from '#service/decode/boc-writer.ts';
import type { CellStore } from '#service/decode/cell-store.ts';
import { createCellStore } from '#service/decode/cell-store.ts';
import { applyMerkleUpdate } from '#service/decode/merkle.ts';
import { previousBlocks, readBlockInfo } from '#service/decode/tlb/block-info.ts';
import { readBlock } from '#service/decode/tlb/block.ts';
import { findShardAccount } from '#service/decode/tlb/shard-account.ts';
import { addSplitState, readShardState } from '#service/decode/tlb/shard-state.ts';
import { rowsOf } from '#service/indexer/rows/rows.ts';
import type { SourceBlock } from '#service/indexer/source.ts';
import { accountOfKey } from '#service/store/account-key.ts';
import { newestStates } from '#service/store/newest-states.ts';
import type { AccountStateRow, BlockRows } from '#service/store/tables.ts';
import { recordingDirs } from '#test/support/fixtures.ts';
import { recordedBlocks } from '../recorded-blocks.ts';

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
const STATUSES = ['uninit', 'frozen', 'active', 'nonexist'] as const;

/** States of all shards, rebuilt block by block from the zerostates. */
function createStates(folder: string) {
  const store: CellStore = createCellStore();
  const states = new Map<string, number>();
  for (const name of ['zerostate-masterchain.boc', 'zerostate-basechain.boc']) {
    const boc = parseBoc(readFileSync(join(folder, name)));
    const root = store.import(boc, boc.roots[0]!);
    states.set(blockText(readShardState(store, root)), root);
  }
  return {
    store,
    /** Roots before and after the block. */
    apply({ boc: bytes }: SourceBlock): { readonly before: number | undefined; readonly after: number } {
      const boc = parseBoc(bytes);
      const block = readBlock(boc, boc.roots[0]!);
      const info = readBlockInfo(boc, block.info);
      const [one, other] = previousBlocks(boc, info).map((id) => states.get(blockText(id))!) as [number, number?];
      const after = applyMerkleUpdate(
        store,
        boc,
        block.stateUpdate,
        other === undefined ? one : addSplitState(store, one, other),
      );
      states.set(blockText(info), after);
      return { before: other === undefined ? one : undefined, after };
    },
  };
}

/** An account as @ton/core reads it from a whole state; undefined when it does not exist. */
type Found = { readonly account: Account; readonly hash: string };

function findAccount(store: CellStore, root: number, id: Buffer): Found | undefined {
  const found = findShardAccount(store, readShardState(store, root).accounts, id);
  if (found === undefined) return undefined;
  const [cell] = Cell.fromBoc(writeBoc(store, [found.account])) as [Cell];
  const slice = cell.beginParse();
  if (!slice.loadBit()) return undefined;
  return { account: loadAccount(slice), hash: hex(cell.hash()) };
}

function plainState({ account, hash }: Found) {
  const { state, balance } = account.storage;
  const init = state.type === 'active' ? state.state : undefined;
  const extra = balance.other?.keys().map((id) => [`${id >>> 0}`, `${balance.other!.get(id)!}`]) ?? [];
  return {
    hash,
    balance: balance.coins,
    extra_currencies: extra.length === 0 ? null : Object.fromEntries(extra),
    status: state.type as string,
    frozen_hash: state.type === 'frozen' ? state.stateHash.toString(16).padStart(64, '0') : null,
    data_hash: init?.data?.hash().toString('hex') ?? null,
    code_hash: init?.code?.hash().toString('hex') ?? null,
  };
}

/** What a block does not show of other currencies is empty. */
function asShown(
  expected: ReturnType<typeof plainState>,
  { extra_currencies }: Pick<AccountStateRow, 'extra_currencies'>,
) {
  const isShown = extra_currencies === null || Object.keys(extra_currencies).length > 0;
  return isShown ? expected : { ...expected, extra_currencies: expected.extra_currencies && {} };
}

function plainRow(row: AccountStateRow) {
  const text = (bytes: Uint8Array | null): string | null => bytes && hex(bytes);
  return {
    hash: hex(row.hash),
    balance: row.balance,
    extra_currencies: row.extra_currencies,
    status: STATUSES[row.status],
    frozen_hash: text(row.frozen_hash),
    data_hash: text(row.data_hash),
    code_hash: text(row.code_hash),
  };
}

const nothing: Omit<AccountStateRow, 'hash'> = {
  balance: 0n,
  extra_currencies: null,
  status: 3,
  frozen_hash: null,
  data_hash: null,
  code_hash: null,
};

/** What a transaction leaves of a balance: what came in, less what went out and what was paid. */
function balanceAfter(before: bigint, { inMessage, outMessages, totalFees }: Transaction): bigint {
  let balance = before - totalFees.coins;
  if (inMessage?.info.type === 'internal') balance += inMessage.info.value.coins;
  for (const { info } of outMessages.values()) {
    if (info.type === 'internal') balance -= info.value.coins + info.forwardFee;
  }
  return balance;
}

describe('states of accounts in the recorded chain', () => {
  const states = createStates(recordingDirs()[0]!);
  const rows: BlockRows[] = [];
  /** By hash, over the whole chain. */
  const stored = new Map<string, AccountStateRow>();
  /** Of every account after every block that changed it. */
  const ends: { readonly seqno: number; readonly hash: string; readonly found: Found | undefined }[] = [];
  const last = new Map<string, Found | undefined>();
  const between: { readonly hash: string; readonly balance: bigint; readonly status: string }[] = [];

  function compareBlock(block: SourceBlock, transactions: BlockRows['transactions']): void {
    const { before, after } = states.apply(block);
    const own = transactions.filter(({ workchain, shard, seqno }) => {
      return (
        workchain === block.id.workchain && shard === BigInt.asIntN(64, block.id.shard) && seqno === block.id.seqno
      );
    });
    for (const [key, list] of Map.groupBy(own, ({ account }) => hex(account))) {
      const { id } = accountOfKey(list[0]!.account);
      const read = list.map(({ boc }) => loadTransaction(Cell.fromBoc(Buffer.from(boc))[0]!.beginParse()));
      const found = findAccount(states.store, after, id);
      ends.push({ seqno: block.id.seqno, hash: hex(read.at(-1)!.stateUpdate.newHash), found });
      last.set(key, found);
      const start = before === undefined ? undefined : findAccount(states.store, before, id);
      let balance = start?.account.storage.balance.coins ?? 0n;
      for (const transaction of before === undefined ? [] : read) {
        balance = balanceAfter(balance, transaction);
        const { stateUpdate, endStatus } = transaction;
        if (transaction !== read.at(-1)) between.push({ hash: hex(stateUpdate.newHash), balance, status: endStatus });
      }
      if (before !== undefined) expect(balance).toBe(found?.account.storage.balance.coins ?? 0n);
    }
  }

  beforeAll(async () => {
    for (const source of await recordedBlocks()) {
      const made = rowsOf(source);
      rows.push(made);
      for (const row of made.accountStates) stored.set(hex(row.hash), row);
      for (const block of [source.masterchain, ...source.shards]) compareBlock(block, made.transactions);
    }
  });

  it('are those of the rebuilt states after every block', () => {
    const expected = ends.map(({ hash, found }) =>
      found ? asShown(plainState(found), stored.get(hash)!) : plainRow({ ...nothing, hash: Buffer.from(hash, 'hex') }),
    );
    expect(expected.length).toBeGreaterThan(3000);
    expect(ends.map(({ hash }) => plainRow(stored.get(hash)!))).toEqual(expected);
    const shown = [...stored.values()].filter(({ extra_currencies: extra }) => extra && Object.keys(extra).length > 0);
    expect(shown.length).toBeGreaterThan(0);
  });

  it('have status and balance between the transactions of one block', () => {
    expect(between.length).toBeGreaterThan(500);
    const found = between.map(({ hash }) => stored.get(hash));
    expect(found.map((row) => row?.balance)).toEqual(between.map(({ balance }) => balance));
    const statuses = { uninitialized: 'uninit', 'non-existing': 'nonexist', active: 'active', frozen: 'frozen' };
    expect(found.map((row) => STATUSES[row?.status as 0])).toEqual(
      between.map(({ status }) => statuses[status as keyof typeof statuses]),
    );
  });

  it('are known for every hash that a transaction names', () => {
    const hashes = rows.flatMap(({ transactions }) =>
      transactions.flatMap(({ boc }) => {
        const { stateUpdate } = loadTransaction(Cell.fromBoc(Buffer.from(boc))[0]!.beginParse());
        return [hex(stateUpdate.oldHash), hex(stateUpdate.newHash)];
      }),
    );
    expect(hashes.filter((hash) => !stored.has(hash))).toEqual([]);
  });

  it('end with the newest state of each account, and its data where blocks showed it whole', () => {
    const newest = newestStates(rows.flatMap(({ latestAccountStates }) => latestAccountStates));
    expect(newest.map(({ account }) => hex(account)).toSorted()).toEqual([...last.keys()].toSorted());
    const expected = newest.map((row) => {
      const found = last.get(hex(row.account));
      return found ? asShown(plainState(found), row) : plainRow({ ...nothing, hash: row.hash });
    });
    expect(newest.map(plainRow)).toEqual(expected);
    const whole = newest.filter(({ data_boc }) => data_boc !== null);
    expect(whole.map(({ data_boc_hash }) => hex(data_boc_hash!))).toEqual(
      whole.map(({ data_boc }) => hex(Cell.fromBoc(Buffer.from(data_boc!))[0]!.hash())),
    );
    expect(whole.filter(({ data_boc_lt, last_trans_lt }) => data_boc_lt! > last_trans_lt)).toEqual([]);
    const shown = newest.filter(({ data_hash, data_boc_hash }) => {
      return data_hash !== null && data_boc_hash !== null && hex(data_hash) === hex(data_boc_hash);
    });
    const active = newest.filter(({ status }) => status === 2);
    expect(shown.length).toBeGreaterThan(active.length / 2);
  });
});
