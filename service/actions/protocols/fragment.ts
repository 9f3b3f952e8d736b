import { isAborted } from '../engine/trace-fragment.ts';
import { body, coins, fields, maybeAddress, peek, ref, uint, uint32, uint64 } from '../engine/body.ts';
import type { NftItemInfo } from '../engine/interfaces.ts';
import { innerCall } from '../operations/jettons.ts';
import type { Matcher } from '../engine/matcher.ts';
import { listingData, transferValues } from '../operations/nft.ts';
import { as, call, followedBy, maybe } from '../engine/pattern.ts';
import type { FamilyTypes } from '../engine/action-type.ts';
import { nftCancelAuctionDetails, nftPutOnAuctionDetails } from '../operations/nft-types.ts';
import type { Family } from '../engine/family.ts';

// User names and numbers of Telegram: items that are their own auctions (telemint).

/** True for an item of Fragment. */
export function isFragmentItem({ content }: NftItemInfo): boolean {
  const uri = content?.['uri'];
  return typeof uri === 'string' && uri.startsWith('https://nft.fragment.com');
}

const answered = maybe(as('ok', call(0xa37a0983)));

const startBody = body({ queryId: uint64, config: ref });
/** `auction_config beneficiary_address:MsgAddressInt initial_min_bid:Grams max_bid:Grams ...` */
const configFields = fields({
  beneficiary: maybeAddress,
  minBid: coins,
  maxBid: coins,
  bidStep: uint(8),
  extendTime: uint32,
  duration: uint32,
});
const noConfig = { beneficiary: null, minBid: 0n, maxBid: 0n };

const start: Matcher<Type> = {
  pattern: followedBy(call(0x487a8e81), answered),
  build(root, _found, { interfaces }) {
    const { message, source, destination: item } = innerCall(root);
    const info = interfaces.nftItem(item);
    if (info === undefined || !isFragmentItem(info)) return undefined;
    const { beneficiary, minBid, maxBid } = peek(startBody(message).config, configFields) ?? noConfig;
    return {
      type: 'teleitem_start_auction',
      columns: {
        source,
        destination: item,
        asset: info.collection,
        assetSecondary: item,
        data: {
          ...transferValues(),
          ...listingData({
            nft_item_index: info.index,
            mp_fee_factor: 0n,
            mp_fee_base: 0n,
            royalty_fee_base: 0n,
            max_bid: maxBid,
            min_bid: minBid,
            marketplace_fee_address: beneficiary,
            marketplace: 'fragment',
          }),
        },
      },
      failed: isAborted(root),
    };
  },
};

const cancel: Matcher<Type> = {
  pattern: followedBy(call(0x371638ae), answered),
  build(root, _found, { interfaces }) {
    const { source, destination: item } = innerCall(root);
    const info = interfaces.nftItem(item);
    if (info === undefined || !isFragmentItem(info)) return undefined;
    return {
      type: 'teleitem_cancel_auction',
      columns: { source, destination: item, asset: info.collection, assetSecondary: item, data: transferValues() },
      failed: isAborted(root),
    };
  },
};

/** Types of auctions at Fragment. */
const types = {
  teleitem_start_auction: {
    words: ['Auction started', '{@owner} puts {!nft_item} up for auction[ from {$min_bid}][ at {marketplace}]'],
    since: 'v3',
    groups: ['nft.v3'],
    isIndivisible: false,
    details: nftPutOnAuctionDetails,
  },
  teleitem_cancel_auction: {
    words: ['Auction cancelled', '{@owner} cancels the auction of {!nft_item}[ at {marketplace}]'],
    since: 'v3',
    groups: ['nft.v3'],
    isIndivisible: false,
    details: nftCancelAuctionDetails,
  },
} satisfies FamilyTypes;

type Type = keyof typeof types;

/** Actions of auctions at Fragment. */
export const fragment = { types, matchers: { start, cancel } } satisfies Family;
