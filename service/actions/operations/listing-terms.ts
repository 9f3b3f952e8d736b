import { openContractCell } from '#service/decode/contract-data.ts';
import { DecodeError } from '#service/decode/errors.ts';
import { knownCode, type KnownCode } from '#service/decode/known-codes.ts';
import { readStateInit } from '#service/decode/tlb/state-init.ts';
import { bit, coins, fields, inRef, maybeAddress, uint, uint32, uint64, type FieldReader } from '../engine/body.ts';
import type { EventMessage } from '../engine/classifier-input.ts';

// Terms of a sale: the initial data of a Getgems sale or auction contract, by the hash of its code.

export type SaleTerms = {
  readonly marketplace: string | null;
  readonly fullPrice: bigint;
  readonly feeAddress: string | null;
  /** Null where the contract has a share instead. */
  readonly fee: bigint | null;
  readonly royaltyAddress: string | null;
  /** Royalty in the same form as `fee`. */
  readonly royalty: bigint | null;
};

export type AuctionTerms = {
  readonly feeAddress: string | null;
  /** The fee is `feeFactor / feeBase` of the price. */
  readonly feeFactor: number;
  readonly feeBase: number;
  readonly royaltyAddress: string | null;
  readonly royaltyBase: number;
  readonly minBid: bigint;
  readonly maxBid: bigint;
};

const parties = { marketplace: maybeAddress, item: maybeAddress, owner: maybeAddress, fullPrice: coins };

const saleV1 = fields({
  ...parties,
  fees: inRef(fields({ fee: coins, feeAddress: maybeAddress, royaltyAddress: maybeAddress, royalty: coins })),
});

const saleV2 = fields({
  isComplete: bit,
  createdAt: uint32,
  ...parties,
  fees: inRef(fields({ feeAddress: maybeAddress, fee: coins, royaltyAddress: maybeAddress, royalty: coins })),
});

const saleV4 = fields({
  isComplete: bit,
  marketplace: maybeAddress,
  owner: maybeAddress,
  fullPrice: coins,
  soldAt: uint32,
  queryId: uint64,
  fees: inRef(
    fields({ feeAddress: maybeAddress, royaltyAddress: maybeAddress, share: uint(17), royaltyShare: uint(17) }),
  ),
});

const sale =
  (read: typeof saleV1 | typeof saleV2 | typeof saleV4): FieldReader<SaleTerms> =>
  (slice) => {
    const { marketplace, fullPrice, fees } = read(slice);
    return { marketplace, fullPrice, fee: null, royalty: null, ...fees };
  };

/** Readers by the layout of known code. A contract of other code is read with the newest reader. */
const sales: Readonly<Record<NonNullable<KnownCode['sale']>, FieldReader<SaleTerms>>> = {
  v1: sale(saleV1),
  v2: sale(saleV2),
  v4: sale(saleV4),
};

const shares = { feeFactor: uint32, feeBase: uint32, royaltyFactor: uint32, royaltyBase: uint32 };
const receivers = { feeAddress: maybeAddress, royaltyAddress: maybeAddress };
const bids = { minBid: coins, maxBid: coins };

/** Each receiver with its share. */
const paired = inRef(
  fields({
    feeAddress: maybeAddress,
    feeFactor: uint32,
    feeBase: uint32,
    royaltyAddress: maybeAddress,
    royaltyFactor: uint32,
    royaltyBase: uint32,
  }),
);

const auctionV1 = fields({ fees: paired, bids: inRef(fields(bids)) });

const lastBid = { member: maybeAddress, bid: coins, bidAt: uint32, endTime: uint32 };

const auctionV2 = fields({
  hasEnded: bit,
  isActive: bit,
  isCanceled: bit,
  ...lastBid,
  fees: paired,
  bids: inRef(fields({ gasPrice: uint32, marketplace: maybeAddress, ...bids })),
});

const lastBidAndOwner = { hasEnded: bit, isCanceled: bit, ...lastBid, owner: maybeAddress, queryId: uint64 };
const marketBids = inRef(fields({ marketplace: maybeAddress, ...bids }));

const auctionV3 = fields({ ...lastBidAndOwner, ...shares, fees: inRef(fields(receivers)), bids: marketBids });
const auctionV4 = fields({ ...lastBidAndOwner, fees: inRef(fields({ ...receivers, ...shares })), bids: marketBids });

const auction =
  <T extends { readonly fees: object; readonly bids: object }>(
    read: FieldReader<T>,
  ): FieldReader<T & T['fees'] & T['bids']> =>
  (slice) => {
    const values = read(slice);
    return { ...values, ...values.fees, ...values.bids };
  };

/** Readers of auctions, in the same form as `sales`. */
const auctions: Readonly<Record<NonNullable<KnownCode['auction']>, FieldReader<AuctionTerms>>> = {
  v1: auction(auctionV1),
  v2: auction(auctionV2),
  v3: auction(auctionV3),
  v4: auction(auctionV4),
};

function deployed({ init }: EventMessage, codeHash: string | null) {
  if (init === undefined) throw new DecodeError('bad_value', 'The message deploys nothing.', { cell: 0 });
  const { code, data } = readStateInit(init.clone());
  if (data === undefined) throw new DecodeError('bad_value', 'The contract has no data.', { cell: init.cell });
  const hash = codeHash ?? (code === undefined ? '' : init.table.hash(code).toString('base64'));
  return { hash, data: openContractCell({ table: init.table, cell: data }) };
}

/** Terms of a sale that a message deploys; `codeHash` if known. Throws DecodeError when its data are no sale's. */
export function readSaleTerms(message: EventMessage, codeHash: string | null): SaleTerms {
  const { hash, data } = deployed(message, codeHash);
  return sales[knownCode(hash)?.sale ?? 'v4'](data);
}

/** Reads the terms of an auction, in the same way as `readSaleTerms`. */
export function readAuctionTerms(message: EventMessage, codeHash: string | null): AuctionTerms {
  const { hash, data } = deployed(message, codeHash);
  return auctions[knownCode(hash)?.auction ?? 'v3'](data);
}
