import { RawJson } from '../contract/json-stream.ts';
import { createAnswerSize, type AnswerSize } from '../contract/answer-size.ts';
import { createCellStore, type CellStore } from '../decode/cell-store.ts';
import type { LiveTransaction } from '../live/transactions/transactions.ts';
import { createHiddenProperty } from '../runtime/hidden-property.ts';
import { createTimeSlice, type TimeSlice } from '../runtime/time-slice.ts';
import type { TransactionForm } from './transaction-views.ts';

/**
 * Writes the transactions of one answer in their form. A transaction without a received message has no `in_msg`: clients fail on null
 * (service/v2/README.md#clients). Rejects with ContractError `answer_too_large`, and with the reason of the signal.
 */
export type TransactionWriter<T> = (
  transactions: readonly LiveTransaction[],
  signal: AbortSignal,
) => Promise<readonly RawJson<T>[]>;

/** Size of an answer. A thousand usual transactions have some 5 MB, and the transactions of a full block some 15 MB. */
const ANSWER_MEBIBYTES = 32;

/** Letters of a part. Only a transaction of a single part is written once for all answers, as long as a cache has the transaction. */
const PART_LETTERS = 65_536;

/** Parts of the answer that its transactions share. */
type AnswerContext = {
  readonly timeSlice: TimeSlice;
  readonly size: AnswerSize;
  /** Takes cells that have to be made to show messages. */
  readonly store: CellStore;
};

export function createTransactionWriter<T>(form: TransactionForm<T>): TransactionWriter<T> {
  const known = createHiddenProperty<LiveTransaction, RawJson<T>>();
  return async (transactions, signal) => {
    const context = {
      timeSlice: createTimeSlice(signal),
      size: createAnswerSize({ mebibytes: ANSWER_MEBIBYTES }),
      store: createCellStore(),
    };
    const written: RawJson<T>[] = [];
    for (const shown of transactions) {
      const rest = context.timeSlice.pause();
      if (rest !== undefined) await rest;
      const before = known.of(shown);
      if (before !== undefined) context.size.take(before.parts[0]!.length);
      const one = before ?? (await writeTransaction(shown, form, context));
      written.push(one);
      if (one.parts.length === 1 && known.of(shown) === undefined) known.attach(shown, one);
    }
    return written;
  };
}

/** Other requests run between the messages: a transaction may have hundreds of large messages. */
async function writeTransaction<T>(
  shown: LiveTransaction,
  { head, message }: TransactionForm<T>,
  { timeSlice, size, store }: AnswerContext,
): Promise<RawJson<T>> {
  const { table } = shown;
  const { inMessage, outMessages } = shown.transaction;
  const parts: string[] = [];
  let part = '';
  const add = (text: string): void => {
    size.take(text.length);
    part += text;
    if (part.length < PART_LETTERS) return;
    parts.push(part);
    part = '';
  };
  add(JSON.stringify(head(shown)).slice(0, -1));
  if (inMessage !== undefined) add(`,"in_msg":${JSON.stringify(message({ store, table, message: inMessage }))}`);
  let comma = ',"out_msgs":[';
  for (const sent of outMessages) {
    const rest = timeSlice.pause();
    if (rest !== undefined) await rest;
    add(comma + JSON.stringify(message({ store, table, message: sent })));
    comma = ',';
  }
  return new RawJson([...parts, `${part}${outMessages.length === 0 ? comma : ''}]}`]);
}
