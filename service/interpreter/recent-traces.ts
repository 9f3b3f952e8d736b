import type { Logger } from 'pino';

import type { TraceRow } from '../store/tables.ts';
import type { InterpreterMetrics } from './metrics.ts';

/** Stores traces as answers show them. Resolves with their number, rejects with the signal's reason. */
export type StoreTraces = (traces: readonly TraceRow[], signal: AbortSignal) => Promise<number>;

export type RecentTraceStoringDependencies = {
  readonly storeTraces: StoreTraces;
  readonly metrics: Pick<InterpreterMetrics, 'stored' | 'notStored'>;
  readonly unixMs: () => number;
  readonly logger: Logger;
};

/**
 * Returns a function that stores the recent traces among complete traces. Answers do not depend on it, so it retries no failure. It rejects only
 * when the signal is aborted.
 * @param options.ageS longest time since the end of a trace, in seconds
 */
export function createRecentTraceStoring(
  { ageS }: { readonly ageS: number },
  { storeTraces, metrics, unixMs, logger }: RecentTraceStoringDependencies,
): (traces: readonly TraceRow[], signal: AbortSignal) => Promise<void> {
  return async (traces, signal) => {
    const sinceS = unixMs() / 1000 - ageS;
    const wanted = traces.filter(({ end_utime: utime }) => utime >>> 0 >= sinceS);
    if (wanted.length === 0) return;
    try {
      metrics.stored(await storeTraces(wanted, signal));
    } catch (error) {
      if (signal.aborted) throw error;
      metrics.notStored();
      logger.warn({ err: error, traces: wanted.length }, 'traces were not stored as they are shown');
    }
  };
}
