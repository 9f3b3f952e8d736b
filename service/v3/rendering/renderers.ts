import { createJsonCache } from '#service/runtime/json-cache.ts';
import type { CacheBytes } from '../cache-bytes.ts';
import { createTraceCache } from './trace-cache.ts';
import type { StoredTrace } from './stored-trace.ts';
import { createMessageRenderer, type Ends, type MessageRenderer } from './message-renderer.ts';
import type { CacheMetrics } from '../metrics.ts';
import { createPackedCache } from './packed-cache.ts';
import { storedTransactions, type TransactionNames } from './stored-transactions.ts';
import { createTraceRenderer, type TraceRenderer } from './trace-renderer.ts';
import {
  createTransactionRenderer,
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

export type RenderersOptions = { readonly cacheBytes: CacheBytes };

export function createRenderers(
  { cacheBytes }: RenderersOptions,
  { metrics, random }: RenderersDependencies,
): Renderers {
  const transactions = createPackedCache<TransactionNames>({ bytesMax: cacheBytes.transactions });
  const messages = createPackedCache<Ends>({ bytesMax: cacheBytes.messages });
  const traces = createJsonCache<StoredTrace>({ bytesMax: cacheBytes.traces });
  const packedTraces = createJsonCache<StoredTrace>({ bytesMax: cacheBytes.packedTraces });
  metrics.holds('transactions', transactions.bytes);
  metrics.holds('messages', messages.bytes);
  metrics.holds('traces', () => traces.bytes() + packedTraces.bytes());
  const rendering: TransactionRendererDependencies = {
    cache: transactions,
    counted: (outcome, count) => metrics.counted('transactions', outcome, count),
  };
  return {
    transactions: createTransactionRenderer({ ...rendering, stored: storedTransactions }),
    messages: createMessageRenderer({
      cache: messages,
      counted: (outcome, count) => metrics.counted('messages', outcome, count),
    }),
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
