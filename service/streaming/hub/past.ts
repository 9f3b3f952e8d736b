import { createRetry } from '#service/runtime/retry.ts';
import type { Logger } from 'pino';

import { createSemaphore } from '#service/runtime/semaphore.ts';
import type { Change, FinalLog, Subscription, TraceSnapshot } from '../changes.ts';
import { StreamingError } from '../errors.ts';

/** Blocks of a range that may concern a subscription, ascending. Other blocks up to `until` do not. */
export type Touched = { readonly seqnos: readonly number[]; readonly until: number };

/** Reads of the past, a few at a time over all connections. */
export type Past = {
  /**
   * Waits until a read may begin.
   * @throws StreamingError `replay_busy`
   */
  readonly admit: (signal: AbortSignal) => Promise<void>;
  /** Changes of a block. Waits while the index is away. Rejects with the signal's reason only. */
  readonly changesOf: (mcSeqno: number, signal: AbortSignal) => Promise<readonly Change[]>;
  /** Undefined when the index cannot say. Waits and rejects as `changesOf`. */
  readonly touched: (
    wish: Pick<Subscription, 'accounts' | 'traces'>,
    range: { readonly from: number; readonly to: number },
    signal: AbortSignal,
  ) => Promise<Touched | undefined>;
  /** Final snapshot of a trace. Waits and rejects as `changesOf`. */
  readonly findTrace: (hash: string, signal: AbortSignal) => Promise<TraceSnapshot | undefined>;
};

export type PastDependencies = {
  readonly log: Pick<FinalLog, 'changesOf' | 'findTrace' | 'touched'>;
  readonly logger: Logger;
  /** 0..1. */
  readonly random: () => number;
  readonly unixMs: () => number;
};

const READS_AT_ONCE = 8;

/** Milliseconds for which a subscription waits for its turn. */
const WAIT_MS = 5_000;

/** Subscriptions that wait for their turn. */
const WAITING_MAX = 10_000;

export function createPast({ log, logger, random, unixMs }: PastDependencies): Past {
  const reads = createSemaphore(READS_AT_ONCE);
  const retry = createRetry<'replay' | 'find'>({
    logger,
    random,
    unixMs,
    onFailure: () => {},
    isFinal: () => false,
  });
  let finds = 0;
  return {
    async admit(signal) {
      if (reads.waiting === 0 && reads.taken < READS_AT_ONCE) return;
      if (reads.waiting >= WAITING_MAX) throw busy();
      const late = AbortSignal.timeout(WAIT_MS);
      try {
        (await reads.acquire(AbortSignal.any([signal, late])))();
      } catch {
        signal.throwIfAborted();
        throw busy();
      }
    },
    changesOf: (mcSeqno, signal) =>
      retry.run('replay', mcSeqno, () => reads.run(signal, () => log.changesOf(mcSeqno, signal)), signal),
    touched: async (wish, range, signal) =>
      log.touched === undefined
        ? undefined
        : retry.run(
            'replay',
            range.from,
            () => reads.run(signal, async () => log.touched?.(wish, range, signal)),
            signal,
          ),
    findTrace: (hash, signal) =>
      retry.run('find', finds++, () => reads.run(signal, () => log.findTrace(hash, signal)), signal),
  };
}

function busy(): StreamingError {
  return new StreamingError('replay_busy', 'too many replays run, try again');
}
