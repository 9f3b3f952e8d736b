import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { multisigOrders, multisigs } from '#service/store/classification-tables.ts';
import { findMultisigOrders, findMultisigs, findOrdersOf } from '#service/store/queries/multisigs.ts';
import { addRows, keyOf, multisigOrderRow, multisigRow } from '#test/support/contract-rows.ts';
import type { StoreUnderTest } from '#test/support/store.ts';
import { createMigratedStore } from '#test/support/templates.ts';

let index: StoreUnderTest;
const page = { limit: 100, offset: 0, sort: 'asc' } as const;
const [alice, bob, carol] = [keyOf(1), keyOf(2), keyOf(3)];

/** As they were first seen: not in the order of their addresses. */
const wallets = [
  multisigRow({ address: keyOf(30), signers: [alice, bob], next_order_seqno: 2n ** 256n - 1n }),
  multisigRow({ address: keyOf(10), signers: [bob], proposers: [carol] }),
  multisigRow({ address: keyOf(20), signers: [carol], proposers: [alice] }),
];
const orders = [
  multisigOrderRow({ address: keyOf(102), multisig: keyOf(30), order_seqno: 2n ** 256n - 1n, approvals_mask: 5n }),
  multisigOrderRow({ address: keyOf(103), multisig: keyOf(10) }),
  multisigOrderRow({ address: keyOf(101), multisig: keyOf(30), expiration_date: 2n ** 48n - 1n }),
];

beforeAll(async () => {
  index = await createMigratedStore(import.meta.filename);
  await addRows(index.store, multisigs, wallets);
  await addRows(index.store, multisigOrders, orders);
});
afterAll(() => index.close());

type Filter = Parameters<typeof findMultisigs>[1];
const none: Filter = { addresses: [], wallets: [] };

const numbersOf = (rows: readonly { readonly address: Uint8Array }[]): number[] =>
  rows.map(({ address }) => Buffer.from(address).readUInt32BE(1));
const multisigsOf = async (filter: Partial<Filter>, part = {}): Promise<number[]> =>
  numbersOf(await findMultisigs(index.store, { ...none, ...filter }, { ...page, ...part }));

const changeSigners = (signers: readonly Uint8Array[]): Promise<unknown> =>
  index.store.transaction(({ query }) =>
    query('UPDATE multisigs SET signers = $1 WHERE address = $2', [signers, keyOf(20)]),
  );

describe('multisigs', () => {
  it('of someone are those that he signs or proposes to, as they were first seen', async () => {
    expect(await multisigsOf({ wallets: [alice] })).toEqual([30, 20]);
    expect(await multisigsOf({ wallets: [alice] }, { sort: 'desc' })).toEqual([20, 30]);
    expect(await multisigsOf({ wallets: [bob, carol] }, { limit: 1, offset: 1 })).toEqual([10]);
    expect(await multisigsOf({ wallets: [keyOf(9)] })).toEqual([]);
    expect(await multisigsOf({ wallets: [alice] }, { after: [1n] })).toEqual([20]);
    expect(await multisigsOf({ wallets: [alice] }, { after: [2n], sort: 'desc' })).toEqual([30]);
  });

  it('a search by account finds the multisigs whose signers or proposers have the account now', async () => {
    await changeSigners([bob, keyOf(9), bob]);
    expect(await multisigsOf({ wallets: [keyOf(9)] })).toEqual([20]);
    expect(await multisigsOf({ wallets: [carol] })).toEqual([10]);
    expect(await multisigsOf({ wallets: [alice] })).toEqual([30, 20]);
    await changeSigners([carol]);
    expect(await multisigsOf({ wallets: [carol, carol] })).toEqual([10, 20]);
    expect(await multisigsOf({ wallets: [keyOf(9)] })).toEqual([]);
  });

  it("that are gone are nobody's", async () => {
    const members = () => index.store.read('SELECT FROM multisig_members WHERE member = $1', [keyOf(8)]);
    await addRows(index.store, multisigs, [multisigRow({ address: keyOf(40), signers: [keyOf(8)] })]);
    expect(await members()).toHaveLength(1);
    await index.store.transaction(({ query }) => query('DELETE FROM multisigs WHERE address = $1', [keyOf(40)]));
    expect(await members()).toHaveLength(0);
  });

  it('requested by address come as they were first seen, in either direction', async () => {
    const addresses = wallets.map(({ address }) => address).toReversed();
    expect(await multisigsOf({ addresses })).toEqual([30, 10, 20]);
    expect(await multisigsOf({ addresses }, { sort: 'desc' })).toEqual([20, 10, 30]);
    expect(await multisigsOf({ addresses }, { after: [1n] })).toEqual([10, 20]);
    expect(await multisigsOf({ addresses }, { after: [2n], sort: 'desc' })).toEqual([30]);
    expect(await multisigsOf({ addresses, wallets: [alice] })).toEqual([30, 20]);
  });

  it('have all digits of their numbers', async () => {
    const [row] = await findMultisigs(index.store, { ...none, addresses: [keyOf(30)] }, page);
    expect(row).toEqual({ ...wallets[0], signers: [alice, bob], id: 1n });
  });
});

const ordersOf = async (filter: object, part = {}): Promise<number[]> => {
  const wanted = { addresses: [], multisigs: [], ...filter };
  return numbersOf(await findMultisigOrders(index.store, wanted, { ...page, ...part }));
};

describe('orders', () => {
  it('of a multisig come as they were first seen', async () => {
    expect(await ordersOf({ multisigs: [keyOf(30)] })).toEqual([102, 101]);
    expect(await ordersOf({ multisigs: [keyOf(30), keyOf(10)] }, { sort: 'desc' })).toEqual([101, 103, 102]);
    expect(await ordersOf({ multisigs: [keyOf(20)] })).toEqual([]);
    expect(await ordersOf({ multisigs: [keyOf(30)] }, { after: [keyOf(30), 3n], sort: 'desc' })).toEqual([102]);
    expect(await ordersOf({ multisigs: [keyOf(30), keyOf(10)] }, { after: [1n] })).toEqual([103, 101]);
  });

  it('requested by address come as they were first seen, in either direction', async () => {
    const addresses = orders.map(({ address }) => address).toReversed();
    expect(await ordersOf({ addresses })).toEqual([102, 103, 101]);
    expect(await ordersOf({ addresses }, { sort: 'desc' })).toEqual([101, 103, 102]);
    expect(await ordersOf({ addresses }, { after: [2n] })).toEqual([101]);
    expect(await ordersOf({ addresses, multisigs: [keyOf(30)] }, { sort: 'desc' })).toEqual([101, 102]);
    expect(await ordersOf({ addresses: [keyOf(102), keyOf(103)], multisigs: [keyOf(10)] })).toEqual([103]);
  });

  it('are read as they were written', async () => {
    const found = await findMultisigOrders(index.store, { addresses: [], multisigs: [keyOf(30)] }, page);
    expect(found).toEqual([
      { ...orders[0], id: 1n },
      { ...orders[2], id: 3n },
    ]);
  });

  it('of several multisigs are no more than were asked for', async () => {
    expect(numbersOf(await findOrdersOf(index.store, [keyOf(10), keyOf(30)], 2))).toEqual([102, 103]);
    expect(await findOrdersOf(index.store, [], 2)).toEqual([]);
  });
});
