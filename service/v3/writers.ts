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

/** Writers that render the transactions, messages and traces of answers. */
export type Writers = {
  readonly transactions: TransactionWriter;
  readonly messages: MessageWriter;
  readonly traces: TraceWriter;
};

const MIB = 1024 * 1024;

// Bounds of an API with many callers; `cachePart` scales all of them.

/** Popular content: newest pages and the accounts of wallets and explorers. Some 25,000 transactions of mainnet. */
const transactionBytesMax = 160 * MIB;

/** Some 20,000 messages of mainnet. */
const messageBytesMax = 48 * MIB;

/** Some 450 traces of mainnet: the popular ones among the newest and the busiest accounts. */
const traceBytesMax = 16 * MIB;

/** Some 20,000 traces that are stored in Postgres, which stores traces that end while it follows the head. */
const packedTraceBytesMax = 128 * MIB;

export type WritersDependencies = Pick<TransactionWriterDependencies, 'threads'> & {
  readonly register: Registry;
  readonly metrics: KeptMetrics;
  /** From 0 to below 1. */
  readonly random: () => number;
};

export type WritersOptions = {
  /** Part of the usual cache bytes, above 0 to 1. */
  readonly cachePart: number;
};

export function createWriters(
  { cachePart }: WritersOptions,
  { register, metrics, threads, random }: WritersDependencies,
): Writers {
  const room = (bytes: number) => ({ bytesMax: Math.ceil(bytes * cachePart) });
  const counting = (kind: KeptKind): KeptTextsDependencies => ({
    counted: (isKept) => metrics.counted(kind, isKept ? 'kept' : 'made'),
  });
  const transactions = createKeptTexts<KeptNames>(room(transactionBytesMax), counting('transactions'));
  const messages = createKeptTexts<KeptEnds>(room(messageBytesMax), counting('messages'));
  // Traces are counted elsewhere: there the stored traces are known.
  const uncounted: KeptTextsDependencies = { counted: () => {} };
  const traces = createKeptTexts<KeptTrace>(room(traceBytesMax), uncounted);
  const packedTraces = createKeptTexts<KeptTrace>(room(packedTraceBytesMax), uncounted);
  const { written } = createWritingMetrics(register);
  metrics.holds('transactions', transactions.bytes);
  metrics.holds('messages', messages.bytes);
  metrics.holds('traces', () => traces.bytes() + packedTraces.bytes());
  const writer = createTransactionWriter({ texts: transactions, threads, written });
  return {
    transactions: writer,
    messages: createMessageWriter(messages),
    traces: createTraceWriter({
      kept: createKeptTraces({
        texts: traces,
        packed: packedTraces,
        random,
        counted: (outcome, count) => metrics.counted('traces', outcome, count),
      }),
      transactions: writer,
    }),
  };
}
