import { accountKey } from '../store/account-key.ts';
import type { NftSaleRow } from '../store/classification-tables.ts';
import type { Family, Found, Subject } from './family.ts';
import { keyOrNull, rawOf, rawOrNull } from './raw-address.ts';
import { account, accountOrNone, cellOrNull, flag, int, int53, stackShape, utime } from './stack-shape.ts';

/** Magic numbers at the start of `get_sale_data`: `FIX` with its version, and `AUC`. */
const SALE_MAGIC = 0x46495850n;
const AUCTION_MAGIC = 0x415543n;

const saleFields = {
  isComplete: flag,
  createdAt: utime,
  marketplace: account,
  nft: account,
  nftOwner: accountOrNone,
  fullPrice: int,
  feeAddress: account,
  fee: int,
  royaltyAddress: account,
  royalty: int,
};

const saleV3 = stackShape({ magic: int, ...saleFields });

/** Shape of version 4. Fees are hundred-thousandths here; the last entry has prices in jettons. */
const saleV4 = stackShape({ ...saleFields, soldAt: int, soldQueryId: int, jettonPrices: cellOrNull });

const auctionFields = {
  isEnded: flag,
  endTime: int53,
  marketplace: account,
  nft: account,
  nftOwner: accountOrNone,
  lastBid: int,
  lastMember: accountOrNone,
  minStep: int53,
  feeAddress: account,
  feeFactor: int53,
  feeBase: int53,
  royaltyAddress: account,
  royaltyFactor: int53,
  royaltyBase: int53,
  maxBid: int,
  minBid: int,
  createdAt: utime,
  lastBidAt: int53,
  isCanceled: flag,
};

const auctionV3 = stackShape({ magic: int, ...auctionFields });

const auctionV4 = stackShape({
  activated: flag,
  ...auctionFields,
  stepTime: int,
  lastQueryId: int,
  jettonWallet: accountOrNone,
  jettonMaster: accountOrNone,
  isBroken: flag,
  publicKey: int,
});

type Values<T extends (...args: never[]) => unknown> = NonNullable<ReturnType<T>>;
type Sale = Omit<Values<typeof saleV3>, 'magic'>;
type Auction = Omit<Values<typeof auctionV3>, 'magic'>;

/** Getgems up to version 3: sales and auctions with one method. */
export const salesAndAuctions: Family = {
  kind: 'nft_sale',
  needs: ['get_sale_data'],
  detect(subject) {
    const stack = subject.answers('get_sale_data');
    const auction = auctionV3(stack);
    if (auction?.magic === AUCTION_MAGIC) return foundAuction(subject, auction);
    const sale = saleV3(stack);
    return sale?.magic === SALE_MAGIC ? foundSale(subject, sale) : 'malformed';
  },
};

export const salesV4: Family = {
  kind: 'nft_sale',
  needs: ['get_fix_price_data_v4'],
  detect(subject) {
    const sale = saleV4(subject.answers('get_fix_price_data_v4'));
    return sale === undefined ? 'malformed' : foundSale(subject, sale);
  },
};

export const auctionsV4: Family = {
  kind: 'nft_sale',
  needs: ['get_auction_data_v4'],
  detect(subject) {
    const auction = auctionV4(subject.answers('get_auction_data_v4'));
    return auction === undefined ? 'malformed' : foundAuction(subject, auction);
  },
};

function foundSale(subject: Subject, sale: Sale): Found {
  const details = {
    is_complete: sale.isComplete,
    full_price: String(sale.fullPrice),
    marketplace_fee_address: rawOf(sale.feeAddress),
    marketplace_fee: String(sale.fee),
    royalty_address: rawOf(sale.royaltyAddress),
    royalty_amount: String(sale.royalty),
  };
  const nftSale = rowOf('getgems_sale', subject, sale, details);
  return { nftSale, facts: { nftSale: { ...partiesOf(subject, sale), fullPrice: sale.fullPrice } } };
}

function foundAuction(subject: Subject, auction: Auction): Found {
  const details = {
    end_flag: auction.isEnded,
    end_time: auction.endTime,
    last_bid: String(auction.lastBid),
    ...(auction.lastMember !== null && { last_member: rawOf(auction.lastMember) }),
    min_step: auction.minStep,
    mp_fee_address: rawOf(auction.feeAddress),
    mp_fee_factor: auction.feeFactor,
    mp_fee_base: auction.feeBase,
    royalty_fee_address: rawOf(auction.royaltyAddress),
    royalty_fee_factor: auction.royaltyFactor,
    royalty_fee_base: auction.royaltyBase,
    max_bid: String(auction.maxBid),
    min_bid: String(auction.minBid),
    last_bid_at: auction.lastBidAt,
    is_canceled: auction.isCanceled,
  };
  const nftSale = rowOf('getgems_auction', subject, auction, details);
  return { nftSale, facts: { nftAuction: { ...partiesOf(subject, auction), lastBid: auction.lastBid } } };
}

type Listing = Pick<Sale, 'marketplace' | 'nft' | 'nftOwner' | 'createdAt'>;

function rowOf(type: string, { key, state }: Subject, listing: Listing, details: NftSaleRow['details']): NftSaleRow {
  return {
    address: key,
    type,
    nft: accountKey(listing.nft),
    nft_owner: keyOrNull(listing.nftOwner),
    marketplace: accountKey(listing.marketplace),
    created_at: listing.createdAt | 0,
    details,
    ...state,
  };
}

function partiesOf({ state }: Subject, { marketplace, nft, nftOwner }: Listing) {
  return {
    marketplace: rawOf(marketplace),
    nft: rawOf(nft),
    nftOwner: rawOrNull(nftOwner),
    codeHash: state.code_hash.toString('base64'),
  };
}
