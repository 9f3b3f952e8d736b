import type { Registry } from 'prom-client';

import { createJsonCache, type JsonCacheDependencies } from './json-cache.ts';
import { createTraceCache } from './trace-cache.ts';
import { createMessageRenderer, type CachedEnds, type MessageRenderer } from './message-renderer.ts';
import { createWritingMetrics, type CacheKind, type CacheMetrics } from '../metrics.ts';
import type { StoredTrace } from './trace-codec.ts';
import { createTraceRenderer, type TraceRenderer } from './trace-renderer.ts';
import {
  createTransactionRenderer,
  type CachedNames,
  type TransactionRenderer,
  type TransactionRendererDependencies,
} from './transaction-renderer.ts';

/** Writers that render the transactions, messages and traces of answers. */
export type Renderers = {
  readonly transactions: TransactionRenderer;
  readonly messages: MessageRenderer;
  readonly traces: TraceRenderer;
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

export type RenderersDependencies = Pick<TransactionRendererDependencies, 'threads'> & {
  readonly register: Registry;
  readonly metrics: CacheMetrics;
  /** From 0 to below 1. */
  readonly random: () => number;
};

export type RenderersOptions = {
  /** Part of the usual cache bytes, above 0 to 1. */
  readonly cachePart: number;
};

export function createRenderers(
  { cachePart }: RenderersOptions,
  { register, metrics, threads, random }: RenderersDependencies,
): Renderers {
  const room = (bytes: number) => ({ bytesMax: Math.ceil(bytes * cachePart) });
  const counting = (kind: CacheKind): JsonCacheDependencies => ({
    counted: (isCached) => metrics.counted(kind, isCached ? 'kept' : 'made'),
  });
  const transactions = createJsonCache<CachedNames>(room(transactionBytesMax), counting('transactions'));
  const messages = createJsonCache<CachedEnds>(room(messageBytesMax), counting('messages'));
  // Traces are counted elsewhere: there the stored traces are known.
  const uncounted: JsonCacheDependencies = { counted: () => {} };
  const traces = createJsonCache<StoredTrace>(room(traceBytesMax), uncounted);
  const packedTraces = createJsonCache<StoredTrace>(room(packedTraceBytesMax), uncounted);
  const { written } = createWritingMetrics(register);
  metrics.holds('transactions', transactions.bytes);
  metrics.holds('messages', messages.bytes);
  metrics.holds('traces', () => traces.bytes() + packedTraces.bytes());
  const writer = createTransactionRenderer({ texts: transactions, threads, written });
  return {
    transactions: writer,
    messages: createMessageRenderer(messages),
    traces: createTraceRenderer({
      cache: createTraceCache({
        texts: traces,
        packed: packedTraces,
        random,
        counted: (outcome, count) => metrics.counted('traces', outcome, count),
      }),
      transactions: writer,
    }),
  };
}
