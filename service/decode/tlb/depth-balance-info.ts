import type { CellSlice } from '../cell-slice.ts';
import { DecodeError } from '../errors.ts';
import { readCurrencyCollection } from './currency-collection.ts';
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
