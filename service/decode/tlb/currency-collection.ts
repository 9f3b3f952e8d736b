import type { Augmentation } from '../hashmap-writer.ts';
import { updateHashmap } from '../hashmap-writer.ts';
import type { CellStore } from '../cell-store.ts';
import type { BitWriter } from '../bit-writer.ts';
import type { CellSlice } from '../cell-slice.ts';
import type { CellTable } from '../cell-table.ts';
import { openContractCell, walkDictionary } from '../contract-data.ts';
import { keyUint, uintKey } from '../hashmap.ts';
import { ReadBudget } from '../read-budget.ts';

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

/** Skips a `CurrencyCollection`. */
export function skipCurrencyCollection(slice: CellSlice): void {
  slice.skipVarUint(16);
  slice.maybeRef();
}

/** Steps of one amount's dictionary, some 1,300 currencies. A message that a wallet is asked to send can spell any number. */
const CURRENCY_STEPS = 4096;

/**
 * `extra_currencies$_ dict:(HashmapE 32 (VarUInteger 32))`, in the order of the keys.
 * Throws DecodeError `too_big` when the budget is spent, by default beyond some 1,300.
 */
export function listExtraCurrencies(
  table: CellTable,
  root: number | undefined,
  budget: ReadBudget = new ReadBudget({ steps: CURRENCY_STEPS }),
): ExtraCurrency[] {
  const currencies: ExtraCurrency[] = [];
  if (root === undefined) return currencies;
  walkDictionary(openContractCell({ table, cell: root }, budget), 32, (key, value) => {
    currencies.push({ id: keyUint(key, 32) | 0, amount: value.varUint(32) });
  });
  return currencies;
}

/** Returns the currencies as an object: see `currenciesById`. */
export function extraCurrenciesById(table: CellTable, root: number | undefined): Record<string, string> {
  return root === undefined ? {} : currenciesById(listExtraCurrencies(table, root));
}

/** Unsigned id -> amount in decimal digits (service/v3/README.md#values). */
export function currenciesById(currencies: Iterable<ExtraCurrency>): Record<string, string> {
  return Object.fromEntries(Array.from(currencies, ({ id, amount }) => [`${id >>> 0}`, `${amount}`]));
}

/** Amount of nothing. */
export const NO_CURRENCIES: CurrencyCollection = { grams: 0n, extra: undefined };

/** The reverse of `readCurrencyCollection`; the dictionary must be in the store that the cell goes to. */
export function writeCurrencyCollection(writer: BitWriter, { grams, extra }: CurrencyCollection): BitWriter {
  return writer.coins(grams).maybeRef(extra);
}

/** Returns the same amount with its dictionary in another store. */
export function moveCurrencies(
  target: CellStore,
  source: CellTable,
  { grams, extra }: CurrencyCollection,
): CurrencyCollection {
  return { grams, extra: extra === undefined ? undefined : target.import(source, extra) };
}

/** Amount of nanotons alone. */
export function onlyGrams(grams: bigint): CurrencyCollection {
  return { grams, extra: undefined };
}

/** Returns the sum; dictionaries are in the store. */
export function addCurrencies(
  store: CellStore,
  one: CurrencyCollection,
  other: CurrencyCollection,
): CurrencyCollection {
  return combine(store, one, other, 1n);
}

/** Returns `one` without `other`. A currency with too small an amount becomes negative, which the writer refuses. */
export function subtractCurrencies(
  store: CellStore,
  one: CurrencyCollection,
  other: CurrencyCollection,
): CurrencyCollection {
  return combine(store, one, other, -1n);
}

function combine(
  store: CellStore,
  one: CurrencyCollection,
  other: CurrencyCollection,
  sign: 1n | -1n,
): CurrencyCollection {
  const grams = one.grams + sign * other.grams;
  if (other.extra === undefined) return { grams, extra: one.extra };
  const amounts = new Map(listExtraCurrencies(store, one.extra).map(({ id, amount }) => [id, amount]));
  for (const { id, amount } of listExtraCurrencies(store, other.extra)) {
    amounts.set(id, (amounts.get(id) ?? 0n) + sign * amount);
  }
  return {
    grams,
    extra: storeExtraCurrencies(
      store,
      [...amounts].map(([id, amount]) => ({ id, amount })),
    ),
  };
}

/** Makes the dictionary of extra currencies, without zero amounts. */
export function storeExtraCurrencies(store: CellStore, currencies: readonly ExtraCurrency[]): number | undefined {
  const changes = currencies
    .filter(({ amount }) => amount !== 0n)
    .map(({ id, amount }) => ({
      key: uintKey(id, 32),
      write: (writer: BitWriter): void => void writer.varUint(amount, 32),
    }));
  return updateHashmap(store, undefined, { bits: 32 }, changes);
}

/** Augmentation of `CurrencyCollection` over the branches of a dictionary: the sum. */
export const currencyAugmentation: Augmentation = {
  join(writer, left, right, store) {
    writeCurrencyCollection(writer, addCurrencies(store, readCurrencyCollection(left), readCurrencyCollection(right)));
  },
};
