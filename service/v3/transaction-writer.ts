import { createPacer, mapPaced, Written } from '../contract/paced.ts';
import { hashKey } from '../store/hash-key.ts';
import type { StoreReader } from '../store/queries/reader.ts';
import type { FoundTransaction } from '../store/queries/transactions.ts';
import { V3Error } from './errors.ts';
import type { Kept, KeptTexts } from './kept-texts.ts';
import {
  accountsOf,
  openTransaction,
  writeTransactions,
  type NewlyWritten,
  type WrittenTransaction,
} from './shown-transactions.ts';
import type { ShownTransaction } from './transaction-views.ts';

/** Shows indexed transactions; those that were asked for last stay written. */
export type TransactionWriter = {
  /** @throws V3Error 413 they have too many messages */
  open(rows: readonly FoundTransaction[]): Promise<OpenedTransactions>;
};

/** Indexed transactions, about to be shown in the order given. */
export type OpenedTransactions = {
  /** Of the transactions and both ends of their messages, as `addressesOf` names them of what is shown. */
  accounts(): Promise<readonly string[]>;
  write(reader: StoreReader): Promise<readonly WrittenTransaction[]>;
};

/** What of a written transaction is kept beside its text. */
export type KeptNames = Omit<WrittenTransaction, 'json'> & { readonly accounts: readonly string[] };

/** Messages in one answer, some 45 MB of JSON: a page of 100 transactions with as many as a transaction may have. */
const messagesMax = 30_000;

export function createTransactionWriter(texts: KeptTexts<KeptNames>): TransactionWriter {
  return {
    async open(rows) {
      const pacer = createPacer();
      const opened: Opened[] = [];
      let messages = 0;
      for (const row of rows) {
        await pacer.pause();
        const key = keyOf(row);
        const one: Opened = texts.get(key) ?? { key, shown: openTransaction(row) };
        messages += 1 + ('shown' in one ? one.shown.transaction.outMessages : one.names.out_msgs).length;
        if (messages > messagesMax) throw new V3Error('answer_too_large', 'the answer is too large: lower limit');
        opened.push(one);
      }
      return {
        accounts: async () => (await mapPaced(opened, (one) => [...accountsOfOpened(one)])).flat(),
        write: async (reader) => {
          const fresh = opened.flatMap((one) => ('shown' in one ? one.shown : []));
          const written = (await writeTransactions(reader, fresh)).values();
          return mapPaced(opened, (one) => {
            if (!('shown' in one)) return { ...one.names, json: new Written(one.text) };
            const made = written.next().value!;
            keep(one, made);
            return made;
          });
        },
      };
    },
  };

  function keep({ key, shown }: Fresh, { json, isSettled, ...tree }: NewlyWritten): void {
    if (!isSettled) return;
    texts.keep(key, { text: json.text, names: { ...tree, accounts: [...accountsOf(shown)] } });
  }
}

type Fresh = { readonly key: string; readonly shown: ShownTransaction };

type Opened = Fresh | Kept<KeptNames>;

const accountsOfOpened = (one: Opened): Iterable<string> =>
  'shown' in one ? accountsOf(one.shown) : one.names.accounts;

/** Its cells and its block say all that is shown of a transaction but the trace that it is in: that may turn out to be part of another. */
const keyOf = ({ hash, trace_id: traceId }: FoundTransaction): string => hashKey(hash) + hashKey(traceId);
