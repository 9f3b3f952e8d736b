import type { Registry } from 'prom-client';

import { createKeptTexts, type KeptTextsDependencies } from './kept-texts.ts';
import { createKeptTraces } from './kept-traces.ts';
import { createMessageWriter, type KeptEnds, type MessageWriter } from './message-writer.ts';
import { createWritingMetrics, type KeptKind, type KeptMetrics } from './metrics.ts';
import type { KeptTrace } from './packed-trace.ts';
import { createTraceWriter, type TraceWriter } from './trace-writer.ts';
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

/** What is asked for again and again, newest pages and the accounts that wallets and explorers look at: some 25,000 transactions of mainnet. */
const transactionBytesMax = 160 * MIB;

/** Some 20,000 messages of mainnet. */
const messageBytesMax = 48 * MIB;

/** Some 600 traces of mainnet: the newest, and those of the busiest accounts. The index has those that ended while it followed its network. */
const traceBytesMax = 16 * MIB;

export type WritersDependencies = Pick<TransactionWriterDependencies, 'threads'> & {
  readonly register: Registry;
  readonly metrics: KeptMetrics;
};

export function createWriters({ register, metrics, threads }: WritersDependencies): Writers {
  const counting = (kind: KeptKind): KeptTextsDependencies => ({
    counted: (isKept) => metrics.counted(kind, isKept ? 'kept' : 'made'),
  });
  const transactions = createKeptTexts<KeptNames>({ bytesMax: transactionBytesMax }, counting('transactions'));
  const messages = createKeptTexts<KeptEnds>({ bytesMax: messageBytesMax }, counting('messages'));
  const traces = createKeptTexts<KeptTrace>({ bytesMax: traceBytesMax }, { counted: () => {} });
  const { written } = createWritingMetrics(register);
  metrics.holds('transactions', transactions.bytes);
  metrics.holds('messages', messages.bytes);
  metrics.holds('traces', traces.bytes);
  const writer = createTransactionWriter({ texts: transactions, threads, written });
  return {
    transactions: writer,
    messages: createMessageWriter(messages),
    traces: createTraceWriter({
      kept: createKeptTraces({
        texts: traces,
        counted: (outcome, count) => metrics.counted('traces', outcome, count),
      }),
      transactions: writer,
    }),
  };
}
