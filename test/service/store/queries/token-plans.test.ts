import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import {
  findJettonBurns,
  findJettonMasters,
  findJettonTransfers,
  findJettonWallets,
} from '#service/store/queries/jettons.ts';
import { readTokens } from '#service/store/queries/metadata.ts';
import {
  findNftCollections,
  findNftItems,
  findNftTransfers,
  readCollectionsOfItems,
  readNftSales,
} from '#service/store/queries/nfts.ts';
import { tokenFillings } from '#test/bench/v3/generated-tokens.ts';
import { createPlannedReader, type PlannedReader } from '#test/support/query-plans.ts';
import type { StoreUnderTest } from '#test/support/store.ts';
import { createTokenStore, drawTokens, keyOf } from '#test/support/token-rows.ts';

let made: StoreUnderTest;
let planned: PlannedReader;

beforeAll(async () => {
  made = await createTokenStore(import.meta.filename, drawTokens(5));
  // Enough that what rides no index costs more.
  for (const { count, statement } of tokenFillings(counts)) {
    await made.store.transaction(({ query }) => query(statement(`generate_series(0, ${count - 1}) AS n`)));
  }
  await made.store.transaction(({ query }) => query('ANALYZE'));
  planned = createPlannedReader(made);
});
afterAll(() => made.close());

const counts = { transactions: 80_000, accounts: 5000, wallets: 20_000, items: 20_000 };

const owners = [keyOf('owner', 1)];
const several = [keyOf('owner', 1), keyOf('owner', 2)];
const jettons = [keyOf('master', 1)];
const collections = [keyOf('collection', 1)];
/** A page is small beside what busy accounts have. */
const first = { limit: 3, offset: 0 };
const pages = (['asc', 'desc'] as const).map((sort) => ({ ...first, sort }));
/** Most of the rows are in it. */
const window = { startUtime: 1_750_000_100, endUtime: 1_750_001_200 };
const lts = { startLt: 40_000_100_000_000n };

/** Plans that do not ride an index of the name, or read a table whole; said in words where there is no plan at all. */
function strayed(plans: readonly string[], wanted: string): readonly string[] {
  if (plans.length === 0) return ['no query was made'];
  const rides = new RegExp(`Index .* (using|on) (${wanted})( |\\n|$)`);
  return plans.filter((plan) => !rides.test(plan) || plan.includes('Seq Scan'));
}

describe('no query of tokens reads a table whole', () => {
  const everyContract = { addresses: [], owners: [], admins: [] };
  it.each([
    ['as first seen', {}, 'jetton_masters_id_key'],
    ['by address', { addresses: jettons }, 'jetton_masters_pkey'],
    ['of an admin', { admins: owners }, 'jetton_masters_by_admin'],
    ['of some admins', { admins: several }, 'jetton_masters_by_admin'],
  ])('jetton masters %s', async (_what, filter, wanted) => {
    const query = () => findJettonMasters(planned.reader, { ...everyContract, ...filter }, first);
    expect(strayed(await planned.plansOf([query]), wanted)).toEqual([]);
  });

  it.each([
    ['as first seen', {}, 'nft_collections_id_key'],
    ['by address', { addresses: collections }, 'nft_collections_pkey'],
    ['of an owner', { owners }, 'nft_collections_by_owner'],
    ['of some owners', { owners: several }, 'nft_collections_by_owner'],
  ])('NFT collections %s', async (_what, filter, wanted) => {
    const query = () => findNftCollections(planned.reader, { ...everyContract, ...filter }, first);
    expect(strayed(await planned.plansOf([query]), wanted)).toEqual([]);
  });

  const everyWallet = { addresses: [], owners: [], jettons: [], excludesEmpty: false };
  it.each([
    ['as first seen', {}, 'jetton_wallets_id_key', 'jetton_wallets_by_balance'],
    ['by address', { addresses: [keyOf('wallet', 1)] }, 'jetton_wallets_pkey', 'jetton_wallets_pkey'],
    ['of an owner', { owners }, 'jetton_wallets_by_owner', 'jetton_wallets_by_owner_balance'],
    ['of some owners', { owners: several }, 'jetton_wallets_by_owner', 'jetton_wallets_by_owner_balance'],
    ['of a jetton', { jettons }, 'jetton_wallets_by_jetton', 'jetton_wallets_by_jetton_balance'],
    ['of an owner and a jetton', { owners, jettons }, 'jetton_wallets_by_owner_jetton', 'jetton_wallets_by_\\w+'],
    [
      'of some owners and a jetton',
      { owners: several, jettons },
      'jetton_wallets_by_owner_jetton',
      'jetton_wallets_by_owner(_jetton|_balance)',
    ],
  ])('jetton wallets %s, by balance too', async (_what, filter, seen, byBalance) => {
    const query = (sort?: 'asc' | 'desc') => () =>
      findJettonWallets(planned.reader, { ...everyWallet, ...filter }, { ...first, sort });
    expect(strayed(await planned.plansOf([query()]), seen)).toEqual([]);
    expect(strayed(await planned.plansOf([query('asc'), query('desc')]), byBalance)).toEqual([]);
  });

  const everyTransfer = { owners: [], wallets: [], master: undefined };
  it.each([
    ['by lt', {}, 'jetton_transfers_by_lt'],
    ['in a window of lt', lts, 'jetton_transfers_by_lt'],
    ['in a window of time', window, 'jetton_transfers_by_utime'],
    ['sent', { owners, direction: 'out' as const }, 'jetton_transfers_by_source'],
    ['received', { owners, direction: 'in' as const }, 'jetton_transfers_by_destination'],
    ['of some owners', { owners: several }, 'jetton_transfers_by_source'],
    [
      'received since a time',
      { owners, direction: 'in' as const, startUtime: 1_750_000_100 },
      'jetton_transfers_by_destination_utime',
    ],
    ['sent in a window of time', { owners, direction: 'out' as const, ...window }, 'jetton_transfers_by_source_utime'],
    ['of a wallet', { wallets: [keyOf('wallet', 1)] }, 'jetton_transfers_by_wallet'],
    ['of a wallet in a window of time', { wallets: [keyOf('wallet', 1)], ...window }, 'jetton_transfers_by_wallet'],
    ['of a jetton', { master: jettons[0] }, 'jetton_transfers_by_master'],
    ['of a jetton in a window of time', { master: jettons[0], ...window }, 'jetton_transfers_by_master_utime'],
  ])('no query of jetton transfers reads a table whole: %s', async (_what, filter, wanted) => {
    const plans = await planned.plansOf(
      pages.map((page) => () => findJettonTransfers(planned.reader, { ...everyTransfer, ...filter }, page)),
    );
    expect(
      strayed(
        plans.filter((plan) => plan.includes('jetton_transfers')),
        wanted,
      ),
    ).toEqual([]);
  });

  it.each([
    ['by lt', {}, 'jetton_burns_by_lt'],
    ['of an owner', { owners }, 'jetton_burns_by_owner'],
    ['of an owner in a window of time', { owners, ...window }, 'jetton_burns_by_owner_utime'],
    ['of a wallet', { wallets: [keyOf('wallet', 1)] }, 'jetton_burns_by_wallet'],
    ['of a jetton', { master: jettons[0] }, 'jetton_burns_by_master'],
    ['of a jetton in a window of time', { master: jettons[0], ...window }, 'jetton_burns_by_master_utime'],
  ])('jetton burns %s', async (_what, filter, wanted) => {
    const plans = await planned.plansOf(
      pages.map((page) => () => findJettonBurns(planned.reader, { ...everyTransfer, ...filter }, page)),
    );
    expect(
      strayed(
        plans.filter((plan) => plan.includes('jetton_burns')),
        wanted,
      ),
    ).toEqual([]);
  });

  const everyItem = {
    addresses: [],
    owners: [],
    collections: [],
    indexes: [],
    includesOnSale: false,
    newestFirst: false,
  };
  it.each([
    ['as first seen', {}, 'nft_items_id_key'],
    ['by address', { addresses: [keyOf('item', 1)] }, 'nft_items_pkey'],
    ['of an owner', { owners }, 'nft_items_by_owner'],
    ['of some owners', { owners: several }, 'nft_items_by_owner'],
    ['of a collection', { collections }, 'nft_items_by_collection'],
    ['of a collection by index', { collections, indexes: [1n, 2n] }, 'nft_items_by_collection'],
    ['of an owner in a collection', { owners, collections }, 'nft_items_by_(owner|collection)'],
    ['newest first', { newestFirst: true }, 'nft_items_by_lt'],
    ['of an owner, newest first', { owners, newestFirst: true }, 'nft_items_by_owner_lt'],
    ['of a collection, newest first', { collections, newestFirst: true }, 'nft_items_by_collection_lt'],
  ])('NFT items %s', async (_what, filter, wanted) => {
    const query = () => findNftItems(planned.reader, { ...everyItem, ...filter }, first);
    expect(strayed(await planned.plansOf([query]), wanted)).toEqual([]);
  });

  const sold = { owners, includesOnSale: true };
  it.each([
    ['of an owner', sold, 'nft_items_on_sale_by_seller'],
    ['of some owners', { ...sold, owners: several }, 'nft_items_on_sale_by_seller'],
    ['of an owner in a collection', { ...sold, collections }, 'nft_items_on_sale_by_seller'],
    ['newest first', { ...sold, newestFirst: true }, 'nft_items_on_sale_by_seller_lt'],
    ['newest first of some owners', { ...sold, owners: several, newestFirst: true }, 'nft_items_on_sale_by_seller_lt'],
  ])('NFT items with those on sale, %s: none is read or sorted beyond the page', async (_what, filter, wanted) => {
    const query = () => findNftItems(planned.reader, { ...everyItem, ...filter }, first);
    const plans = await planned.plansOf([query]);
    expect(strayed(plans, wanted)).toEqual([]);
    // The list is cut as it comes from its index, and only what is left is looked up.
    const bound = 'Limit [^\\n]*\\n *InitPlan [^\\n]*\\n *-> +Result [^\\n]*\\n';
    expect(plans[0]).toMatch(new RegExp(`${bound} *-> +Index Scan (Backward )?using ${wanted} on`));
    expect(plans[0]).toMatch(/Limit [^\n]*rows=1 [^\n]*\n *-> +Index Scan using nft_items_pkey on/);
  });

  const everyNftTransfer = { owners: [], items: [], collection: undefined };
  it.each([
    ['by lt', {}, 'nft_transfers_by_lt'],
    ['in a window of time', window, 'nft_transfers_by_utime'],
    ['given away', { owners, direction: 'out' as const }, 'nft_transfers_by_old_owner'],
    ['got', { owners, direction: 'in' as const }, 'nft_transfers_by_new_owner'],
    ['got in a window of time', { owners, direction: 'in' as const, ...window }, 'nft_transfers_by_new_owner_utime'],
    ['given in a window of time', { owners, direction: 'out' as const, ...window }, 'nft_transfers_by_old_owner_utime'],
    ['of an item', { items: [keyOf('item', 1)], ...window }, 'nft_transfers_by_item'],
    ['of a collection', { collection: collections[0] }, 'nft_transfers_by_collection'],
    [
      'of a collection in a window of time',
      { collection: collections[0], ...window },
      'nft_transfers_by_collection_utime',
    ],
  ])('NFT transfers %s', async (_what, filter, wanted) => {
    const plans = await planned.plansOf(
      pages.map((page) => () => findNftTransfers(planned.reader, { ...everyNftTransfer, ...filter }, page)),
    );
    expect(
      strayed(
        plans.filter((plan) => plan.includes('nft_transfers')),
        wanted,
      ),
    ).toEqual([]);
  });

  it('sales, collections of items, tokens and wallets by address', async () => {
    const plans = await planned.plansOf([
      () => readNftSales(planned.reader, owners),
      () => readCollectionsOfItems(planned.reader, several),
      () => readTokens(planned.reader, { accounts: several, balances: several, since: 1n }),
    ]);
    expect(strayed(plans, '\\w+_pkey|account_changes_by_xid')).toEqual([]);
  });
});
