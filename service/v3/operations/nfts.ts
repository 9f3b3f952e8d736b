import { createTimeSlice, mapInSlices } from '#service/runtime/time-slice.ts';
import { list, named, object } from '#service/contract/shape.ts';
import { accountKey } from '#service/store/account-key.ts';
import type { NftCollectionRow } from '#service/store/classification-tables.ts';
import { tokensOrder } from '#service/store/queries/first-seen.ts';
import {
  findNftCollections,
  findNftItems,
  findNftTransfers,
  nftItemsOrder,
  readCollectionsOfItems,
  readNftCollections,
  readNftSales,
  type FoundNftItem,
} from '#service/store/queries/nfts.ts';
import type { StoreReader } from '#service/store/queries/reader.ts';
import { transferOrder } from '#service/store/queries/transfers.ts';
import { answerAnnotations, type AnswerAnnotations } from '../annotations/answer-annotations.ts';
import { keyText } from '../views/account-rows.ts';
import {
  nftCollection,
  nftItem,
  nftSale,
  nftTransfer,
  soldBy,
  viewNftCollection,
  viewNftItem,
  viewNftSale,
  viewNftTransfer,
  type NftItemView,
} from '../views/nft-views.ts';
import { readPage } from '../request/cursor.ts';
import { defineV3Operation, type V3Operation } from '../request/operation.ts';
import { account, accounts, bool, cursorPage, LIMIT_MAX, texts } from '../request/parameters.ts';
import { requiredList } from '../request/required-parameters.ts';
import { directed, keysOf, ownersOf, sideOf } from '../request/token-parameters.ts';

/** The operations about NFTs (service/v3/README.md#nfts, service/v3/README.md#nft-sales). */
export function nftOperations(notes: AnswerAnnotations): readonly V3Operation[] {
  return [collections(notes), items(notes), transfers(notes), sales(notes)];
}

const collectionsResponse = named(
  'NFTCollectionsResponse',
  object({ nft_collections: list(nftCollection, LIMIT_MAX), ...answerAnnotations }),
);

function collections(notes: AnswerAnnotations): V3Operation {
  return defineV3Operation({
    name: 'nft/collections',
    tag: 'nfts',
    summary: 'Collections of NFTs that match all filters.',
    parameters: { addresses: accounts('collection_address'), owners: accounts('owner_address'), ...cursorPage },
    result: collectionsResponse,
    flat: true,
    handle: async ({ addresses, owners, ...values }, context) => {
      const filter = { addresses: keysOf(addresses), owners: keysOf(owners) };
      const order = { list: 'nft/collections', order: tokensOrder(filter.addresses) };
      const rows = await readPage(order, values, context, (after) =>
        findNftCollections(context.store, filter, { ...values, after }),
      );
      const views = await mapInSlices(rows, viewNftCollection, createTimeSlice(context.signal));
      const shown = views.flatMap(({ address, owner_address: owner }) => [address, owner]);
      return { nft_collections: views, ...(await notes.notesOf(shown, context)) };
    },
  });
}

const itemsResponse = named('NFTItemsResponse', object({ nft_items: list(nftItem, LIMIT_MAX), ...answerAnnotations }));

function items(notes: AnswerAnnotations): V3Operation {
  return defineV3Operation({
    name: 'nft/items',
    tag: 'nfts',
    summary: 'NFTs that match all filters, with their collections and sellers.',
    parameters: {
      addresses: accounts('address'),
      owners: accounts('owner_address'),
      collections: accounts('collection_address'),
      indexes: texts('index'),
      includesOnSale: bool('include_on_sale'),
      newestFirst: bool('sort_by_last_transaction_lt'),
      ...cursorPage,
    },
    rule: { schema: {}, check: checkItems },
    result: itemsResponse,
    flat: true,
    handle: async ({ addresses, owners, collections: of, indexes, ...values }, context) => {
      const keys = { addresses: keysOf(addresses), owners: keysOf(owners), collections: keysOf(of) };
      const filter = { ...values, ...keys, indexes: indexes.map(BigInt) };
      const order = { list: 'nft/items', order: nftItemsOrder(filter) };
      const rows = await readPage(order, values, context, (after) =>
        findNftItems(context.store, filter, { ...values, after }),
      );
      const ofItems = rows.flatMap(({ collection }) => collection ?? []);
      const views = await viewItems(rows, await readNftCollections(context.store, ofItems), context.signal);
      return { nft_items: views, ...(await notes.notesOf(views.flatMap(addressesOfItem), context)) };
    },
  });
}

function checkItems(values: {
  readonly owners: readonly unknown[];
  readonly collections: readonly unknown[];
  readonly indexes: readonly string[];
}): string | undefined {
  const { owners, collections: of, indexes } = values;
  if (indexes.some((index) => !/^\d+$/.test(index))) return 'index should contain digits only';
  if (indexes.length > 0 && of.length === 0) {
    return 'index parameter is not allowed without the collection_address';
  }
  return of.length > 1 && owners.length !== 1
    ? 'exact one owner_address required for multiple collection_address'
    : undefined;
}

/** Items with their known collections; each collection is viewed once. */
function viewItems(
  rows: readonly FoundNftItem[],
  known: readonly NftCollectionRow[],
  signal: AbortSignal | undefined,
): Promise<readonly NftItemView[]> {
  const byKey = new Map(known.map((row) => [keyText(row.address), viewNftCollection(row)]));
  return mapInSlices(rows, (row) => viewNftItem(row, byKey), createTimeSlice(signal));
}

function addressesOfItem(item: NftItemView): (string | null)[] {
  const { address, collection_address: collection, owner_address: owner, real_owner: seller = null } = item;
  return [address, collection, owner, seller, item.collection?.owner_address ?? null];
}

const transfersResponse = named(
  'NFTTransfersResponse',
  object({ nft_transfers: list(nftTransfer, LIMIT_MAX), ...answerAnnotations }),
);

function transfers(notes: AnswerAnnotations): V3Operation {
  return defineV3Operation({
    name: 'nft/transfers',
    tag: 'nfts',
    summary: 'Transfers of NFTs that match all filters, aborted transfers too.',
    parameters: { ...directed, items: accounts('item_address'), collection: account('collection_address') },
    result: transfersResponse,
    flat: true,
    handle: async ({ owners, legacyOwners, items: of, collection, direction, ...values }, context) => {
      const filter = {
        ...values,
        owners: ownersOf({ owners, legacyOwners }),
        items: keysOf(of),
        collection: collection && accountKey(collection),
        direction: sideOf(direction),
      };
      const order = { list: 'nft/transfers', order: transferOrder(values, values) };
      const rows = await readPage(order, values, context, (after) =>
        findNftTransfers(context.store, filter, { ...values, after }),
      );
      const views = await mapInSlices(rows, viewNftTransfer, createTimeSlice(context.signal));
      const shown = views.flatMap((view) => [
        view.nft_address,
        view.nft_collection,
        view.old_owner,
        view.new_owner,
        view.response_destination,
      ]);
      return { nft_transfers: views, ...(await notes.notesOf(shown, context)) };
    },
  });
}

const salesResponse = named('NFTSalesResponse', object({ nft_sales: list(nftSale, LIMIT_MAX), ...answerAnnotations }));

function sales(notes: AnswerAnnotations): V3Operation {
  return defineV3Operation({
    name: 'nft/sales',
    tag: 'nfts',
    summary: 'Contracts that sell NFTs, with the NFTs. Contracts that the index does not know are left out.',
    parameters: { addresses: requiredList(accounts('address'), 'at least 1 address required') },
    rule: {
      schema: {},
      check: ({ addresses }) => (addresses.length > LIMIT_MAX ? 'maximum 1000 addresses allowed' : undefined),
    },
    result: salesResponse,
    flat: true,
    handle: async ({ addresses }, context) => {
      const keys = keysOf(addresses);
      const rows = new Map((await readNftSales(context.store, keys)).map((row) => [keyText(row.address), row]));
      const ofItems = [...rows.values()].flatMap((row) => soldBy(row) ?? []);
      const sold = await readItems(context.store, ofItems);
      const views = [...new Set(keys.map(keyText))].flatMap((key) => {
        const row = rows.get(key);
        if (row === undefined) return [];
        const nft = soldBy(row);
        return [viewNftSale(row, nft === null ? undefined : sold.get(keyText(nft)))];
      });
      const shown = views.flatMap(({ nft_item: item, details, ...view }) => [
        view.address,
        view.nft_address ?? null,
        view.nft_owner_address ?? null,
        view.marketplace_address ?? null,
        ...addressesOfDetails(details),
        ...(item === undefined ? [] : addressesOfItem(item)),
      ]);
      return { nft_sales: views, ...(await notes.notesOf(shown, context)) };
    },
  });
}

/** Items by the text of their keys. */
async function readItems(
  store: StoreReader,
  addresses: readonly Uint8Array[],
): Promise<ReadonlyMap<string, NftItemView>> {
  if (addresses.length === 0) return new Map();
  const filter = {
    addresses,
    owners: [],
    collections: [],
    indexes: [],
    includesOnSale: false,
    newestFirst: false,
  };
  const [rows, known] = await Promise.all([
    findNftItems(store, filter, { limit: addresses.length, offset: 0 }),
    readCollectionsOfItems(store, addresses),
  ]);
  const views = await viewItems(rows, known, store.signal);
  return new Map(rows.map((row, at) => [keyText(row.address), views[at]!]));
}

/** Accounts in a sale's details of any type: their names mark them as accounts. */
function addressesOfDetails(details: Readonly<Record<string, unknown>>): string[] {
  return Object.entries(details).flatMap(([name, value]) =>
    /_(address|destination|member)$/.test(name) && typeof value === 'string' ? [value] : [],
  );
}
