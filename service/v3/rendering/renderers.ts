import { cacheBytesMax } from '../cache-bytes.ts';
import { createJsonCache, type JsonCacheDependencies } from './json-cache.ts';
import { createTraceCache } from './trace-cache.ts';
import { createMessageRenderer, type CachedEnds, type MessageRenderer } from './message-renderer.ts';
import type { CacheMetrics } from '../metrics.ts';
import type { StoredTrace } from './trace-codec.ts';
import { storedTransactions } from './stored-transactions.ts';
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

export type RenderersDependencies = {
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
  { metrics, random }: RenderersDependencies,
): Renderers {
  const room = (bytes: number) => ({ bytesMax: Math.ceil(bytes * cachePart) });
  const counting: JsonCacheDependencies = {
    counted: (isCached) => metrics.counted('messages', isCached ? 'kept' : 'made'),
  };
  // Transactions and traces are counted elsewhere: there the stored ones are known.
  const uncounted: JsonCacheDependencies = { counted: () => {} };
  const transactions = createJsonCache<CachedNames>(room(cacheBytesMax.transactions), uncounted);
  const messages = createJsonCache<CachedEnds>(room(cacheBytesMax.messages), counting);
  const traces = createJsonCache<StoredTrace>(room(cacheBytesMax.traces), uncounted);
  const packedTraces = createJsonCache<StoredTrace>(room(cacheBytesMax.packedTraces), uncounted);
  metrics.holds('transactions', transactions.bytes);
  metrics.holds('messages', messages.bytes);
  metrics.holds('traces', () => traces.bytes() + packedTraces.bytes());
  const rendering: TransactionRendererDependencies = {
    texts: transactions,
    counted: (outcome, count) => metrics.counted('transactions', outcome, count),
  };
  return {
    transactions: createTransactionRenderer({ ...rendering, stored: storedTransactions }),
    messages: createMessageRenderer(messages),
    traces: createTraceRenderer({
      cache: createTraceCache({
        texts: traces,
        packed: packedTraces,
        random,
        counted: (outcome, count) => metrics.counted('traces', outcome, count),
      }),
      // Stored traces are looked up whole.
      transactions: createTransactionRenderer(rendering),
    }),
  };
}
