import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { vestingContracts } from '#service/store/classification-tables.ts';
import { seenOrder } from '#service/store/queries/first-seen.ts';
import { positionOf } from '#service/store/queries/order.ts';
import { findVestings, type VestingFilter } from '#service/store/queries/vestings.ts';
import { addRows, keyOf, vestingRow } from '#test/support/contract-rows.ts';
import type { StoreUnderTest } from '#test/support/store.ts';
import { createMigratedStore } from '#test/support/templates.ts';

let index: StoreUnderTest;
const [alice, bob, carol] = [keyOf(1), keyOf(2), keyOf(3)];

/** As they were first seen: not in the order of their addresses. */
const contracts = [
  vestingRow({ address: keyOf(30), sender: alice, owner: bob, whitelist: [carol], start_time: 2n ** 63n - 1n }),
  vestingRow({ address: keyOf(10), sender: bob, owner: bob, total_amount: 2n ** 120n - 1n }),
  vestingRow({ address: keyOf(20), sender: carol, owner: alice }),
];

beforeAll(async () => {
  index = await createMigratedStore(import.meta.filename);
  await addRows(index.store, vestingContracts, contracts);
});
afterAll(() => index.close());

const found = (filter: Partial<VestingFilter>, limit = 100) =>
  findVestings(index.store, { addresses: [], wallets: [], inWhitelist: false, ...filter }, { limit, offset: 0 });
const numbersOf = async (filter: Partial<VestingFilter>, limit?: number): Promise<number[]> =>
  (await found(filter, limit)).map(({ address }) => Buffer.from(address).readUInt32BE(1));
const listed = (wallet: Buffer): Promise<number[]> => numbersOf({ wallets: [wallet], inWhitelist: true });

describe('vesting contracts', () => {
  it('of someone are those that he sends to or owns, as they were first seen', async () => {
    expect(await numbersOf({ wallets: [alice] })).toEqual([30, 20]);
    expect(await numbersOf({ wallets: [bob, carol] })).toEqual([30, 10, 20]);
    expect(await numbersOf({ wallets: [bob, carol] }, 2)).toEqual([30, 10]);
    expect(await numbersOf({ wallets: [keyOf(9)] })).toEqual([]);
  });

  it('may have him on their whitelist instead', async () => {
    expect(await numbersOf({ wallets: [carol] })).toEqual([20]);
    expect(await numbersOf({ wallets: [carol], inWhitelist: true })).toEqual([30, 20]);
  });

  it.each([false, true])(
    'come in pages, whitelists too: %s, by offset and behind a place alike',
    async (inWhitelist) => {
      const wallets = [alice, bob, carol];
      const filter = { addresses: [], wallets, inWhitelist };
      const all = await found(filter);
      expect(all.map(({ id }) => id)).toEqual([1n, 2n, 3n]);
      for (const [at, row] of all.entries()) {
        const after = at === 0 ? undefined : positionOf(seenOrder('asc'), all[at - 1]!);
        expect(await findVestings(index.store, filter, { limit: 1, offset: at })).toEqual([row]);
        expect(await findVestings(index.store, filter, { limit: 1, offset: 0, after })).toEqual([row]);
      }
    },
  );

  it('are told of a whitelist as it is now, and of none that is gone', async () => {
    const [dave, erin] = [keyOf(4), keyOf(5)];
    const change = (sql: string, values: readonly unknown[]): Promise<unknown> =>
      index.store.transaction(({ query }) => query(`${sql} WHERE address = '\\x${keyOf(40).toString('hex')}'`, values));
    await addRows(index.store, vestingContracts, [vestingRow({ address: keyOf(40), whitelist: [dave, dave] })]);
    expect(await listed(dave)).toEqual([40]);
    await change('UPDATE vesting_contracts SET whitelist = $1', [[erin]]);
    expect([await listed(dave), await listed(erin)]).toEqual([[], [40]]);
    await change('DELETE FROM vesting_contracts', []);
    expect(await index.store.read('SELECT FROM vesting_whitelisted WHERE member = $1', [erin])).toEqual([]);
  });

  it('requested by address come as they were first seen, with all they say', async () => {
    const addresses = contracts.map(({ address }) => address).toReversed();
    const all = contracts.map((row, at) => ({ ...row, id: BigInt(at + 1) }));
    expect(await found({ addresses })).toEqual(all);
    const filter = { addresses, wallets: [], inWhitelist: false };
    expect(await findVestings(index.store, filter, { limit: 2, offset: 0, after: [1n] })).toEqual(all.slice(1));
  });
});
