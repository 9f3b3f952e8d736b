import { CellSlice } from '#service/decode/cell-slice.ts';
import type { CellTable } from '#service/decode/cell-table.ts';
import type { CurrencyCollection } from '#service/decode/tlb/currency-collection.ts';
import { listExtraCurrencies, NO_CURRENCIES, readCurrencyCollection } from '#service/decode/tlb/currency-collection.ts';
import { readMessage } from '#service/decode/tlb/message.ts';
import type { AccountStateRow } from '#service/store/tables.ts';
import type { OpenBlock } from './open-block.ts';
import type { FoundTransaction } from './block-transactions.ts';

type Balance = Pick<AccountStateRow, 'balance' | 'extra_currencies'>;

export type BalanceEnds = {
  /** What the account had before the first transaction; undefined when the block does not show it. */
  readonly before: CurrencyCollection | undefined;
  /** What it has after the last; undefined when it is gone. */
  readonly after: CurrencyCollection | undefined;
};

/** From this version on the bits of `ihr_fee` are flags (indexing sheet 3). */
const FLAGS_VERSION_MIN = 12;

/** Bits of a transaction before `total_fees`: tag, account, lt, hash and lt before, utime, count, two statuses. */
const BITS_BEFORE_FEES = 4 + 256 + 64 + 256 + 64 + 32 + 15 + 2 + 2;

/**
 * The balance after each transaction but the last: back from the one after it, by what each took in, sent out and paid. Empty when that
 * does not lead to what the account had before the first, as after a burn: then nothing is known of the states between.
 */
export function statesBetween(
  { table, info }: OpenBlock,
  transactions: readonly FoundTransaction[],
  { before, after }: BalanceEnds,
): Balance[] {
  const hasFees = (info.software?.version ?? 0) < FLAGS_VERSION_MIN;
  const sum = createSum(table, after);
  const balances = transactions.toReversed().map((transaction) => {
    takeBack(sum, table, transaction, hasFees);
    return sum.balance();
  });
  const start = balances.pop()!.balance;
  if (start < 0n || (before !== undefined && start !== before.grams)) return [];
  return balances.toReversed();
}

type Sum = { add(amount: CurrencyCollection, sign: 1n | -1n): void; balance(): Balance };

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
    add(amount, sign) {
      grams += sign * amount.grams;
      addExtra(amount.extra, sign);
    },
    balance() {
      const left = isShown ? [...extra].filter(([, amount]) => amount > 0n) : [];
      const extraCurrencies = Object.fromEntries(left.map(([id, amount]) => [`${id >>> 0}`, `${amount}`]));
      return { balance: grams, extra_currencies: isShown && left.length === 0 ? null : extraCurrencies };
    },
  };
}

function takeBack(sum: Sum, table: CellTable, transaction: FoundTransaction, hasFees: boolean): void {
  const slice = new CellSlice(table, transaction.cell);
  slice.skip(BITS_BEFORE_FEES);
  // The first reference holds the messages, that of the fees' other currencies comes next.
  slice.ref();
  sum.add(readCurrencyCollection(slice), 1n);
  if (transaction.inMessage !== undefined) addMessage(sum, table, transaction.inMessage, -1n, hasFees);
  for (const message of transaction.outMessages) addMessage(sum, table, message, 1n, hasFees);
}

/** `sign`: 1 for a message that was sent, -1 for the one that was taken. */
function addMessage(sum: Sum, table: CellTable, cell: number, sign: 1n | -1n, hasFees: boolean): void {
  const { info } = readMessage(table, cell);
  if (info.kind !== 'internal') return;
  sum.add(info.value, sign);
  // Forwarding was paid by the sender; what it would have cost over hypercube routing comes back.
  const fees = (sign === 1n ? info.forwardFee : 0n) + (hasFees ? info.extraFlags : 0n);
  sum.add({ grams: fees, extra: undefined }, sign);
}
