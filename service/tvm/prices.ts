import { CellSlice } from '../decode/cell-slice.ts';
import type { CellTable } from '../decode/cell-table.ts';
import { walkHashmap } from '../decode/hashmap.ts';
import { findConfigParam } from '../decode/tlb/config-params.ts';
import { TvmError } from './errors.ts';

/** Prices of one of the two chains in the configuration. Gas and forward prices are in 1/65536 of a nanoton. */
export type Prices = {
  readonly gas: GasPrices;
  readonly storage: readonly StoragePrice[];
  /** Prices of messages that stay in the basechain, and of messages from or to the masterchain. */
  readonly messages: { readonly basechain: MessagePrices; readonly masterchain: MessagePrices };
};

export type GasPrices = {
  readonly flatLimit: bigint;
  readonly flatPrice: bigint;
  readonly price: bigint;
  /** Most gas of one transaction. */
  readonly limit: bigint;
  /** Gas that a contract may use before it accepts an external message. */
  readonly credit: bigint;
};

/** Prices of a bit and of a cell for each second from `sinceUtime` on. */
export type StoragePrice = { readonly sinceUtime: number; readonly bit: bigint; readonly cell: bigint };

export type MessagePrices = { readonly lump: bigint; readonly bit: bigint; readonly cell: bigint };

/** Size in cells, from which fees are computed. */
export type CellUsage = { readonly cells: number; readonly bits: number };

/**
 * Reads parameters 18, 20 or 21, 24 and 25. Throws TvmError `tvm_bad_request` when a parameter is not set, DecodeError when its type is wrong.
 * @param root the configuration's dictionary
 */
export function readPrices(table: CellTable, root: number, masterchain: boolean): Prices {
  const open = (param: number): CellSlice => new CellSlice(table, needParam(table, root, param));
  return {
    gas: readGasPrices(open(masterchain ? 20 : 21)),
    storage: readStoragePrices(table, needParam(table, root, 18), masterchain),
    messages: { basechain: readMessagePrices(open(25)), masterchain: readMessagePrices(open(24)) },
  };
}

function needParam(table: CellTable, root: number, param: number): number {
  const cell = findConfigParam(table, root, param);
  if (cell === undefined) {
    throw new TvmError('tvm_bad_request', { detail: `configuration parameter ${param} is not set` });
  }
  return cell;
}

/**
 * `gas_flat_pfx#d1 flat_gas_limit:uint64 flat_gas_price:uint64 other:GasLimitsPrices`, `gas_prices#dd gas_price:uint64
 * gas_limit:uint64 gas_credit:uint64 ...`, `gas_prices_ext#de gas_price:uint64 gas_limit:uint64 special_gas_limit:uint64
 * gas_credit:uint64 ...`.
 */
function readGasPrices(slice: CellSlice): GasPrices {
  const isFlat = slice.peekUint(8) === 0xd1;
  if (isFlat) slice.skip(8);
  const [flatLimit, flatPrice] = isFlat ? [slice.uint64(), slice.uint64()] : [0n, 0n];
  const isExtended = slice.peekUint(8) === 0xde;
  if (isExtended) slice.skip(8);
  else slice.expectTag(8, 0xdd, 'GasLimitsPrices');
  const [price, limit] = [slice.uint64(), slice.uint64()];
  if (isExtended) slice.skip(64);
  return { flatLimit, flatPrice, price, limit, credit: slice.uint64() };
}

/**
 * `_ (Hashmap 32 StoragePrices) = ConfigParam 18`, `_#cc utime_since:uint32 bit_price_ps:uint64 cell_price_ps:uint64
 * mc_bit_price_ps:uint64 mc_cell_price_ps:uint64 = StoragePrices`.
 */
function readStoragePrices(table: CellTable, root: number, masterchain: boolean): StoragePrice[] {
  const prices: StoragePrice[] = [];
  walkHashmap(table, root, 32, (_, slice) => {
    slice.expectTag(8, 0xcc, 'StoragePrices');
    const sinceUtime = slice.uint(32);
    if (masterchain) slice.skip(128);
    prices.push({ sinceUtime, bit: slice.uint64(), cell: slice.uint64() });
  });
  return prices;
}

/** `msg_forward_prices#ea lump_price:uint64 bit_price:uint64 cell_price:uint64 ...`. */
function readMessagePrices(slice: CellSlice): MessagePrices {
  slice.expectTag(8, 0xea, 'MsgForwardPrices');
  return { lump: slice.uint64(), bit: slice.uint64(), cell: slice.uint64() };
}

/** Returns the price of `gas` in nanotons. */
export function gasFee({ flatLimit, flatPrice, price }: GasPrices, gas: bigint): bigint {
  return gas <= flatLimit ? flatPrice : flatPrice + ceilShift(price * (gas - flatLimit));
}

/** Returns the gas that a balance of nanotons buys: 0 below the flat price, at most a transaction's limit. */
export function gasBought({ flatLimit, flatPrice, price, limit }: GasPrices, balance: bigint): bigint {
  if (balance < flatPrice) return 0n;
  const bought = price === 0n ? limit : ((balance - flatPrice) << 16n) / price + flatLimit;
  return bought < limit ? bought : limit;
}

/** Returns the price in nanotons of carrying a message; the size excludes the root cell. */
export function forwardFee({ lump, bit, cell }: MessagePrices, { cells, bits }: CellUsage): bigint {
  return lump + ceilShift(bit * BigInt(bits) + cell * BigInt(cells));
}

/** Returns the price in nanotons of storage from `lastPaid` (0: never charged) to `utime`, each period at its price. */
export function storageFee(
  prices: readonly StoragePrice[],
  { cells, bits }: CellUsage,
  lastPaid: number,
  utime: number,
): bigint {
  if (lastPaid === 0) return 0n;
  const total = prices.reduce((sum, { sinceUtime, bit, cell }, index) => {
    const from = Math.max(lastPaid, sinceUtime);
    const seconds = Math.min(utime, prices[index + 1]?.sinceUtime ?? utime) - from;
    return seconds <= 0 ? sum : sum + (cell * BigInt(cells) + bit * BigInt(bits)) * BigInt(seconds);
  }, 0n);
  return ceilShift(total);
}

/** Divides by 65536, rounding up. */
function ceilShift(value: bigint): bigint {
  return (value + 0xffffn) >> 16n;
}
