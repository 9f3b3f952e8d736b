import { Counter, Gauge, type Registry } from 'prom-client';

import { registerReadGauge } from '../telemetry/read-gauge.ts';

/** Values that gauges read at collection. */
export type V3Readings = {
  /** Rows of the answers in progress. */
  readonly rows: () => number;
  /** Requests that wait for room. */
  readonly waiting: () => number;
};

export function createV3Metrics(register: Registry, readings: V3Readings): void {
  registerReadGauge(
    register,
    'ton_v3_rows_in_work',
    'Requested rows of answers in progress, most of them transactions',
    readings.rows,
  );
  registerReadGauge(
    register,
    'ton_v3_requests_waiting',
    'Requests that wait until fewer rows are in progress',
    readings.waiting,
  );
}

/** Kinds of cached parts of answers, and whole answers. */
export type CacheKind = 'transactions' | 'messages' | 'traces' | 'accounts' | 'tokens' | 'answers';

/** Source of a requested part: the cache, the index in rendered form, or rows of the index. */
export type CacheOutcome = 'cached' | 'stored' | 'made';

export type CacheMetrics = {
  readonly counted: (kind: CacheKind, outcome: CacheOutcome, count?: number) => void;
  /** @param bytes bytes of the kind in use, as counted by its limit */
  readonly holds: (kind: CacheKind, bytes: () => number) => void;
};

export function createCacheMetrics(register: Registry): CacheMetrics {
  const registers = [register];
  const readings = new Map<CacheKind, () => number>();
  const bytesGauge: Gauge = new Gauge({
    name: 'ton_v3_cache_bytes',
    help: 'Cached parts of answers. Limits of a pod: transactions 48 MiB, messages 16, traces 28, accounts 20, tokens 12, answers 8',
    labelNames: ['kind'],
    registers,
    collect: () => {
      for (const [kind, read] of readings) bytesGauge.set({ kind }, read());
    },
  });
  const parts = new Counter({
    name: 'ton_v3_cache_reads_total',
    help: 'Requested parts of answers, by kind and outcome: cached, stored (rendered in the index), made (of rows)',
    labelNames: ['kind', 'outcome'],
    registers,
  });
  return {
    counted: (kind, outcome, count = 1) => parts.inc({ kind, outcome }, count),
    holds: (kind, bytes) => void readings.set(kind, bytes),
  };
}
