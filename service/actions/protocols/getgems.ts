import { callOf, deploymentsOf, tonTransferOf } from '../engine/basic-blocks.ts';
import { isAborted, type TraceFragment, type NewFragment } from '../engine/trace-fragment.ts';
import { body, coins, uint64 } from '../engine/body.ts';
import type { EventMessage } from '../engine/classifier-input.ts';
import { innerCall } from '../operations/jettons.ts';
import { readAuctionTerms, readSaleTerms } from '../operations/listing-terms.ts';
import type { Matcher } from '../engine/matcher.ts';
import {
  listingData,
  nftPurchaseOf,
  nftTransferOf,
  nftTransferType,
  transferValues,
  type NftTransfer,
} from '../operations/nft.ts';
import { as, built, call, followedByAll, type Context } from '../engine/pattern.ts';
import type { FamilyTypes } from '../engine/action-type.ts';
import { nftCancelAuctionDetails, nftPutOnAuctionDetails } from '../operations/nft-types.ts';
import type { Family } from '../engine/family.ts';

// Sales and auctions of items at Getgems, except bids (auctions.ts).

const updateBody = body({ queryId: uint64, fullPrice: coins, fee: coins, royalty: coins });

/** Not in `destinationSecondary`, which details of listings read: TON Center shows null there. */
const atMarket = (marketplace: string | null) => transferValues({ marketplace_address: marketplace });

const update: Matcher<Type> = {
  pattern: call(0x6c6c2080),
  build(root, _found, { interfaces }) {
    const { message, source, destination } = innerCall(root);
    const sale = interfaces.nftSale(destination);
    if (sale === undefined) return undefined;
    const { fullPrice, fee, royalty } = updateBody(message);
    return {
      type: 'nft_update_sale',
      columns: {
        source,
        destination,
        assetSecondary: sale.nft,
        data: {
          ...atMarket(sale.marketplace),
          ...listingData({ full_price: fullPrice, marketplace_fee: fee, royalty_amount: royalty }),
        },
      },
      accounts: sale.nft === null ? [] : [sale.nft],
      failed: isAborted(root),
    };
  },
};

const messageOf = (block: TraceFragment): EventMessage | undefined => (callOf(block) ?? tonTransferOf(block))?.message;

/** Listing of an item by its owner; undefined when the receiving contract sells another item. */
function listing(
  toMarket: NftTransfer,
  toContract: NftTransfer,
  message: EventMessage,
  { interfaces }: Context,
): NewFragment<Type> | undefined {
  const { item, info, newOwner: contract } = toContract;
  if (item !== toMarket.item || contract === null || contract !== message.destination) return undefined;
  const isOf = (nft: string | null, owner: string | null): boolean => nft === item && owner === toMarket.oldOwner;
  const columns = {
    source: toMarket.oldOwner,
    sourceSecondary: toMarket.newOwner,
    destination: contract,
    asset: info.collection,
    assetSecondary: item,
  };
  const common = { nft_item_index: info.index, marketplace: 'getgems' };
  const sale = interfaces.nftSale(contract);
  if (sale !== undefined) {
    if (!isOf(sale.nft, sale.nftOwner)) return undefined;
    const terms = readSaleTerms(message, sale.codeHash);
    const data = listingData({
      ...common,
      full_price: terms.fullPrice,
      marketplace_fee: terms.fee,
      marketplace_fee_address: terms.feeAddress,
      royalty_amount: terms.royalty,
      royalty_address: terms.royaltyAddress,
    });
    return { type: 'nft_put_on_sale', columns: { ...columns, data: { ...atMarket(terms.marketplace), ...data } } };
  }
  const auction = interfaces.nftAuction(contract);
  if (auction === undefined || !isOf(auction.nft, auction.nftOwner)) return undefined;
  const terms = readAuctionTerms(message, auction.codeHash);
  const data = listingData({
    ...common,
    mp_fee_factor: BigInt(terms.feeFactor),
    mp_fee_base: BigInt(terms.feeBase),
    marketplace_fee_address: terms.feeAddress,
    royalty_fee_base: BigInt(terms.royaltyBase),
    royalty_address: terms.royaltyAddress,
    max_bid: terms.maxBid,
    min_bid: terms.minBid,
  });
  return { type: 'nft_put_on_auction', columns: { ...columns, data: { ...atMarket(auction.marketplace), ...data } } };
}

/** An item goes to the market, which deploys a sale contract and transfers the item to it. */
const putUp: Matcher<Type> = {
  pattern: followedByAll(
    built(nftTransferType),
    as('init', { test: (block) => messageOf(block) !== undefined && block.parts.flatMap(deploymentsOf).length > 0 }),
    as('passed', built(nftTransferType)),
  ),
  build(root, found, context) {
    const message = messageOf(found.one('init')!)!;
    return listing(nftTransferOf(root)!, nftTransferOf(found.one('passed'))!, message, context);
  },
};

/** Forms of an order to a contract to release its item: opcodes or comments. */
type Orders = { readonly opcodes: readonly number[]; readonly comments: readonly string[] };

const cancelSale: Orders = { opcodes: [3], comments: [] };
const cancelAuction: Orders = { opcodes: [0x5616c572], comments: ['cancel'] };
const finishAuction: Orders = { opcodes: [0xb95616b6, 0x20c9eb18], comments: ['finish', 'stop'] };

function isOneOf(block: TraceFragment, { opcodes, comments }: Orders): boolean {
  const opcode = callOf(block)?.opcode ?? -1;
  return opcodes.includes(opcode) || comments.includes(tonTransferOf(block)?.comment ?? '');
}

type Contract = { readonly nft: string | null; readonly marketplace: string | null };

const saleAt = (account: string, { interfaces }: Context): Contract | undefined => interfaces.nftSale(account);
const auctionAt = (account: string, { interfaces }: Context): Contract | undefined => interfaces.nftAuction(account);

/** The purchase beside the end of an auction names the marketplace. */
function soldAt(account: string, context: Context): Contract | undefined {
  const auction = auctionAt(account, context);
  return auction && { ...auction, marketplace: null };
}

/** Order that shows in the fate of the item. The transfer of the item stays a separate action. */
function order(
  orders: readonly Orders[],
  contractAt: typeof saleAt,
  outcomeOf: (block: TraceFragment) => NftTransfer | undefined,
  typeOf: (block: TraceFragment) => Type,
): Matcher<Type> {
  return {
    pattern: { test: (block) => orders.some((one) => isOneOf(block, one)) },
    build(root, _found, context) {
      const outcome = root.next.map(outcomeOf).find((one) => one !== undefined);
      if (outcome === undefined) return undefined;
      const { item, info, newOwner } = outcome;
      const destination = messageOf(root)?.destination ?? '';
      const contract = contractAt(destination, context);
      if (contract?.nft !== item) return undefined;
      return {
        type: typeOf(root),
        columns: {
          source: newOwner,
          destination,
          asset: info.collection,
          assetSecondary: item,
          data: atMarket(contract.marketplace),
        },
        accounts: [item],
      };
    },
  };
}

/** Types of sales and auctions at Getgems. */
const types = {
  nft_update_sale: {
    words: ['NFT sale changed', '{@source} offers {!nft_address}[ for {$full_price}][ at {marketplace}]'],
    since: 'v3',
    groups: ['nft.v3'],
    isIndivisible: false,
    details: {
      source: 'address source',
      sale_contract: 'address destination',
      nft_address: 'address assetSecondary',
      marketplace_address: 'address nft_transfer_data.marketplace_address',
      marketplace: 'text -',
      full_price: 'amount nft_listing_data.full_price',
      marketplace_fee: 'amount nft_listing_data.marketplace_fee',
      royalty_amount: 'amount nft_listing_data.royalty_amount',
    },
  },
  nft_put_on_sale: {
    words: ['NFT put on sale', '{@owner} offers {!nft_item}[ for {$full_price}][ at {marketplace}]'],
    since: 'v3',
    groups: ['nft.v3'],
    isIndivisible: false,
    details: {
      nft_collection: 'address asset',
      nft_item: 'address assetSecondary',
      nft_item_index: 'amount nft_listing_data.nft_item_index',
      owner: 'address source',
      listing_address: 'address sourceSecondary',
      sale_address: 'address destination',
      marketplace_address: 'address destinationSecondary',
      full_price: 'amount nft_listing_data.full_price',
      marketplace_fee: 'amount nft_listing_data.marketplace_fee',
      royalty_amount: 'amount nft_listing_data.royalty_amount',
      marketplace_fee_address: 'address nft_listing_data.marketplace_fee_address',
      royalty_address: 'address nft_listing_data.royalty_address',
      marketplace: 'text -',
    },
  },
  nft_put_on_auction: {
    words: ['NFT put up for auction', '{@owner} puts {!nft_item} up for auction[ from {$min_bid}][ at {marketplace}]'],
    since: 'v3',
    groups: ['nft.v3'],
    isIndivisible: false,
    details: nftPutOnAuctionDetails,
  },
  nft_cancel_sale: {
    words: ['NFT sale cancelled', '{@owner} takes {!nft_item} back[ from {marketplace}]'],
    since: 'v3',
    groups: ['nft.v3'],
    isIndivisible: false,
    details: {
      owner: 'address source',
      nft_item: 'address assetSecondary',
      nft_collection: 'address asset',
      sale_address: 'address destination',
      marketplace_address: 'address nft_transfer_data.marketplace_address',
      marketplace: 'text -',
    },
  },
  nft_finish_auction: {
    words: ['NFT auction ended', '{@owner} ends the auction of {!nft_item}[ at {marketplace}]'],
    since: 'v3',
    groups: ['nft.v3'],
    isIndivisible: false,
    details: nftCancelAuctionDetails,
  },
  nft_cancel_auction: {
    words: ['NFT auction cancelled', '{@owner} cancels the auction of {!nft_item}[ at {marketplace}]'],
    since: 'v3',
    groups: ['nft.v3'],
    isIndivisible: false,
    details: nftCancelAuctionDetails,
  },
} satisfies FamilyTypes;

type Type = keyof typeof types;

/** Actions of sales and auctions at Getgems. */
export const getgems = {
  types,
  matchers: {
    update,
    putUp,
    cancelSale: order([cancelSale], saleAt, nftTransferOf, () => 'nft_cancel_sale'),
    finishAuction: order([finishAuction], soldAt, nftPurchaseOf, () => 'nft_finish_auction'),
    // An auction without bids ends by giving the item back.
    endAuction: order([cancelAuction, finishAuction], auctionAt, nftTransferOf, (block) =>
      isOneOf(block, finishAuction) ? 'nft_finish_auction' : 'nft_cancel_auction',
    ),
  },
} satisfies Family;
