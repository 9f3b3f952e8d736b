import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

import type { BypassReason } from './replica.ts';

/** Values that gauges read at collection. */
export type StoreReadings = {
  readonly connections: () => { readonly busy: number; readonly idle: number; readonly waiting: number };
  /** Undefined without a read replica, and for a replica that reports no position. */
  readonly replicaLagSeconds: () => number | undefined;
};

export type StoreMetrics = {
  /** Counts a query of readers by outcome: `ok` or the error's code. */
  read(outcome: string, seconds: number): void;
  transaction(outcome: 'committed' | 'rolled_back', seconds: number): void;
  /** Counts a read that the primary answers in place of the replica. */
  bypass(reason: BypassReason): void;
};

/** An indexed page takes 1 to 20 ms; the statement timeout is seconds. A batch of the past may take longer. */
const secondsBuckets = [0.001, 0.003, 0.01, 0.02, 0.05, 0.1, 0.3, 1, 3, 10, 30];

export function createStoreMetrics(
  register: Registry,
  { connections, replicaLagSeconds }: StoreReadings,
): StoreMetrics {
  const registers = [register];
  const reads = new Counter({
    name: 'ton_store_reads_total',
    help: 'Queries of readers to Postgres, by outcome: ok or the code of the error',
    labelNames: ['outcome'],
    registers,
  });
  const readSeconds = new Histogram({
    name: 'ton_store_read_seconds',
    help: "Time of a reader's query to Postgres, with the wait for a connection",
    buckets: secondsBuckets,
    registers,
  });
  const transactionSeconds = new Histogram({
    name: 'ton_store_transaction_seconds',
    help: 'Time of a transaction in Postgres, with the wait for a connection, by outcome',
    labelNames: ['outcome'],
    buckets: secondsBuckets,
    registers,
  });
  const bypasses = new Counter({
    name: 'ton_store_replica_bypasses_total',
    help: 'Reads that the primary was asked in place of the read replica, by reason: lag (beyond replicaMaxLag), behind (an earlier answer), failed',
    labelNames: ['reason'],
    registers,
  });
  const replicaLag: Gauge = new Gauge({
    name: 'ton_store_replica_lag_seconds',
    help: 'Age of the oldest commit that the read replica lacks, by positions in the write-ahead log; 0 while it lacks none',
    registers,
    collect() {
      const seconds = replicaLagSeconds();
      if (seconds === undefined) replicaLag.remove();
      else replicaLag.set(seconds);
    },
  });
  const open: Gauge<'state'> = new Gauge({
    name: 'ton_store_connections',
    help: 'Connections to Postgres by state, and calls that wait for one',
    labelNames: ['state'],
    registers,
    collect() {
      for (const [state, count] of Object.entries(connections())) open.set({ state }, count);
    },
  });
  return {
    read(outcome, seconds) {
      reads.inc({ outcome });
      readSeconds.observe(seconds);
    },
    transaction(outcome, seconds) {
      transactionSeconds.observe({ outcome }, seconds);
    },
    bypass: (reason) => bypasses.inc({ reason }),
  };
}

/** Panels of Postgres in the dashboard of a TonApi. */
export const storePanels = [
  {
    row: 'Index',
    title: 'Postgres',
    unit: 's',
    queries: {
      'query of a caller, p99':
        'histogram_quantile(0.99, sum by (le) (rate(ton_store_read_seconds_bucket{PODS}[RATE])))',
      'transaction, p99':
        'histogram_quantile(0.99, sum by (le) (rate(ton_store_transaction_seconds_bucket{PODS}[RATE])))',
    },
  },
  {
    row: 'Index',
    title: 'Read replica',
    queries: {
      'lag, seconds': 'max(ton_store_replica_lag_seconds{PODS})',
      'the primary asked: {{reason}}': 'sum by (reason) (rate(ton_store_replica_bypasses_total{PODS}[RATE]))',
    },
  },
] as const;
