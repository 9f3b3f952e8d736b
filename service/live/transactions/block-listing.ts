import type { BlockId } from '#service/decode/block-id.ts';
import { readTransaction } from '#service/decode/tlb/transaction.ts';
import { listBlockTransactions, listBlockTransactionsExt } from '#service/liteserver/functions.ts';
import type { Pool } from '#service/pool/pool.ts';
import { checkBlockTransactions, checkBlockTransactionsExt } from '#service/proof/block-transactions-proof.ts';
import { proving } from '#service/proof/proof-cells.ts';
import type { LiveAnswer, ReadContext } from '#service/contract/answer.ts';
import type { BlockTransactionRange, LiveTransaction, TransactionName } from './transactions.ts';

/** Maximum transactions in one answer of a lite server (service/liteserver/README.md#functions). */
export const LISTING_STEP_MAX = 256;

/** Mode bits: account, lt, hash, proof, `after` is there (service/liteserver/README.md#mode-bits). */
const PROVED_NAMES = 1 | 2 | 4 | 32;
const [REVERSE, AFTER] = [64, 128];

/** Part of a listing from a single answer; `incomplete` when it ended because there were enough. */
export type ListingStep<T> = { readonly transactions: readonly T[]; readonly incomplete: boolean };

/** Names of transactions of a proved block, at most 256. Rejects as `Pool.query` does. */
export function listNames(
  pool: Pool,
  block: BlockId,
  range: BlockTransactionRange,
  context: ReadContext,
): Promise<LiveAnswer<ListingStep<TransactionName>>> {
  const { args, expected } = question(block, range);
  return pool.query(listBlockTransactions, args, context, {
    shareAs: 'block transactions',
    immutable: true,
    check: (answer) => {
      const { ids, incomplete } = checkBlockTransactions(expected, answer);
      return { transactions: ids, incomplete };
    },
  });
}

/** Lists the transactions themselves, like `listNames`. `reverse` lists from the end; `after` is then the upper bound. */
export function listTransactions(
  pool: Pool,
  block: BlockId,
  range: BlockTransactionRange & { readonly reverse?: boolean },
  context: ReadContext,
): Promise<LiveAnswer<ListingStep<LiveTransaction>>> {
  const { args, expected } = question(block, range);
  const { workchain } = block;
  return pool.query(listBlockTransactionsExt, args, context, {
    shareAs: 'block transactions',
    immutable: true,
    check: (answer) => {
      const { transactions, incomplete } = checkBlockTransactionsExt(expected, answer);
      const read = transactions.map(({ transaction: { table, cell } }) =>
        proving('blockTransactionsExt', (): LiveTransaction => ({
          workchain,
          table,
          transaction: readTransaction(table, cell),
        })),
      );
      return { transactions: read, incomplete };
    },
  });
}

function question(
  block: BlockId,
  { count, after, reverse = false }: BlockTransactionRange & { readonly reverse?: boolean },
) {
  const mode = PROVED_NAMES | (reverse ? REVERSE : 0) | (after === undefined ? 0 : AFTER);
  const place = after === undefined ? {} : { after };
  return { args: { id: block, mode, count, ...place }, expected: { block, mode, count, ...place } };
}
