import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { dnsEntries } from '#service/store/classification-tables.ts';
import { readAccountNames } from '#service/store/queries/accounts.ts';
import { findDnsRecords } from '#service/store/queries/dns.ts';
import { addRows, dnsEntry, keyOf } from '#test/support/contract-rows.ts';
import type { StoreUnderTest } from '#test/support/store.ts';
import { createMigratedStore } from '#test/support/templates.ts';

let index: StoreUnderTest;
const all = { limit: 100, offset: 0 };

const [alice, bob, carol] = [keyOf(1), keyOf(2), keyOf(3)];

/** Names of items 10, 11, ...: their owner, and whom they stand for. */
const names: readonly (readonly [domain: string, owner: Buffer | null, wallet: Buffer | null])[] = [
  ['longer.ton', alice, alice],
  ['b-b.ton', alice, alice],
  ['bob.ton', bob, bob],
  ['a.ton', bob, alice],
  ['bAb.ton', alice, alice],
  ['c.ton', carol, null],
  ['bob.ton', null, alice],
];

beforeAll(async () => {
  index = await createMigratedStore(import.meta.filename);
  const rows = names.map(([domain, nft_item_owner, wallet], at) =>
    dnsEntry({ nft_item: keyOf(10 + at), domain, nft_item_owner, wallet }),
  );
  await addRows(index.store, dnsEntries, rows);
});
afterAll(() => index.close());

type Page = Parameters<typeof findDnsRecords>[2];
const domainsOf = async (filter: Parameters<typeof findDnsRecords>[1], page: Page = all): Promise<string[]> =>
  (await findDnsRecords(index.store, filter, page)).map(({ domain }) => domain);

describe('records of names', () => {
  it('of a wallet come the shortest first, and those of one length by their bytes', async () => {
    expect(await domainsOf({ wallet: alice })).toEqual(['a.ton', 'b-b.ton', 'bAb.ton', 'bob.ton', 'longer.ton']);
    expect(await domainsOf({ wallet: alice }, { limit: 2, offset: 1 })).toEqual(['b-b.ton', 'bAb.ton']);
    expect(await domainsOf({ wallet: carol })).toEqual([]);
    const [, , third] = await findDnsRecords(index.store, { wallet: alice }, all);
    const after = [third!.length, third!.name, third!.nft_item];
    expect(await domainsOf({ wallet: alice }, { ...all, after })).toEqual(['bob.ton', 'longer.ton']);
  });

  it('of a domain are those of exactly this spelling, by item', async () => {
    const found = await findDnsRecords(index.store, { domain: 'bob.ton' }, all);
    expect(found.map(({ nft_item: item }) => Buffer.from(item))).toEqual([keyOf(12), keyOf(16)]);
    expect(await domainsOf({ domain: 'BOB.ton' })).toEqual([]);
    expect(await domainsOf({ domain: 'bob' })).toEqual([]);
    expect(await domainsOf({ domain: 'bob.ton\0' })).toEqual([]);
  });

  it('give an account the shortest of the names that it owns and that stand for it', async () => {
    const { rows: found } = await readAccountNames(index.store, [alice, bob, carol], undefined);
    expect(found.map(({ domain }) => domain)).toEqual(['b-b.ton', 'bob.ton', null]);
    expect(found.every(({ code_hash: hash }) => hash === null)).toBe(true);
  });
});
