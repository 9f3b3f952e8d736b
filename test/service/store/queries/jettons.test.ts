import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import {
  findJettonBurns,
  findJettonMasters,
  findJettonTransfers,
  findJettonWallets,
  jettonWalletOrder,
  type JettonTransferFilter,
  type JettonWalletFilter,
} from '#service/store/queries/jettons.ts';
import { positionOf, type Position } from '#service/store/queries/order.ts';
import type { StoreReader } from '#service/store/queries/reader.ts';
import type { StoreUnderTest } from '#test/support/store.ts';
import { createTokenStore, drawTokens, keyOf } from '#test/support/token-rows.ts';
import {
  addressesOf,
  among,
  compareKeys,
  cut,
  fewOf,
  inWindow,
  page,
  sortedPage,
  transactionsOf,
  transferOrder,
  window,
} from './made-lists.ts';

const tokens = drawTokens(20_261_121);
let made: StoreUnderTest;
let reader: StoreReader;

beforeAll(async () => {
  made = await createTokenStore(import.meta.filename, tokens);
  reader = { read: (sql, values) => made.store.read(sql, values) };
});
afterAll(() => made.close());

const owners = fewOf('owner', 7);
const masters = fewOf('master', 5);

/** Wallets by the contract (service/v3/README.md#order). */
function expectedWallets(
  filter: JettonWalletFilter,
  turn: 'asc' | 'desc' | undefined,
): readonly { address: Uint8Array }[] {
  const found = tokens.wallets.filter(
    (row) =>
      among(filter.addresses, row.address) &&
      among(filter.owners, row.owner) &&
      among(filter.jettons, row.jetton) &&
      (!filter.excludesEmpty || row.balance > 0n),
  );
  const seen = new Map(tokens.wallets.map((row, at) => [row, at]));
  const byAddress = filter.addresses.length > 0 && filter.owners.length === 0 && filter.jettons.length === 0;
  return found.toSorted((a, b) => {
    const isByOwner = filter.owners.length > 0 && filter.jettons.length !== 1;
    const byOwner = isByOwner ? Buffer.compare(a.owner, b.owner) : 0;
    if (byOwner !== 0) return byOwner;
    const first = seen.get(a)! - seen.get(b)!;
    if (turn === undefined) return byAddress ? Buffer.compare(a.address, b.address) : first;
    return (turn === 'asc' ? 1 : -1) * (Number(a.balance - b.balance) || first);
  });
}

function isOfContracts(
  filter: JettonTransferFilter,
  row: { readonly jetton_wallet: Uint8Array; readonly jetton_master: Uint8Array },
): boolean {
  return (
    among(filter.wallets, row.jetton_wallet) &&
    among(filter.master === undefined ? [] : [filter.master], row.jetton_master)
  );
}

describe('jetton masters', () => {
  it('are those that all filters let through, as they were first seen, or by address when named', async () => {
    const filters = fc.record({ addresses: fewOf('master', 14), admins: fewOf('admin', 4) });
    let some = 0;
    await fc.assert(
      fc.asyncProperty(filters, page, async (filter, shown) => {
        const found = tokens.masters.filter(
          (row) => among(filter.addresses, row.address) && among(filter.admins, row.admin),
        );
        const wanted = filter.addresses.length > 0 ? found.toSorted(compareKeys(({ address }) => [address])) : found;
        some += Math.min(1, wanted.length);
        expect(addressesOf(await findJettonMasters(reader, filter, shown))).toEqual(addressesOf(cut(wanted, shown)));
      }),
      { seed: 10, numRuns: 200 },
    );
    expect(some).toBeGreaterThan(50);
  });

  it('jetton masters have all columns of their rows', async () => {
    const [row] = await findJettonMasters(
      reader,
      { addresses: [keyOf('master', 3)], admins: [] },
      { limit: 1, offset: 0 },
    );
    expect(row).toMatchObject(tokens.masters.find(({ total_supply: supply }) => supply === 3n * 10n ** 20n)!);
  });
});

describe('jetton wallets', () => {
  const filters = fc.record({
    addresses: fc.oneof({ weight: 3, arbitrary: fc.constant([]) }, fewOf('wallet', 110)),
    owners,
    jettons: masters,
    excludesEmpty: fc.boolean(),
  });
  const sort = fc.constantFrom(undefined, 'asc' as const, 'desc' as const);

  it('are those that all filters let through, in the order of the contract', async () => {
    let some = 0;
    await fc.assert(
      fc.asyncProperty(filters, page, sort, async (filter, shown, turn) => {
        const wanted = addressesOf(cut(expectedWallets(filter, turn), shown));
        some += Math.min(1, wanted.length);
        const rows = await findJettonWallets(reader, filter, { ...shown, sort: turn });
        expect(addressesOf(rows)).toEqual(wanted);
      }),
      { seed: 11, numRuns: 500 },
    );
    expect(some).toBeGreaterThan(200);
  });

  it.each([undefined, 'asc', 'desc'] as const)(
    'of several owners and one jetton are in the order of the jetton, page by page: %s',
    async (turn) => {
      const jettonOf = (row: (typeof tokens.wallets)[number]): string => Buffer.from(row.jetton).toString('hex');
      const largest = [...Map.groupBy(tokens.wallets, jettonOf).values()].toSorted((a, b) => b.length - a.length)[0]!;
      const filter = {
        addresses: [],
        owners: largest.map(({ owner }) => owner),
        jettons: [largest[0]!.jetton],
        excludesEmpty: false,
      };
      const wanted = addressesOf(expectedWallets(filter, turn));
      expect(new Set(largest.map(({ owner }) => Buffer.from(owner).toString('hex'))).size).toBeGreaterThan(2);
      const found: string[] = [];
      for (let after: Position | undefined; ;) {
        const rows = await findJettonWallets(reader, filter, { limit: 2, offset: 0, sort: turn, after });
        found.push(...addressesOf(rows));
        if (rows.length < 2) break;
        after = positionOf(jettonWalletOrder(filter, { sort: turn }), rows.at(-1)!);
      }
      expect(found).toEqual(wanted);
    },
  );
});

describe('jetton transfers and burns', () => {
  const rest = {
    owners,
    wallets: fewOf('wallet', 8),
    master: fc.option(
      masters.map(([one]) => one),
      { nil: undefined },
    ),
  };
  const filters = fc.tuple(fc.record(rest), window).map(([filter, bounds]) => ({ ...filter, ...bounds }));
  const direction = fc.constantFrom(undefined, 'in' as const, 'out' as const);

  it('are transfers that were done, sent or received by any of the owners', async () => {
    let some = 0;
    await fc.assert(
      fc.asyncProperty(filters, direction, sortedPage, async (filter, side, shown) => {
        const found = tokens.jettonTransfers.filter(
          (row) =>
            !row.tx_aborted &&
            !(side === 'in' && row.returned) &&
            isOfContracts(filter, row) &&
            inWindow(filter, row) &&
            (filter.owners.length === 0 ||
              (side !== 'in' && among(filter.owners, row.source)) ||
              (side !== 'out' && among(filter.owners, row.destination))),
        );
        const wanted = transactionsOf(cut(transferOrder(found, filter, shown), shown));
        some += Math.min(1, wanted.length);
        const rows = await findJettonTransfers(reader, { ...filter, direction: side }, shown);
        expect(transactionsOf(rows)).toEqual(wanted);
      }),
      { seed: 12, numRuns: 500 },
    );
    expect(some).toBeGreaterThan(100);
  });

  it('are burns of any of the owners, those that came to nothing too', async () => {
    let some = 0;
    await fc.assert(
      fc.asyncProperty(filters, sortedPage, async (filter, shown) => {
        const found = tokens.jettonBurns.filter(
          (row) => among(filter.owners, row.owner) && isOfContracts(filter, row) && inWindow(filter, row),
        );
        const wanted = transactionsOf(cut(transferOrder(found, filter, shown), shown));
        some += Math.min(1, wanted.length);
        expect(transactionsOf(await findJettonBurns(reader, filter, shown))).toEqual(wanted);
      }),
      { seed: 13, numRuns: 300 },
    );
    expect(some).toBeGreaterThan(50);
  });
});
