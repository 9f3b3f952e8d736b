import { describe, expect, test } from 'vitest';

import { TonplaneError } from '#service/error.ts';
import type { LiveAccount } from '#service/live/accounts/accounts.ts';
import { accountKey } from '#service/store/account-key.ts';
import type { AccountRow } from '#service/store/queries/accounts.ts';
import { createAccountContents, type WantedContents } from '#service/v3/views/account-contents.ts';
import type { V3Context } from '#service/v3/request/operation.ts';
import { activeAccount, bytes32, scriptAccounts, type AccountRead } from '#test/service/v2/scripted-accounts.ts';

const [code, data] = [Buffer.from('code'), Buffer.from('data')];
const indexedSeqno = 700;

/** A row that lacks what is given as null. */
function accountRow(byte: number, given: Partial<AccountRow> = {}): AccountRow {
  return {
    account: accountKey({ workchain: 0, id: bytes32(byte) }),
    hash: bytes32(byte),
    balance: 1n,
    extra_currencies: null,
    status: 2,
    utime: 1,
    last_trans_hash: bytes32(byte),
    last_trans_lt: 1n,
    frozen_hash: null,
    data_hash: bytes32(0xd),
    code_hash: bytes32(0xc),
    data_boc: null,
    code_boc: null,
    methods: null,
    ...given,
  };
}

/** A row of an account with other currencies, of which blocks did not show the amounts. */
const holder = (byte: number): AccountRow => accountRow(byte, { extra_currencies: {} });

/** The index has one masterchain block; nothing else of the request is looked at. */
const context = {
  store: { read: () => Promise.resolve([{ seqno: indexedSeqno }]) },
} as unknown as V3Context;

const all: WantedContents = { bocs: 'all', of: () => true };

/** @param changed accounts that have moved on since the indexed block, by the first byte of their id */
function scripted(
  changed: readonly number[] = [],
  failure?: Error,
  extraCurrencies: LiveAccount['extraCurrencies'] = [],
) {
  const reads: AccountRead[] = [];
  const accounts = scriptAccounts({
    account: (read) => {
      reads.push(read);
      if (failure !== undefined && read.seqno !== undefined) throw failure;
      const [byte] = read.account.id;
      const hash = changed.includes(byte!) && read.seqno === undefined ? bytes32(0xee) : bytes32(byte!);
      return activeAccount(read.account, { code, data, extraCurrencies, stateHash: hash });
    },
  });
  return { reads, contents: createAccountContents({ accounts }) };
}

class Failure extends TonplaneError<string, object> {
  constructor(failureCode: string) {
    super({ code: failureCode, message: failureCode, data: {}, retryable: true });
  }
}

describe('what the index does not hold of accounts', () => {
  test('is read from lite servers, and nothing else is', async () => {
    const { reads, contents } = scripted();
    const whole = accountRow(1, { data_boc: Buffer.from('d'), code_boc: Buffer.from('c') });
    const empty = accountRow(2, { data_hash: null, code_hash: null, status: 0 });
    const found = await contents.complete(
      [whole, accountRow(3), empty, accountRow(4, { data_boc: Buffer.from('d') })],
      all,
      context,
    );
    expect(found.map((row) => [row.data_boc, row.code_boc].map((boc) => boc && Buffer.from(boc).toString()))).toEqual([
      ['d', 'c'],
      ['data', 'code'],
      [null, null],
      ['d', 'code'],
    ]);
    expect(reads.map(({ account }) => account.id[0])).toEqual([3, 4]);
  });

  test('is other currencies too, of every row and with any bags of cells', async () => {
    for (const bocs of ['none', 'data'] as const) {
      const { reads, contents } = scripted([], undefined, [
        { id: 100, amount: 7n },
        { id: -1, amount: 1n },
      ]);
      const known = accountRow(2, { extra_currencies: { '5': '5' }, data_boc: data });
      const rows = [holder(1), known, accountRow(3, { data_boc: data }), holder(4)];
      const found = await contents.complete(rows, { bocs, of: ({ hash }) => hash[0] !== 4 }, context);
      const shown = { '100': '7', '4294967295': '1' };
      expect(found.map((row) => row.extra_currencies)).toEqual([shown, { '5': '5' }, null, shown]);
      expect(found.map((row) => row.data_boc)).toEqual([bocs === 'none' ? null : data, data, data, null]);
      expect(reads.map(({ account }) => account.id[0])).toEqual([1, 4]);
    }
    const [spent] = await scripted().contents.complete([holder(1)], { bocs: 'none', of: () => true }, context);
    expect(spent!.extra_currencies).toBeNull();
    const gone = scripted([7], new Failure('pruned')).contents;
    const [unknown] = await gone.complete([holder(7)], { bocs: 'none', of: () => true }, context);
    expect(unknown!.extra_currencies).toEqual({});
  });

  test('is only what is wanted', async () => {
    const { reads, contents } = scripted();
    const rows = [accountRow(1), accountRow(2), accountRow(3, { data_boc: data })];
    const found = await contents.complete(rows, { bocs: 'data', of: ({ hash }) => hash[0] !== 2 }, context);
    expect(found.map((row) => [row.data_boc, row.code_boc])).toEqual([
      [data, null],
      [null, null],
      [data, null],
    ]);
    expect(reads.map(({ account }) => account.id[0])).toEqual([1]);
  });

  test('of an account that has moved on is read at the newest indexed block', async () => {
    const { reads, contents } = scripted([7]);
    const [found] = await contents.complete([accountRow(7)], all, context);
    expect([found!.data_boc, found!.code_boc]).toEqual([data, code]);
    expect(reads.map(({ seqno }) => seqno)).toEqual([undefined, indexedSeqno]);
  });

  test('of an account that changes while it is read is that of its newer row', async () => {
    const moments = [0xa, 0xb, 0xc].map((byte) => accountRow(7, { hash: bytes32(byte), balance: BigInt(byte) }));
    const rows = moments.values();
    const busy = {
      store: {
        read: (sql: string) =>
          Promise.resolve(sql.includes('latest_account_states') ? [rows.next().value] : [{ seqno: indexedSeqno }]),
      },
    } as unknown as V3Context;
    const accounts = scriptAccounts({
      account: ({ account }) => activeAccount(account, { code, data, stateHash: bytes32(0xb) }),
    });
    const [found] = await createAccountContents({ accounts }).complete([rows.next().value!], all, busy);
    expect([found!.hash, found!.balance, found!.data_boc]).toEqual([bytes32(0xb), 0xbn, data]);
  });

  test('of an account that never stands still stays unknown', async () => {
    let reads = 0;
    const busy = {
      store: {
        read: (sql: string) =>
          Promise.resolve([sql.includes('latest_account_states') ? accountRow(7) : { seqno: indexedSeqno }]),
      },
    } as unknown as V3Context;
    const accounts = scriptAccounts({
      account: ({ account }) => {
        reads += 1;
        return activeAccount(account, { code, data, stateHash: bytes32(0xee) });
      },
    });
    const [found] = await createAccountContents({ accounts }).complete([accountRow(7)], all, busy);
    expect([found!.data_boc, reads]).toEqual([null, 6]);
  });

  test('stays unknown when no lite server has that block any more; other failures are reported', async () => {
    const { contents } = scripted([7], new Failure('pruned'));
    const [found] = await contents.complete([accountRow(7)], all, context);
    expect([found!.data_boc, found!.code_boc]).toEqual([null, null]);
    const failing = scripted([7], new Failure('deadline')).contents;
    await expect(failing.complete([accountRow(7)], all, context)).rejects.toMatchObject({ code: 'deadline' });
  });

  test('is asked for some accounts at a time', async () => {
    let [running, most] = [0, 0];
    const accounts = scriptAccounts({
      account: async ({ account }) => {
        most = Math.max(most, (running += 1));
        await new Promise((done) => setImmediate(done));
        running -= 1;
        return activeAccount(account, { code, data, stateHash: bytes32(account.id[0]!) });
      },
    });
    const rows = Array.from({ length: 100 }, (_, byte) => accountRow(byte));
    const found = await createAccountContents({ accounts }).complete(rows, all, context);
    expect(found.every((row, at) => row.data_boc === data && row.hash[0] === at)).toBe(true);
    expect(most).toBe(8);
  });

  test('is refused when it is more than an answer may hold', async () => {
    const large = Buffer.alloc(7 * 1024 * 1024);
    const rows = [
      accountRow(1, { data_boc: large, code_boc: code }),
      accountRow(2, { data_boc: large, code_boc: code }),
    ];
    const { contents } = scripted();
    await expect(contents.complete(rows, all, context)).rejects.toMatchObject({ code: 'invalid_parameter' });
    expect(await contents.complete(rows.slice(1), all, context)).toHaveLength(1);
  });
});
