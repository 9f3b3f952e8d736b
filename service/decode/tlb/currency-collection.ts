import type { CellSlice } from '../cell-slice.ts';
import type { CellTable } from '../cell-table.ts';
import { keyUint, walkHashmap } from '../hashmap.ts';

/** An amount of nanotons and, rarely, other currencies. */
export type CurrencyCollection = {
  readonly grams: bigint;
  /** Root of the dictionary of extra currencies: see `listExtraCurrencies`. */
  readonly extra: number | undefined;
};

/** An extra currency: signed 32-bit id, amount in its smallest unit. */
export type ExtraCurrency = { readonly id: number; readonly amount: bigint };

/** `currencies$_ grams:Grams other:ExtraCurrencyCollection = CurrencyCollection`. */
export function readCurrencyCollection(slice: CellSlice): CurrencyCollection {
  return { grams: slice.coins(), extra: slice.maybeRef() };
}

/** Moves over a `CurrencyCollection`. */
export function skipCurrencyCollection(slice: CellSlice): void {
  slice.skipVarUint(16);
  slice.maybeRef();
}

/** `extra_currencies$_ dict:(HashmapE 32 (VarUInteger 32))`, in the order of the keys. */
export function listExtraCurrencies(table: CellTable, root: number | undefined): ExtraCurrency[] {
  const currencies: ExtraCurrency[] = [];
  walkHashmap(table, root, 32, (key, value) => {
    currencies.push({ id: keyUint(key, 32) | 0, amount: value.varUint(32) });
  });
  return currencies;
}
