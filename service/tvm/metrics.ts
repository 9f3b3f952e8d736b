import type { Registry } from 'prom-client';
import { Counter, Histogram } from 'prom-client';

import { registerReadGauge } from '../telemetry/read-gauge.ts';

export type TvmMetrics = {
  readonly calls: Counter<'kind' | 'result'>;
  readonly duration: Histogram<'kind'>;
  readonly gas: Counter<'kind'>;
  readonly configs: Counter<'config'>;
  readonly threadStarts: Counter<'reason'>;
  readonly libraries: Counter<'result'>;
};

/** Buckets of durations in seconds, with the wait for a thread. Examples: a wallet's seqno (1 ms), a large method (20 ms), the wall limit. */
const DURATION_BUCKETS_S = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];

/** @param queueLength read when metrics are collected */
export function createTvmMetrics(register: Registry, queueLength: () => number): TvmMetrics {
  const registers = [register];
  registerReadGauge(register, 'ton_tvm_queue_length', 'Calls that wait for a thread', queueLength);
  return {
    calls: new Counter({
      name: 'ton_tvm_calls_total',
      help: 'Calls of the TVM, by kind and result: success, exit (the contract threw), rejected (an external message), or the error code',
      labelNames: ['kind', 'result'],
      registers,
    }),
    duration: new Histogram({
      name: 'ton_tvm_call_duration_seconds',
      help: 'Time of one call, with its waits for a thread and for libraries',
      labelNames: ['kind'],
      buckets: DURATION_BUCKETS_S,
      registers,
    }),
    gas: new Counter({
      name: 'ton_tvm_gas_total',
      help: 'Gas that get-methods used',
      labelNames: ['kind'],
      registers,
    }),
    configs: new Counter({
      name: 'ton_tvm_configs_total',
      help: 'Runs of get-methods, by configuration: slim (without validator sets and earlier blocks), or full (if the contract reads them)',
      labelNames: ['config'],
      registers,
    }),
    threadStarts: new Counter({
      name: 'ton_tvm_thread_starts_total',
      help: 'Started threads, by reason: work, timeout (a call runs long), crashed, aborted (the caller of a running call left), memory',
      labelNames: ['reason'],
      registers,
    }),
    libraries: new Counter({
      name: 'ton_tvm_library_fetches_total',
      help: 'Libraries that calls needed, by result: cached, found, missing, bad (not of that hash), failed',
      labelNames: ['result'],
      registers,
    }),
  };
}

/** Panels of get-methods in the dashboard of a TonApi. */
export const tvmPanels = [
  {
    row: 'Proofs and get-methods',
    title: 'Get-methods',
    unit: 'ops',
    queries: { '{{kind}} {{result}}': 'sum by (kind, result) (rate(ton_tvm_calls_total{PODS}[RATE]))' },
  },
  {
    row: 'Proofs and get-methods',
    title: 'Time of get-methods, p99',
    unit: 's',
    queries: {
      '{{kind}}':
        'histogram_quantile(0.99, sum by (le, kind) (rate(ton_tvm_call_duration_seconds_bucket{PODS}[RATE])))',
    },
  },
] as const;
