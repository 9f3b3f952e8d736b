import { callOf, deploymentsOf, tonTransferOf } from '../engine/basic-blocks.ts';
import type { TraceFragment } from '../engine/trace-fragment.ts';
import { isDnsItem } from './dns.ts';
import { isFragmentItem } from './fragment.ts';
import type { Interfaces } from '../engine/interfaces.ts';
import type { Matcher } from '../engine/matcher.ts';
import { transferValues } from '../operations/nft.ts';
import type { FamilyTypes } from '../engine/action-type.ts';
import type { Family } from '../engine/family.ts';

// Bids at auctions of items, and who was outbid: at Getgems, and at items that are their own auctions.

const bidType = 'auction_bid';

/** Object of a bid. */
type Bid = {
  readonly kind: 'getgems' | 'fragment';
  readonly item: string | null;
  readonly collection: string | null;
  readonly index: bigint | null;
};

function bidOf(block: TraceFragment | undefined): Bid | undefined {
  return block?.type === bidType ? (block.data as Bid) : undefined;
}

const isOutbidNotice = (block: TraceFragment): boolean => callOf(block)?.opcode === 0x557cea20;

/** Auction at an address. `.ton` names accept other payments too; a bid there shows in the refund to the previous bidder. */
function auctionAt(account: string, block: TraceFragment, interfaces: Interfaces): Bid | undefined {
  const auction = interfaces.nftAuction(account);
  if (auction !== undefined) {
    const info = auction.nft === null ? undefined : interfaces.nftItem(auction.nft);
    const { collection = null, index = null } = info ?? {};
    return { kind: 'getgems', item: auction.nft, collection, index };
  }
  const info = interfaces.nftItem(account);
  if (info === undefined) return undefined;
  const isAuction = isDnsItem(info) ? block.next.some(isOutbidNotice) : isFragmentItem(info);
  if (!isAuction) return undefined;
  return { kind: 'fragment', item: account, collection: info.collection, index: info.index };
}

const orders = new Set(['cancel', 'finish', 'stop']);

const bid: Matcher<Type> = {
  pattern: {
    test: (block) =>
      tonTransferOf(block) !== undefined &&
      !orders.has(tonTransferOf(block)!.comment ?? '') &&
      block.parts.flatMap(deploymentsOf).length === 0,
  },
  build(root, _found, { interfaces }) {
    const { source, destination, value } = tonTransferOf(root)!.message;
    const found = auctionAt(destination ?? '', root, interfaces);
    if (found === undefined) return undefined;
    return {
      type: bidType,
      columns: {
        source,
        destination,
        asset: found.collection,
        assetSecondary: found.item,
        value,
        data: transferValues({ nft_item_index: found.index, marketplace: found.kind }),
      },
      data: found,
      failed: root.failed,
      accounts: found.item === null ? [] : [found.item],
    };
  },
};

/** A bid that an auction gives back when another one is higher. */
function isReturn(block: TraceFragment): boolean {
  const above = bidOf(block.previous);
  if (above === undefined || block.columns.source !== block.previous!.columns.destination) return false;
  if (above.kind === 'fragment') return isOutbidNotice(block);
  return tonTransferOf(block)?.comment?.includes('Your bid has been outbid by another user') === true;
}

const outbid: Matcher<Type> = {
  pattern: { test: isReturn },
  build(root) {
    const { previous } = root;
    // An auction has one highest bidder at a time.
    if (previous!.next.filter(isReturn).length !== 1) return undefined;
    const { kind, item, collection } = bidOf(previous)!;
    const { source = null, destination = null, value = null } = root.columns;
    return {
      type: 'auction_outbid',
      columns: {
        source,
        sourceSecondary: previous!.columns.source ?? null,
        destination,
        asset: collection,
        assetSecondary: item,
        amount: value,
        data: {
          ...transferValues({ marketplace: kind }),
          ton_transfer_data: { content: tonTransferOf(root)?.comment ?? null, encrypted: null },
        },
      },
      accounts: item === null ? [] : [item],
    };
  },
};

/** Types of bids. */
const types = {
  auction_bid: {
    words: ['Bid', '{@bidder} bids {$amount} for {!nft_item}'],
    since: 'v1',
    groups: ['nft', 'nft.v3'],
    isIndivisible: true,
    details: {
      amount: 'amount value',
      bidder: 'address source',
      auction: 'address destination',
      nft_item: 'address assetSecondary',
      nft_collection: 'address asset',
      nft_item_index: 'amount nft_transfer_data.nft_item_index',
    },
  },
  auction_outbid: {
    words: ['Outbid', '{@bidder} gets {$amount} back for {!nft_item}[, because {@new_bidder} bids more]'],
    since: 'v3',
    groups: ['nft.v3'],
    isIndivisible: false,
    details: {
      auction_address: 'address source',
      bidder: 'address destination',
      new_bidder: 'address sourceSecondary',
      nft_item: 'address assetSecondary',
      nft_collection: 'address asset',
      amount: 'amount amount',
      comment: 'text? ton_transfer_data.content',
      marketplace: 'text? -',
    },
  },
} satisfies FamilyTypes;

type Type = keyof typeof types;

/** Actions of bids. */
export const auctions = { types, matchers: { bid, outbid } } satisfies Family;
