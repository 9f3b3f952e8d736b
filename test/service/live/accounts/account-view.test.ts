import { Address, beginCell, Cell, Dictionary, storeAccount } from '@ton/core';
import type { AccountState } from '@ton/core';
import { describe, expect, test } from 'vitest';

import { FULL_SHARD, MASTERCHAIN } from '#service/decode/block-id.ts';
import { parseBoc } from '#service/decode/boc.ts';
import { readSuspendedAddresses } from '#service/decode/tlb/suspended-addresses.ts';
import { writeBoc } from '#service/decode/boc-writer.ts';
import { viewAccount, type AccountView, type FoundAccount } from '#service/live/accounts/account-view.ts';
import { isSuspended } from '#service/live/accounts/suspended-accounts.ts';
import type { SuspendedList } from '#service/live/accounts/suspended-accounts.ts';

const account = { workchain: 0, id: Buffer.alloc(32, 7) };
const hash = Buffer.alloc(32, 9);
const masterchainBlock = { workchain: MASTERCHAIN, shard: FULL_SHARD, seqno: 5, rootHash: hash, fileHash: hash };
const shardBlock = { ...masterchainBlock, workchain: 0, seqno: 3 };
const pinned = { block: masterchainBlock, utime: 1_000, endLt: 0n, keyBlockSeqno: 0 };
const shard = { block: shardBlock, utime: 999 };

/** An account's cell as @ton/core writes it, found with a last transaction. */
function found(state: AccountState, extra?: Dictionary<number, bigint>): FoundAccount {
  const builder = beginCell().storeBit(true);
  builder.store(
    storeAccount({
      addr: new Address(account.workchain, account.id),
      storageStats: { used: { cells: 1n, bits: 2n }, lastPaid: 3, duePayment: null, storageExtra: null },
      storage: { lastTransLt: 77n, balance: { coins: 123n, other: extra ?? null }, state },
    }),
  );
  const table = parseBoc(builder.endCell().toBoc());
  return { shard, entry: { table, cell: table.roots[0]!, lastTransactionHash: hash, lastTransactionLt: 76n } };
}

function view(one: FoundAccount): Promise<AccountView> {
  return viewAccount(account, pinned, one, ({ table, cell }) => writeBoc(table, [cell], { crc32c: true }));
}

const code = beginCell().storeUint(1, 8).storeRef(beginCell().storeUint(2, 8)).endCell();
const data = beginCell()
  .storeUint(3, 300 % 256)
  .endCell();

describe('view of an account', () => {
  test('an active one has code and data as BoCs with CRC, whose cells are those of the account', async () => {
    const shown = await view(found({ type: 'active', state: { code, data } }));
    expect(shown).toMatchObject({
      state: 'active',
      balance: 123n,
      frozenHash: null,
      shardUtime: 999,
      shardBlock,
      masterchainBlock,
    });
    expect(shown.lastTransaction).toEqual({ lt: 76n, hash });
    expect(Cell.fromBoc(shown.code!)[0]!.hash()).toEqual(code.hash());
    expect(shown.data).toEqual(data.toBoc({ idx: false, crc32: true }));
  });

  test('an active one may lack code or data', async () => {
    expect(await view(found({ type: 'active', state: {} }))).toMatchObject({
      state: 'active',
      code: null,
      data: null,
    });
    expect((await view(found({ type: 'active', state: { code } }))).data).toBe(null);
  });

  test('a frozen one has its state hash and nothing else', async () => {
    const stateHash = BigInt(`0x${'ab'.repeat(32)}`);
    expect(await view(found({ type: 'frozen', stateHash }))).toMatchObject({
      state: 'frozen',
      code: null,
      data: null,
      frozenHash: Buffer.alloc(32, 0xab),
    });
  });

  test('an uninitialized one has a balance and a last transaction', async () => {
    expect(await view(found({ type: 'uninit' }))).toMatchObject({
      state: 'uninitialized',
      balance: 123n,
      lastTransaction: { lt: 76n },
      frozenHash: null,
    });
  });

  test('one that the state does not hold is empty, as of the shard block', async () => {
    expect(await view({ shard, entry: undefined })).toEqual({
      account,
      masterchainBlock,
      shardBlock,
      shardUtime: 999,
      state: 'uninitialized',
      balance: 0n,
      extraCurrencies: [],
      lastTransaction: { lt: 0n, hash: Buffer.alloc(32) },
      code: null,
      data: null,
      codeHash: null,
      dataHash: null,
      frozenHash: null,
      stateHash: null,
    });
  });

  test('extra currencies come in the order of the dictionary, ids signed', async () => {
    const extra = Dictionary.empty(Dictionary.Keys.Uint(32), Dictionary.Values.BigVarUint(5));
    extra
      .set(100, 5n)
      .set(0xfffffffe, 6n)
      .set(2, 2n ** 200n);
    const { extraCurrencies } = await view(found({ type: 'uninit' }, extra));
    expect(extraCurrencies).toEqual([
      { id: 2, amount: 2n ** 200n },
      { id: 100, amount: 5n },
      { id: -2, amount: 6n },
    ]);
  });
});

describe('suspension', () => {
  const until = 1_000;

  function listOf(...accounts: { workchain: number; id: Buffer }[]): SuspendedList {
    const addresses = Dictionary.empty(Dictionary.Keys.Buffer(36), { serialize: () => undefined, parse: () => true });
    for (const { workchain, id } of accounts) {
      const key = Buffer.alloc(36);
      key.writeInt32BE(workchain);
      id.copy(key, 4);
      addresses.set(key, true);
    }
    const table = parseBoc(beginCell().storeUint(0, 8).storeDict(addresses).storeUint(until, 32).endCell().toBoc());
    return { table, list: readSuspendedAddresses(table, table.roots[0]!) };
  }

  test.each<[string, SuspendedList, number, boolean]>([
    ['listed, before the time', listOf(account, { workchain: -1, id: hash }), until - 1, true],
    ['listed, at the time', listOf(account), until, false],
    ['another workchain listed', listOf({ ...account, workchain: -1 }), until - 1, false],
    ['another account listed', listOf({ ...account, id: hash }), until - 1, false],
    ['an empty list', listOf(), until - 1, false],
    ['no list', undefined, 0, false],
  ])('%s', (_name, list, utime, expected) => {
    expect(isSuspended(list, account, utime)).toBe(expected);
  });
});
