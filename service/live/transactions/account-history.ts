import { readTransaction } from '#service/decode/tlb/transaction.ts';
import { getTransactions } from '#service/liteserver/functions.ts';
import type { Pool } from '#service/pool/pool.ts';
import { proving } from '#service/proof/proof-cells.ts';
import { checkTransactionList } from '#service/proof/transaction-list-proof.ts';
import type { AccountId } from '../accounts/accounts.ts';
import type { LiveAnswer, ReadContext } from '#service/contract/answer.ts';
import type { LiveTransaction, LiveTransactionList, TransactionPlace } from './transactions.ts';

/** Maximum transactions in one answer of a lite server (service/liteserver/README.md#functions). */
export const HISTORY_STEP_MAX = 16;

/**
 * Transactions of an account from a position back: at least one and at most `count` (1..16); none from lt 0.
 * The position's hash proves the first transaction, and each transaction proves the next.
 * A lite server stops where its archive ends, so there may be fewer. The next call asks another lite server.
 * Rejects as `Pool.query` does.
 */
export function readHistoryStep(
  pool: Pool,
  account: AccountId,
  { lt, hash }: TransactionPlace,
  count: number,
  context: ReadContext,
): Promise<LiveAnswer<LiveTransactionList>> {
  const { workchain } = account;
  return pool.query(getTransactions, { count, account, lt, hash }, context, {
    shareAs: 'transactions',
    immutable: true,
    check: (answer): LiveTransactionList => {
      const listed = checkTransactionList({ workchain, account: account.id, lt, hash, count }, answer);
      const transactions = listed.map(({ transaction: { table, cell } }) =>
        proving('transactionList', (): LiveTransaction => ({
          workchain,
          table,
          transaction: readTransaction(table, cell),
        })),
      );
      const last = listed.at(-1);
      return { transactions, previous: last === undefined ? { lt, hash } : { lt: last.prevLt, hash: last.prevHash } };
    },
  });
}
