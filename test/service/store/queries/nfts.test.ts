import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import type { NftItemRow } from '#service/store/classification-tables.ts';
import {
  findNftCollections,
  findNftItems,
  findNftTransfers,
  nftItemsOrder,
  readCollectionsOfItems,
  readNftSales,
  type NftItemFilter,
} from '#service/store/queries/nfts.ts';
import { positionOf, type Position } from '#service/store/queries/order.ts';
import type { StoreReader } from '#service/store/queries/reader.ts';
import type { StoreUnderTest } from '#test/support/store.ts';
import { createTokenStore, drawTokens } from '#test/support/token-rows.ts';
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

const tokens = drawTokens(20_261_122);
let made: StoreUnderTest;
let reader: StoreReader;

beforeAll(async () => {
  made = await createTokenStore(import.meta.filename, tokens);
  reader = { read: (sql, values) => made.store.read(sql, values) };
});
afterAll(() => made.close());

/** Rows of one list that are read page by page. */
const PAGED_MAX = 30;

const owners = fewOf('owner', 7);
const same = (a: Uint8Array | null, b: Uint8Array | null): boolean =>
  a === b || (a !== null && b !== null && Buffer.compare(a, b) === 0);
const saleOf = (item: NftItemRow) =>
  tokens.sales.find(({ address, nft }) => same(nft, item.address) && same(address, item.owner));

/** Whose it is for the filter: with sales, the seller's. */
function holderOf(item: NftItemRow, { includesOnSale }: NftItemFilter): Uint8Array | null {
  return (includesOnSale ? saleOf(item)?.nft_owner : undefined) ?? item.owner;
}

/** Items by the contract (service/v3/README.md#order). */
function expectedItems(filter: NftItemFilter): readonly NftItemRow[] {
  const seen = new Map(tokens.items.map((row, at) => [row, BigInt(at)]));
  const found = tokens.items.filter(
    (row) =>
      among(filter.addresses, row.address) &&
      among(filter.owners, holderOf(row, filter)) &&
      among(filter.collections, row.collection) &&
      (filter.indexes.length === 0 || filter.indexes.includes(row.index)),
  );
  return found.toSorted(
    compareKeys((row) => {
      if (filter.newestFirst) return [-row.last_trans_lt, -seen.get(row)!];
      if (filter.collections.length === 1) return [row.collection, row.index];
      if (filter.owners.length > 0) return [holderOf(row, filter), row.collection, row.index];
      return filter.addresses.length > 0 && filter.collections.length === 0 ? [row.address] : [seen.get(row)!];
    }),
  );
}

describe('NFT collections', () => {
  it('are those that all filters let through, as they were first seen, or by address when named', async () => {
    const filters = fc.record({ addresses: fewOf('collection', 14), owners });
    let some = 0;
    await fc.assert(
      fc.asyncProperty(filters, page, async (filter, shown) => {
        const found = tokens.collections.filter(
          (row) => among(filter.addresses, row.address) && among(filter.owners, row.owner),
        );
        const wanted = filter.addresses.length > 0 ? found.toSorted(compareKeys(({ address }) => [address])) : found;
        some += Math.min(1, wanted.length);
        expect(addressesOf(await findNftCollections(reader, filter, shown))).toEqual(addressesOf(cut(wanted, shown)));
      }),
      { seed: 20, numRuns: 200 },
    );
    expect(some).toBeGreaterThan(50);
  });
});

describe('NFT items', () => {
  const filters = fc
    .record({
      addresses: fc.oneof({ weight: 3, arbitrary: fc.constant([]) }, fewOf('item', 130)),
      owners: fc.oneof(owners, fewOf('sale', 120)),
      collections: fewOf('collection', 4),
      indexes: fc.array(fc.bigInt({ min: 0n, max: 125n }), { maxLength: 12 }),
      withIndexes: fc.nat({ max: 3 }),
      includesOnSale: fc.boolean(),
      newestFirst: fc.nat({ max: 3 }),
    })
    .map(({ withIndexes, newestFirst, ...filter }): NftItemFilter => {
      const indexes = withIndexes === 0 ? filter.indexes : [];
      return { ...filter, indexes, newestFirst: newestFirst === 0 };
    });

  it('are those that all filters let through, in the order of the contract, each with the sale that holds it', async () => {
    const counts = { some: 0, sold: 0 };
    await fc.assert(
      fc.asyncProperty(filters, page, async (filter, shown) => {
        const wanted = cut(expectedItems(filter), shown);
        const rows = await findNftItems(reader, filter, shown);
        expect(addressesOf(rows)).toEqual(addressesOf(wanted));
        const sales = wanted.map(saleOf);
        expect(rows.map((row) => row.sale_type)).toEqual(sales.map((sale) => sale?.type ?? null));
        expect(rows.every((row, at) => same(row.sale_owner, sales[at]?.nft_owner ?? null))).toBe(true);
        counts.some += Math.min(1, wanted.length);
        counts.sold += filter.owners.length > 0 && filter.includesOnSale && sales.some(Boolean) ? 1 : 0;
      }),
      { seed: 21, numRuns: 800 },
    );
    expect(counts.some).toBeGreaterThan(200);
    expect(counts.sold).toBeGreaterThan(20);
  });

  it('go on behind any of them', async () => {
    let behindSome = 0;
    await fc.assert(
      fc.asyncProperty(filters, fc.integer({ min: 1, max: 7 }), async (filter, limit) => {
        const wanted = addressesOf(expectedItems(filter));
        const order = nftItemsOrder(filter);
        const seen: unknown[] = [];
        for (let after: Position | undefined; seen.length < Math.min(wanted.length, PAGED_MAX);) {
          const rows = await findNftItems(reader, filter, { limit, offset: 0, after });
          expect(rows.length).toBe(Math.min(limit, wanted.length - seen.length));
          seen.push(...addressesOf(rows));
          behindSome += after === undefined ? 0 : 1;
          after = positionOf(order, rows.at(-1)!);
        }
        expect(seen).toEqual(wanted.slice(0, seen.length));
      }),
      { seed: 22, numRuns: 300 },
    );
    expect(behindSome).toBeGreaterThan(300);
  });
});

describe('NFT sales', () => {
  it('are those among some accounts', async () => {
    const some = tokens.sales.slice(0, 5);
    const rows = await readNftSales(reader, [...some.map(({ address }) => address), tokens.items[0]!.address]);
    const byAddress = compareKeys(({ address }: { readonly address: Uint8Array }) => [address]);
    expect(rows.toSorted(byAddress)).toEqual(some.toSorted(byAddress));
  });
});

describe('collections of NFTs', () => {
  it('are those of some items, each once, and of no others', async () => {
    const { items, collections } = tokens;
    const some = [...items.filter((item) => item.collection === null).slice(0, 3), ...items.slice(0, 6)];
    const wanted = collections.filter(({ address }) => some.some(({ collection }) => same(collection, address)));
    expect(wanted.length).toBeGreaterThan(1);
    expect(wanted.length).toBeLessThan(collections.length);
    const asked = [...some, ...some].map(({ address }) => address);
    const rows = await readCollectionsOfItems(reader, [...asked, collections[0]!.address]);
    expect(addressesOf(rows).toSorted()).toEqual(addressesOf(wanted).toSorted());
    expect(await readCollectionsOfItems(reader, [])).toEqual([]);
  });
});

describe('NFT transfers', () => {
  it('are those that any of the owners gave or got, those that came to nothing too', async () => {
    const direction = fc.constantFrom(undefined, 'in' as const, 'out' as const);
    const filters = fc
      .tuple(
        fc.record({
          owners,
          items: fewOf('item', 8),
          collection: fc.option(
            fewOf('collection', 4).map(([one]) => one),
            { nil: undefined },
          ),
        }),
        window,
      )
      .map(([filter, bounds]) => ({ ...filter, ...bounds }));
    let some = 0;
    await fc.assert(
      fc.asyncProperty(filters, direction, sortedPage, async (filter, side, shown) => {
        const found = tokens.nftTransfers.filter(
          (row) =>
            !(side === 'in' && row.tx_aborted) &&
            among(filter.items, row.nft_item) &&
            among(filter.collection === undefined ? [] : [filter.collection], row.nft_collection) &&
            inWindow(filter, row) &&
            (filter.owners.length === 0 ||
              (side !== 'in' && among(filter.owners, row.old_owner)) ||
              (side !== 'out' && among(filter.owners, row.new_owner))),
        );
        const wanted = transactionsOf(cut(transferOrder(found, filter, shown), shown));
        some += Math.min(1, wanted.length);
        const rows = await findNftTransfers(reader, { ...filter, direction: side }, shown);
        expect(transactionsOf(rows)).toEqual(wanted);
      }),
      { seed: 22, numRuns: 400 },
    );
    expect(some).toBeGreaterThan(80);
  });
});
