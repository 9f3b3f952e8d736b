import {
  nftCollections,
  nftItems,
  nftSales,
  nftTransfers,
  type NftCollectionRow,
  type NftItemRow,
  type NftSaleRow,
} from '../classification-tables.ts';
import {
  columnsOf,
  createConditions,
  distinctKeys,
  firstOfEach,
  pageOf,
  type KeyedList,
  type Page,
} from './conditions.ts';
import { tokensOrder, type Placed } from './first-seen.ts';
import { addAfter, orderBy, type After, type Order, type OrderKey } from './order.ts';
import type { StoreReader } from './reader.ts';
import { findOwnedContracts, type ContractFilter } from './token-contracts.ts';
import type { SortedPage } from './transactions.ts';
import { findTransfers, partyColumns, type FoundTransfer, type TransferWindow } from './transfers.ts';

/** Collections in the order of `findOwnedContracts`. */
export function findNftCollections(
  store: StoreReader,
  filter: ContractFilter,
  page: Page & After,
): Promise<readonly Placed<NftCollectionRow>[]> {
  return findOwnedContracts(store, { table: nftCollections, owner: 'owner' }, filter, page);
}

/** The collections among some accounts, in no order. @param keys of accounts */
export function readNftCollections(
  store: StoreReader,
  keys: readonly Uint8Array[],
): Promise<readonly NftCollectionRow[]> {
  const addresses = distinctKeys(keys);
  if (addresses.length === 0) return Promise.resolve([]);
  return findNftCollections(store, { addresses, owners: [] }, { limit: addresses.length, offset: 0 });
}

/** Collections of some items, in no order. @param items their keys */
export function readCollectionsOfItems(
  store: StoreReader,
  items: readonly Uint8Array[],
): Promise<readonly NftCollectionRow[]> {
  return store.read(
    `SELECT ${columnsOf(nftCollections, 't')} FROM nft_collections t
      WHERE t.address = ANY(ARRAY(SELECT i.collection FROM nft_items i WHERE i.address = ANY($1::bytea[])))`,
    [items],
  );
}

/** Filter of items; all conditions apply. Empty lists are no conditions. Accounts are keys. */
export type NftItemFilter = {
  readonly addresses: readonly Uint8Array[];
  readonly owners: readonly Uint8Array[];
  readonly collections: readonly Uint8Array[];
  readonly indexes: readonly bigint[];
  /** True if an item in a known sale or auction counts as its seller's instead of that contract's. */
  readonly includesOnSale: boolean;
  /** Items whose contracts changed last come first, with every filter. */
  readonly newestFirst: boolean;
};

/** An item with the sale or auction that owns it. */
export type FoundNftItem = Placed<NftItemRow> & {
  /** `type` of the sale; null without a sale. */
  readonly sale_type: string | null;
  /** Its seller. */
  readonly sale_owner: Buffer | null;
};

/** A sale that owns its item. */
const saleOfItem = 's.address = t.owner AND s.nft = t.address';

const itemColumns = `${columnsOf(nftItems, 't')}, t.id`;

/** Columns of items in `nft_items_on_sale`: all columns of filters and orders. */
const listedColumns = 't.address, t.collection, t.index, t.id, t.last_trans_lt';

/**
 * Items in the order of first sight. Items of owners are ordered by owner, collection and index. Items of a collection are ordered by
 * index, items named by address alone by address. Uses the primary key, the indexes on owner, seller and collection (each with index or
 * lt), and the index on lt.
 */
export async function findNftItems(
  store: StoreReader,
  filter: NftItemFilter,
  page: Page & After,
): Promise<readonly FoundNftItem[]> {
  const { addresses, collections, indexes, includesOnSale } = filter;
  const owners = distinctKeys(filter.owners);
  const conditions = createConditions();
  if (addresses.length > 0) conditions.when(addresses, (at) => `t.address = ANY(${at}::bytea[])`);
  if (collections.length === 1) conditions.when(collections[0], (at) => `t.collection = ${at}`);
  if (collections.length > 1) conditions.when(collections, (at) => `t.collection = ANY(${at}::bytea[])`);
  if (indexes.length > 0) conditions.when(indexes, (at) => `t.index = ANY(${at}::numeric[])`);
  const order = nftItemsOrder(filter);
  const across = orderBy(order, 't');
  addAfter(conditions, order, 't', page.after, { holder: 'a.key' });
  const cut = (list: string): string => `SELECT * FROM (${list}) t ${across} ${pageOf(page)}`;
  let found = '';
  if (owners.length === 0) {
    found = cut(`SELECT ${itemColumns} FROM nft_items t ${conditions.where()}`);
  } else {
    const at = conditions.place(owners);
    const within = orderBy(
      order.filter((key) => key !== holder),
      't',
    );
    const listOf = (list: Omit<KeyedList, 'select'>, columns: string): string =>
      `(${firstOfEach({ select: `${columns}, a.key AS holder`, ...list }, at, conditions, within, page)})`;
    found = includesOnSale
      ? lookedUp(cut(`${listOf(notOnSale, listedColumns)} UNION ALL ${listOf(onSale, listedColumns)}`))
      : cut(listOf(owned, itemColumns));
  }
  const shown = owners.length === 0 ? itemColumns : `${itemColumns}, t.holder`;
  return store.read(
    `SELECT ${shown}, s.type AS sale_type, s.nft_owner AS sale_owner
      FROM (${found}) t LEFT JOIN nft_sales s ON ${saleOfItem} ${across}`,
    conditions.values,
  );
}

const owned = { from: 'nft_items t', key: 't.owner' };
const notOnSale = {
  ...owned,
  also: `NOT EXISTS (SELECT FROM nft_sales s WHERE ${saleOfItem} AND s.nft_owner IS NOT NULL)`,
};
const onSale = { from: 'nft_items_on_sale t', key: 't.seller' };

/** Looks up the items of a page row by row, so that the planner cannot read all at once. */
function lookedUp(page: string): string {
  const one = `SELECT ${itemColumns}, e.holder FROM nft_items t WHERE t.address = e.address LIMIT 1`;
  return `SELECT found.* FROM (${page}) e CROSS JOIN LATERAL (${one}) found`;
}

const byIndex: Order = [
  { column: 'collection', type: 'bytea', sort: 'asc', nullable: true },
  { column: 'index', type: 'numeric', sort: 'asc' },
  { column: 'id', type: 'bigint', sort: 'asc' },
];

/** Order of items, by the filter. */
export function nftItemsOrder(filter: NftItemFilter): Order {
  const { addresses, collections, newestFirst } = filter;
  const owners = distinctKeys(filter.owners).length;
  if (newestFirst) {
    return [
      { column: 'last_trans_lt', type: 'bigint', sort: 'desc' },
      { column: 'id', type: 'bigint', sort: 'desc' },
    ];
  }
  if (owners > 1 && collections.length !== 1) return [holder, ...byIndex];
  if (owners > 0 || collections.length === 1) return byIndex;
  return tokensOrder(collections.length === 0 ? addresses : []);
}

/** Owner whose list has the item: for an item on sale the seller. */
const holder: OrderKey = { column: 'holder', type: 'bytea', sort: 'asc' };

/** Sales among some accounts, in no order. Uses the primary key. @param keys of accounts */
export function readNftSales(store: StoreReader, keys: readonly Uint8Array[]): Promise<readonly NftSaleRow[]> {
  return store.read(`SELECT ${columnsOf(nftSales, 't')} FROM nft_sales t WHERE t.address = ANY($1::bytea[])`, [keys]);
}

export type NftTransferFilter = TransferWindow & {
  readonly owners: readonly Uint8Array[];
  readonly items: readonly Uint8Array[];
  readonly collection: Uint8Array | undefined;
  /** Direction from the owner's side: given away, received, or either. */
  readonly direction?: 'in' | 'out' | undefined;
};

/** Transfers in the order of `findTransfers`; with `in` only executed transfers. */
export function findNftTransfers(
  store: StoreReader,
  filter: NftTransferFilter,
  page: SortedPage & After,
): Promise<readonly FoundTransfer<typeof nftTransfers.columns>[]> {
  return findTransfers(
    store,
    {
      table: nftTransfers,
      parties: { columns: partyColumns('old_owner', 'new_owner', filter.direction), keys: filter.owners },
      contract: { column: 'nft_item', keys: filter.items },
      family: { column: 'nft_collection', key: filter.collection },
      only: filter.direction === 'in' ? ['NOT t.tx_aborted'] : [],
    },
    filter,
    page,
  );
}
