import type { Registry } from 'prom-client';

import type { Operation } from '../contract/operation.ts';
import { createSemaphore } from '../runtime/semaphore.ts';
import { readIndexState } from '../store/queries/index-state.ts';
import { createAnswerCache } from './answer-cache.ts';
import { cacheBytesOf } from './cache-bytes.ts';
import { createV3Metrics, type CacheMetrics } from './metrics.ts';
import type { V3Operation, V3Request } from './request/operation.ts';
import { TIMEOUT_MS_MAX } from './request/settings.ts';
import { createStoreReader, type StoreReaderDependencies } from './request/store-reader.ts';

/** The v3 contract over the index: a table of operations, no transport. */
export type V3 = {
  /** For `X-API-Version` and the document. */
  readonly version: string;
  /** Each operation once, in the order of the document. */
  readonly operations: readonly Operation<V3Request>[];
};

/** Version of the served contract (service/v3/README.md#transport). */
export const contractVersion = '1.2.10';

export type V3Dependencies = StoreReaderDependencies & {
  readonly register: Registry;
  /** Metrics of the caches; absent: cached answers are not counted. */
  readonly cacheMetrics?: CacheMetrics;
  /** Bytes of cached answers. Default: those of a pod. */
  readonly answerBytesMax?: number;
};

/** Some 30 KB each during an answer: 120 MB in a process. More rows at once do not increase the answers per second. */
const ROWS_AT_ONCE = 4000;

/** Builds the table. */
export function createV3(families: readonly V3Operation[], dependencies: V3Dependencies): V3 {
  const { register, store, nowMs, cacheMetrics: metrics, answerBytesMax = cacheBytesOf().answers } = dependencies;
  // With the time limit of most requests, so that connections keep theirs.
  const readState = () =>
    readIndexState({ read: (sql, values, mode) => store.read(sql, values, { ...mode, timeoutMs: TIMEOUT_MS_MAX }) });
  const answers = createAnswerCache({ bytesMax: answerBytesMax }, { readState, nowMs, metrics });
  const rowSlots = createSemaphore(ROWS_AT_ONCE);
  createV3Metrics(register, { rows: () => rowSlots.taken, waiting: () => rowSlots.waiting });
  const operations = families.map((operation): Operation<V3Request> => ({
    ...operation,
    run: (source, request) =>
      operation.run(source, { ...request, rowSlots, answers, store: createStoreReader(request, dependencies) }),
  }));
  return { version: contractVersion, operations };
}
