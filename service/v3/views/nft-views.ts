import { named, object, optional, scalar, type Infer } from '#service/contract/shape.ts';
import type { NftCollectionRow, NftSaleRow, nftTransfers } from '#service/store/classification-tables.ts';
import type { FoundNftItem } from '#service/store/queries/nfts.ts';
import type { FoundTransfer } from '#service/store/queries/transfers.ts';
import { keyText } from './account-rows.ts';
import {
  anyText,
  flag,
  hash,
  integer,
  intString,
  orNull,
  rawAddress,
  viewAccountKey,
  viewBytes,
} from '../request/scalars.ts';
import {
  content,
  contractState,
  forwarded,
  tokenTransaction,
  viewContractState,
  viewForwarded,
  viewKeyOrNone,
  viewKeyOrNull,
  viewTokenTransaction,
} from './token-views.ts';

export const nftCollection = named(
  'NFTCollection',
  object({
    address: rawAddress,
    owner_address: orNull(rawAddress),
    next_item_index: intString,
    collection_content: orNull(content),
    ...contractState,
  }),
);

type NftCollectionView = Infer<typeof nftCollection>;

export function viewNftCollection(row: NftCollectionRow): NftCollectionView {
  return {
    address: viewAccountKey(row.address),
    owner_address: viewKeyOrNull(row.owner),
    next_item_index: row.next_item_index.toString(),
    collection_content: row.content,
    ...viewContractState(row),
  };
}

export const nftItem = named(
  'NFTItem',
  object({
    address: rawAddress,
    init: flag,
    index: intString,
    collection_address: orNull(rawAddress),
    owner_address: orNull(rawAddress),
    content: orNull(content),
    ...contractState,
    collection: orNull(nftCollection),
    on_sale: flag,
    sale_contract_address: optional(rawAddress),
    auction_contract_address: optional(rawAddress),
    real_owner: optional(rawAddress),
  }),
);

export type NftItemView = Infer<typeof nftItem>;

/** @param collections by the text of their keys; an unknown collection is null in the item */
export function viewNftItem(row: FoundNftItem, collections: ReadonlyMap<string, NftCollectionView>): NftItemView {
  return {
    address: viewAccountKey(row.address),
    init: row.init,
    index: row.index.toString(),
    collection_address: viewKeyOrNull(row.collection),
    owner_address: viewKeyOrNull(row.owner),
    content: row.content,
    ...viewContractState(row),
    collection: (row.collection && collections.get(keyText(row.collection))) ?? null,
    ...viewHolder(row),
  };
}

/** The owner, if a contract that sells the item owns it. The contract's current state is not checked. */
function viewHolder({
  owner,
  sale_type: type,
  sale_owner: seller,
}: FoundNftItem): Pick<NftItemView, 'on_sale' | 'sale_contract_address' | 'auction_contract_address' | 'real_owner'> {
  if (type === null || owner === null) return { on_sale: false };
  const holder = viewAccountKey(owner);
  return {
    on_sale: true,
    ...(type === 'getgems_auction' ? { auction_contract_address: holder } : { sale_contract_address: holder }),
    ...(seller !== null && { real_owner: viewAccountKey(seller) }),
  };
}

export const nftTransfer = named(
  'NFTTransfer',
  object({
    nft_address: rawAddress,
    nft_collection: rawAddress,
    old_owner: rawAddress,
    new_owner: rawAddress,
    ...tokenTransaction,
    forward_amount: orNull(intString),
    ...forwarded,
  }),
);

export function viewNftTransfer(row: FoundTransfer<typeof nftTransfers.columns>): Infer<typeof nftTransfer> {
  return {
    nft_address: viewAccountKey(row.nft_item),
    nft_collection: viewKeyOrNone(row.nft_collection),
    old_owner: viewAccountKey(row.old_owner),
    new_owner: viewKeyOrNone(row.new_owner),
    ...viewTokenTransaction(row),
    forward_amount: row.forward_amount?.toString() ?? null,
    ...viewForwarded(row.forward_payload),
  };
}

/** Unknown fields are omitted; the type decides on the details. */
export const nftSale = named(
  'NFTSale',
  object({
    type: anyText,
    address: rawAddress,
    nft_address: optional(rawAddress),
    nft_owner_address: optional(rawAddress),
    marketplace_address: optional(rawAddress),
    created_at: optional(integer),
    last_transaction_lt: optional(intString),
    code_hash: optional(hash),
    data_hash: optional(hash),
    details: scalar<Readonly<Record<string, unknown>>>({ type: 'object' }),
    nft_item: optional(nftItem),
  }),
);

/** Item that a contract sells: an item of Fragment is its own auction and sells itself. */
export function soldBy({ type, address, nft }: NftSaleRow): Uint8Array | null {
  return type === 'telemint' ? address : nft;
}

export function viewNftSale(row: NftSaleRow, item: NftItemView | undefined): Infer<typeof nftSale> {
  const sold = soldBy(row);
  return {
    type: row.type,
    address: viewAccountKey(row.address),
    ...(sold !== null && { nft_address: viewAccountKey(sold) }),
    ...(row.nft_owner !== null && { nft_owner_address: viewAccountKey(row.nft_owner) }),
    ...(row.marketplace !== null && { marketplace_address: viewAccountKey(row.marketplace) }),
    ...(row.created_at !== null && { created_at: row.created_at >>> 0 }),
    last_transaction_lt: row.last_trans_lt.toString(),
    ...(row.code_hash !== null && { code_hash: viewBytes(row.code_hash) }),
    ...(row.data_hash !== null && { data_hash: viewBytes(row.data_hash) }),
    details: row.details,
    ...(item !== undefined && { nft_item: item }),
  };
}
