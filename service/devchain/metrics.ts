import { Counter, Histogram } from 'prom-client';
import type { Registry } from 'prom-client';

/** Outcome of a query: `refused` is a lite server's error, `silent` an intentional lack of an answer, `failed` a bug. */
export type QueryOutcome = 'answered' | 'refused' | 'silent' | 'failed';

export type QueryServerMetrics = {
  /** Starts a query's clock; the returned function stops it. */
  time(): (functionName: string, outcome: QueryOutcome) => void;
};

/** Creates metrics of the development chain's lite servers, all in the same registry. */
export function createQueryServerMetrics(register: Registry): QueryServerMetrics {
  const seconds = new Histogram({
    name: 'ton_devchain_query_seconds',
    help: 'Time from a query to its answer at the embedded lite servers, with waits',
    labelNames: ['function'],
    // Answers take a fraction of a millisecond, waits for a block up to 10 s.
    buckets: [0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 1, 10],
    registers: [register],
  });
  const total = new Counter({
    name: 'ton_devchain_queries_total',
    help: 'Queries to the embedded lite servers, by function and outcome',
    labelNames: ['function', 'outcome'],
    registers: [register],
  });
  return {
    time() {
      const stop = seconds.startTimer();
      return (functionName, outcome) => {
        stop({ function: functionName });
        total.inc({ function: functionName, outcome });
      };
    },
  };
}
