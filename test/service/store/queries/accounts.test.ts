import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { readAccountNames, readAccounts, readCodeMethods, readTopBalances } from '#service/store/queries/accounts.ts';
import type { StoreReader } from '#service/store/queries/reader.ts';
import type { CodeRow, LatestAccountStateRow } from '#service/store/tables.ts';
import { createRecordedIndex } from '#test/support/recorded-index.ts';
import type { StoreUnderTest } from '#test/support/store.ts';

let index: StoreUnderTest;
let reader: StoreReader;
let states: readonly LatestAccountStateRow[] = [];
let codes: ReadonlyMap<string, CodeRow>;

const text = (bytes: Uint8Array | null): string => (bytes === null ? '' : Buffer.from(bytes).toString('hex'));
function byAccount(a: { readonly account: Uint8Array }, b: { readonly account: Uint8Array }): number {
  return Buffer.compare(a.account, b.account);
}

const everyCode = { codeHashes: [], bocs: 'all' } as const;

beforeAll(async () => {
  index = await createRecordedIndex(import.meta.filename);
  reader = { read: (sql, values) => index.store.read(sql, values) };
  states = await reader.read<LatestAccountStateRow>('SELECT * FROM latest_account_states', []);
  const rows = await reader.read<CodeRow>('SELECT * FROM codes', []);
  codes = new Map(rows.map((row) => [text(row.code_hash), row]));
});
afterAll(() => index.close());

describe('accounts', () => {
  it('are read with their code, its methods and their data', async () => {
    const accounts = states.map(({ account }) => account);
    const found = await readAccounts(reader, { ...everyCode, accounts });
    const wanted = states.map(
      ({ data_boc: boc, data_boc_hash: bocHash, data_boc_lt: _lt, changed_lt: _changedLt, ...row }) => {
        const code = codes.get(text(row.code_hash));
        const data = text(bocHash) === text(row.data_hash) ? boc : null;
        return { ...row, data_boc: data, code_boc: code?.boc ?? null, methods: code?.methods ?? null };
      },
    );
    expect(found.toSorted(byAccount)).toEqual(wanted.toSorted(byAccount));
    expect(wanted.filter((row) => row.code_boc !== null && row.data_boc !== null).length).toBeGreaterThan(20);
    const unknown = Buffer.alloc(33, 7);
    const { rows: told } = await readAccountNames(reader, [unknown, ...accounts, unknown], undefined);
    const byKey = new Map(wanted.map((row) => [text(row.account), row]));
    const wantedCodes = accounts.map((account) => {
      return { code_hash: byKey.get(text(account))!.code_hash, domain: null, is_token: false, is_indexed: true };
    });
    const nothing = { code_hash: null, domain: null, is_token: false, is_indexed: false };
    expect(told).toMatchObject([nothing, ...wantedCodes, nothing]);
    const methods = await readCodeMethods(reader, [...[...codes.values()].map((row) => row.code_hash), unknown]);
    expect(new Map(methods.map((row) => [text(row.code_hash), row.methods]))).toEqual(
      new Map([...codes].map(([key, row]) => [key, row.methods])),
    );
  });

  it('are read without bags, or with data alone, when no more is asked for', async () => {
    const account = states.find((row) => row.code_hash !== null && text(row.data_boc_hash) === text(row.data_hash))!;
    const read = async (bocs: 'none' | 'data') =>
      (await readAccounts(reader, { accounts: [account.account], codeHashes: [], bocs }))[0]!;
    expect(await read('none')).toMatchObject({ data_boc: null, code_boc: null, code_hash: account.code_hash });
    expect(await read('data')).toMatchObject({ data_boc: account.data_boc, code_boc: null });
  });

  it('whose data a later block changed without carrying it have none', async () => {
    const { account } = states.find((row) => row.data_boc !== null)!;
    const change = 'UPDATE latest_account_states SET data_hash = $2 WHERE account = $1';
    await index.store.transaction(({ query }) => query(change, [account, Buffer.alloc(32, 5)]));
    const [row] = await readAccounts(reader, { ...everyCode, accounts: [account] });
    expect(row!.data_boc).toBeNull();
  });

  it('are filtered by code; those that are not indexed are not there', async () => {
    const accounts = [...states.map(({ account }) => account), Buffer.alloc(33, 9), Buffer.alloc(0)];
    const { code_hash: wanted } = states.find((row) => row.code_hash !== null)!;
    const found = await readAccounts(reader, { ...everyCode, accounts, codeHashes: [wanted!] });
    expect(found.map((row) => text(row.code_hash))).toEqual(
      states.filter((row) => text(row.code_hash) === text(wanted)).map(() => text(wanted)),
    );
    expect(await readAccounts(reader, { ...everyCode, accounts: accounts.slice(-2) })).toEqual([]);
  });

  it('come by balance, and those with the same by address', async () => {
    const all = states.toSorted((a, b) => Number(b.balance - a.balance) || Buffer.compare(a.account, b.account));
    for (const [limit, offset] of [
      [1000, 0],
      [10, 5],
      [3, 40],
    ] as const) {
      const found = await readTopBalances(reader, { limit, offset });
      const wanted = all.slice(offset, offset + limit).map(({ account, balance }) => ({ account, balance }));
      expect(found).toEqual(wanted);
    }
    expect(await readTopBalances(reader, { limit: 1, offset: Number.MAX_SAFE_INTEGER })).toEqual([]);
  });
});
