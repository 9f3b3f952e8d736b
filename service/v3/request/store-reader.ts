import { createAnswerSize } from '#service/contract/answer-size.ts';
import { StoreError } from '#service/store/errors.ts';
import type { StoreReader } from '#service/store/queries/reader.ts';
import type { Store } from '#service/store/store.ts';
import type { V3Request } from './operation.ts';

export type StoreReaderDependencies = {
  readonly store: Pick<Store, 'read'>;
  /** Milliseconds of the same clock as deadlines of requests. */
  readonly nowMs: () => number;
  /** `gen_utime` of the served head, unix seconds; undefined before the first. */
  readonly headUtime?: () => number | undefined;
};

/** Step of a query's time limit: each change costs a command to Postgres, and most answers need no change. */
const TIMEOUT_STEP_MS = 250;

/** Columns have this second, of January 2038, and later seconds as negative numbers. */
const FIRST_SIGNED_UTIME = 2 ** 31;

/** Size of an answer. A page of a thousand usual swaps has some 40 MB. */
const ANSWER_MEBIBYTES = 64;

/** Reader with a time limit for all queries together; work between queries counts for the request's deadline alone. */
export function createStoreReader(
  { settings, deadlineMs, signal }: V3Request,
  { store, nowMs, headUtime }: StoreReaderDependencies,
): StoreReader {
  let takenMs = 0;
  const size = createAnswerSize({ mebibytes: ANSWER_MEBIBYTES });
  return {
    signal,
    takeBytes: size.take,
    passes2038: (headUtime?.() ?? 0) >= FIRST_SIGNED_UTIME,
    read: async (sql, values, mode) => {
      signal.throwIfAborted();
      const beganMs = nowMs();
      const leftMs = Math.min(settings.timeoutMs - takenMs, deadlineMs - beganMs);
      if (leftMs <= 0) throw new StoreError('statement_timeout', 'no time is left for another query');
      const timeoutMs = Math.ceil(leftMs / TIMEOUT_STEP_MS) * TIMEOUT_STEP_MS;
      const rows = await store.read<never>(sql, values, {
        ...mode,
        // An answer repeats all cells that its rows have.
        bytesMax: size.bytesMax,
        timeoutMs: Math.min(timeoutMs, settings.timeoutMs),
      });
      takenMs += nowMs() - beganMs;
      return rows;
    },
  };
}
