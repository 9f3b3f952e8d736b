import type { RawJson } from '#service/contract/json-stream.ts';
import { V3Error } from '../request/errors.ts';
import type { TransactionView } from '../views/transaction-views.ts';

/** Rendered transactions by hash. */
export type WrittenTransactions = ReadonlyMap<string, RawJson<TransactionView>>;

const ANSWER_MEBIBYTES = 64;

/** JSON of the transactions of an answer. A thousand usual swaps have some 40 MB. */
const ANSWER_BYTES_MAX = ANSWER_MEBIBYTES * 1024 * 1024;

/**
 * Refuses an answer before it is assembled if its transactions are too large. Each action shows its own copy of a transaction:
 * 255 actions of one wallet may repeat a transaction with 255 messages.
 * @param advice words for the caller
 * @throws V3Error `answer_too_large`
 */
export function refuseLargeCopies(
  actions: readonly { readonly transactions: readonly string[] }[],
  written: WrittenTransactions,
  advice: string,
): void {
  const bytesOf = new Map(Array.from(written, ([hash, { parts }]) => [hash, countBytes(parts)]));
  let left = ANSWER_BYTES_MAX;
  for (const { transactions } of actions) {
    for (const hash of transactions) left -= bytesOf.get(hash) ?? 0;
    if (left < 0) throw tooLarge(advice);
  }
}

function countBytes(parts: RawJson<unknown>['parts']): number {
  return parts.reduce((sum, part) => sum + (typeof part === 'string' ? Buffer.byteLength(part) : part.length), 0);
}

function tooLarge(advice: string): V3Error {
  const message = `the transactions of these actions are larger than ${ANSWER_MEBIBYTES} MiB: ${advice}`;
  return new V3Error('answer_too_large', message);
}
