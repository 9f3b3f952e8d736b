import type { Registry } from 'prom-client';

import { createKeptTexts } from './kept-texts.ts';
import { createMessageWriter, type KeptEnds, type MessageWriter } from './message-writer.ts';
import { createKeptMetrics, createWritingMetrics } from './metrics.ts';
import { createTraceWriter, type KeptTrace, type TraceWriter } from './trace-writer.ts';
import {
  createTransactionWriter,
  type KeptNames,
  type TransactionWriter,
  type TransactionWriterDependencies,
} from './transaction-writer.ts';

/** What writes the transactions, messages and traces of answers. */
export type Writers = {
  readonly transactions: TransactionWriter;
  readonly messages: MessageWriter;
  readonly traces: TraceWriter;
};

const MIB = 1024 * 1024;

/** Newest pages and busy accounts are what most callers ask for: some 4,500 transactions of mainnet. */
const transactionBytesMax = 36 * MIB;

/** Some 6,000 messages of mainnet. */
const messageBytesMax = 12 * MIB;

/** Some 600 traces of mainnet: the newest, which most callers ask for again and again, and those of the busiest accounts. */
const traceBytesMax = 16 * MIB;

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
  const traces = createKeptTexts<KeptTrace>(
    { bytesMax: traceBytesMax },
    { counted: (isKept) => metrics.counted('traces', isKept) },
  );
  const { written } = createWritingMetrics(register);
  const metrics = createKeptMetrics(register, {
    transactions: transactions.bytes,
    messages: messages.bytes,
    traces: traces.bytes,
  });
  const writer = createTransactionWriter({ texts: transactions, threads, written });
  return {
    transactions: writer,
    messages: createMessageWriter(messages),
    traces: createTraceWriter({ texts: traces, transactions: writer }),
  };
}
