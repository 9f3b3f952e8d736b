import type { BitWriter } from '../bit-writer.ts';
import type { CellSlice } from '../cell-slice.ts';
import { DecodeError } from '../errors.ts';
import type { Augmentation } from '../hashmap-writer.ts';
import { addCurrencies, readCurrencyCollection, writeCurrencyCollection } from './currency-collection.ts';
import type { CurrencyCollection } from './currency-collection.ts';

/** Augmentation of a shard's accounts: the deepest fixed prefix and the sum of balances below. */
export type DepthBalanceInfo = { readonly splitDepth: number; readonly balance: CurrencyCollection };

const SPLIT_DEPTH_MAX = 30;

/** `depth_balance$_ split_depth:(#<= 30) balance:CurrencyCollection = DepthBalanceInfo`. */
export function readDepthBalanceInfo(slice: CellSlice): DepthBalanceInfo {
  const splitDepth = slice.uint(5);
  if (splitDepth > SPLIT_DEPTH_MAX) {
    throw new DecodeError('bad_value', 'A split depth is too large.', {
      cell: slice.cell,
      found: splitDepth,
      limit: SPLIT_DEPTH_MAX,
    });
  }
  return { splitDepth, balance: readCurrencyCollection(slice) };
}

/** The reverse of `readDepthBalanceInfo`. */
export function writeDepthBalanceInfo(writer: BitWriter, { splitDepth, balance }: DepthBalanceInfo): BitWriter {
  return writeCurrencyCollection(writer.uint(splitDepth, 5), balance);
}

/** Augmentation over two branches: the deeper prefix, the sum. */
export const depthBalanceAugmentation: Augmentation = {
  join(writer, left, right, store) {
    const [one, other] = [readDepthBalanceInfo(left), readDepthBalanceInfo(right)];
    writeDepthBalanceInfo(writer, {
      splitDepth: Math.max(one.splitDepth, other.splitDepth),
      balance: addCurrencies(store, one.balance, other.balance),
    });
  },
};
