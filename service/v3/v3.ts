import type { Registry } from 'prom-client';

import type { Operation } from '../contract/operation.ts';
import type { StoreReader } from '../store/queries/reader.ts';
import { StoreError } from '../store/errors.ts';
import type { Store } from '../store/store.ts';
import { createSemaphore } from '../runtime/semaphore.ts';
import { readIndexState } from '../store/queries/index-state.ts';
import { createAnswerCache } from './answer-cache.ts';
import { createV3Metrics, type CacheMetrics } from './metrics.ts';
import type { V3Operation, V3Request } from './request/operation.ts';
import { TIMEOUT_MS_MAX } from './request/settings.ts';

/** The v3 contract over the index: a table of operations, no transport. */
export type V3 = {
  /** For `X-API-Version` and the document. */
  readonly version: string;
  /** Each operation once, in the order of the document. */
  readonly operations: readonly Operation<V3Request>[];
};

/** Version of the served contract (service/v3/README.md#transport). */
const contractVersion = '1.2.10';

export type V3Dependencies = {
  readonly store: Pick<Store, 'read'>;
  /** Milliseconds of the same clock as deadlines of requests. */
  readonly nowMs: () => number;
  /** `gen_utime` of the served head, unix seconds; undefined before the first. */
  readonly headUtime?: () => number | undefined;
  readonly register: Registry;
  /** Metrics of the caches; absent: cached answers are not counted. */
  readonly cacheMetrics?: CacheMetrics;
};

/** Some 30 KB each during an answer: 120 MB in a process. More rows at once do not increase the answers per second. */
const ROWS_AT_ONCE = 4000;

/** Step of a query's time limit: each change costs a command to Postgres, and most answers need no change. */
const TIMEOUT_STEP_MS = 250;

/** Builds the table. */
export function createV3(families: readonly V3Operation[], dependencies: V3Dependencies): V3 {
  const { register, store, nowMs, cacheMetrics: metrics } = dependencies;
  // With the time limit of most requests, so that connections keep theirs.
  const readState = () =>
    readIndexState({ read: (sql, values, mode) => store.read(sql, values, { ...mode, timeoutMs: TIMEOUT_MS_MAX }) });
  const answers = createAnswerCache({ readState, nowMs, metrics });
  const places = createSemaphore(ROWS_AT_ONCE);
  createV3Metrics(register, { rows: () => places.taken, waiting: () => places.waiting });
  const operations = families.map((operation): Operation<V3Request> => ({
    ...operation,
    run: (source, request) =>
      operation.run(source, { ...request, places, answers, store: readerOf(request, dependencies) }),
  }));
  return { version: contractVersion, operations };
}

/** Columns have this second, of January 2038, and later seconds as negative numbers. */
const FIRST_SIGNED_UTIME = 2 ** 31;

/** Reader with a time limit for all queries together; work between queries counts for the request's deadline alone. */
function readerOf(
  { settings, deadlineMs, signal }: V3Request,
  { store, nowMs, headUtime }: Omit<V3Dependencies, 'register' | 'cacheMetrics'>,
): StoreReader {
  let takenMs = 0;
  return {
    signal,
    passes2038: (headUtime?.() ?? 0) >= FIRST_SIGNED_UTIME,
    read: async (sql, values, mode) => {
      signal.throwIfAborted();
      const beganMs = nowMs();
      const leftMs = Math.min(settings.timeoutMs - takenMs, deadlineMs - beganMs);
      if (leftMs <= 0) throw new StoreError('statement_timeout', 'no time is left for another query');
      const timeoutMs = Math.ceil(leftMs / TIMEOUT_STEP_MS) * TIMEOUT_STEP_MS;
      const rows = await store.read<never>(sql, values, {
        ...mode,
        timeoutMs: Math.min(timeoutMs, settings.timeoutMs),
      });
      takenMs += nowMs() - beganMs;
      return rows;
    },
  };
}
