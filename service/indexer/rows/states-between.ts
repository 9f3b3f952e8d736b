import { CellSlice } from '#service/decode/cell-slice.ts';
import type { CellTable } from '#service/decode/cell-table.ts';
import type { CurrencyCollection } from '#service/decode/tlb/currency-collection.ts';
import {
  currenciesById,
  listExtraCurrencies,
  NO_CURRENCIES,
  readCurrencyCollection,
} from '#service/decode/tlb/currency-collection.ts';
import { FLAGS_VERSION_MIN } from '#service/decode/tlb/global-version.ts';
import { skipInternalAddress, skipMessageAddress } from '#service/decode/tlb/message-address.ts';
import type { AccountStateRow } from '#service/store/tables.ts';
import type { FoundTransaction } from './block-transactions.ts';
import type { BlockReader } from './block-reader.ts';

type Balance = Pick<AccountStateRow, 'balance' | 'extra_currencies'>;

/** Fields of a transaction that change the balance. */
type Moving = Pick<FoundTransaction, 'cell' | 'inMessage' | 'outMessages'>;

export type BalanceEnds = {
  /** Balance before the first transaction; undefined when the block does not show it. */
  readonly before: CurrencyCollection | undefined;
  /** Balance after the last transaction; undefined for a deleted account. */
  readonly after: CurrencyCollection | undefined;
};

/** Bits of a transaction before `total_fees`: tag, account, lt, hash and lt before, utime, count, two statuses. */
const BITS_BEFORE_FEES = 4 + 256 + 64 + 256 + 64 + 32 + 15 + 2 + 2;

/**
 * Balances after each transaction but the last. Goes back from the later balance by the received, sent and paid amounts. Empty when the
 * result differs from the balance before the first, such as after a burn. The states between are unknown then.
 */
export function statesBetween(
  { table, globalVersion }: Pick<BlockReader, 'table' | 'globalVersion'>,
  transactions: readonly Moving[],
  { before, after }: BalanceEnds,
): Balance[] {
  const hasFees = (globalVersion ?? 0) < FLAGS_VERSION_MIN;
  const sum = createSum(table, after);
  const balances: Balance[] = [];
  for (let index = transactions.length - 1; index > 0; index--) {
    takeBack(sum, table, transactions[index]!, hasFees);
    balances.push(sum.balance());
  }
  takeBack(sum, table, transactions[0]!, hasFees);
  const start = sum.grams();
  if (start < 0n || (before !== undefined && start !== before.grams)) return [];
  return balances.toReversed();
}

type Sum = {
  add(amount: CurrencyCollection): void;
  subtract(amount: CurrencyCollection): void;
  addGrams(grams: bigint): void;
  grams(): bigint;
  balance(): Balance;
};

function createSum(table: CellTable, start: CurrencyCollection = NO_CURRENCIES): Sum {
  let { grams } = start;
  const extra = new Map<number, bigint>();
  let isShown = true;
  const addExtra = (root: number | undefined, sign: 1n | -1n): void => {
    if (root === undefined) return;
    isShown &&= table.levelMask(root) === 0;
    if (!isShown) return;
    for (const { id, amount } of listExtraCurrencies(table, root)) extra.set(id, (extra.get(id) ?? 0n) + sign * amount);
  };
  addExtra(start.extra, 1n);
  return {
    add(amount) {
      grams += amount.grams;
      addExtra(amount.extra, 1n);
    },
    subtract(amount) {
      grams -= amount.grams;
      addExtra(amount.extra, -1n);
    },
    addGrams(more) {
      grams += more;
    },
    grams: () => grams,
    balance() {
      if (isShown && extra.size === 0) return { balance: grams, extra_currencies: null };
      const all = Array.from(extra, ([id, amount]) => ({ id, amount }));
      const left = isShown ? all.filter(({ amount }) => amount > 0n) : [];
      return { balance: grams, extra_currencies: isShown && left.length === 0 ? null : currenciesById(left) };
    },
  };
}

function takeBack(sum: Sum, table: CellTable, transaction: Moving, hasFees: boolean): void {
  const slice = new CellSlice(table, transaction.cell);
  slice.skip(BITS_BEFORE_FEES);
  // The first reference has the messages, the next the other currencies of the fees.
  slice.ref();
  sum.add(readCurrencyCollection(slice));
  if (transaction.inMessage !== undefined) takeBackIn(sum, table, transaction.inMessage, hasFees);
  for (const message of transaction.outMessages) takeBackOut(sum, table, message, hasFees);
}

function takeBackIn(sum: Sum, table: CellTable, cell: number, hasFees: boolean): void {
  const slice = openValue(table, cell);
  if (slice === undefined) return;
  sum.subtract(readCurrencyCollection(slice));
  if (hasFees) sum.addGrams(-slice.coins());
}

/** The sender paid for forwarding; the cost over hypercube routing returns. */
function takeBackOut(sum: Sum, table: CellTable, cell: number, hasFees: boolean): void {
  const slice = openValue(table, cell);
  if (slice === undefined) return;
  sum.add(readCurrencyCollection(slice));
  if (hasFees) sum.addGrams(slice.coins());
  else slice.skipVarUint(16);
  sum.addGrams(slice.coins());
}

/**
 * Reader at the value of a message; `extra_flags` and `fwd_fee` follow the value. Undefined for a message without value. TL-B as in
 * decode's message.ts.
 */
function openValue(table: CellTable, cell: number): CellSlice | undefined {
  const slice = new CellSlice(table, cell);
  if (slice.bit()) return undefined;
  // Three flags: delivery over hypercube routing off, bounce, bounced.
  slice.skip(3);
  skipMessageAddress(slice);
  skipInternalAddress(slice);
  return slice;
}
