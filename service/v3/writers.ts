import type { Registry } from 'prom-client';

import { createKeptTexts } from './kept-texts.ts';
import { createMessageWriter, type KeptEnds, type MessageWriter } from './message-writer.ts';
import { createKeptMetrics, createWritingMetrics } from './metrics.ts';
import {
  createTransactionWriter,
  type KeptNames,
  type TransactionWriter,
  type TransactionWriterDependencies,
} from './transaction-writer.ts';

/** What writes the transactions and messages of answers. */
export type Writers = { readonly transactions: TransactionWriter; readonly messages: MessageWriter };

const MIB = 1024 * 1024;

/** Newest pages and busy accounts are what most callers ask for: some 6,000 transactions of mainnet. */
const transactionBytesMax = 48 * MIB;

/** Some 8,000 messages of mainnet. */
const messageBytesMax = 16 * MIB;

export type WritersDependencies = Pick<TransactionWriterDependencies, 'threads'> & { readonly register: Registry };

export function createWriters({ register, threads }: WritersDependencies): Writers {
  const transactions = createKeptTexts<KeptNames>(
    { bytesMax: transactionBytesMax },
    { counted: (isKept) => metrics.counted('transactions', isKept) },
  );
  const messages = createKeptTexts<KeptEnds>(
    { bytesMax: messageBytesMax },
    { counted: (isKept) => metrics.counted('messages', isKept) },
  );
  const { written } = createWritingMetrics(register);
  const metrics = createKeptMetrics(register, { transactions: transactions.bytes, messages: messages.bytes });
  return {
    transactions: createTransactionWriter({ texts: transactions, threads, written }),
    messages: createMessageWriter(messages),
  };
}
