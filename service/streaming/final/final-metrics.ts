import { Counter, Histogram, type Registry } from 'prom-client';

import { registerReadGauge } from '#service/telemetry/read-gauge.ts';

/** Metrics of final changes. */
export type FinalMetrics = {
  /** A block's events are with their connections, or the block was passed. @param seconds since it was classified */
  readonly given: (seconds: number) => void;
  /** A block was streamed without its classification. */
  readonly unclassified: () => void;
};

export type FinalLag = {
  /** Indexed masterchain blocks that connections were not given. */
  readonly blocks: number;
  /** Time since the oldest of them was seen. */
  readonly seconds: number;
};

export type FinalMetricsDependencies = {
  readonly lag: () => FinalLag;
  /** Bytes of the blocks in the memory. */
  readonly cachedBytes: () => number;
};

export function createFinalMetrics(register: Registry, { lag, cachedBytes }: FinalMetricsDependencies): FinalMetrics {
  const registers = [register];
  const written = new Histogram({
    name: 'ton_streaming_final_lag_seconds',
    help: 'Time from the classification of a block to the last of its events, written or in the queue of its connection',
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 30],
    registers,
  });
  const unclassified = new Counter({
    name: 'ton_streaming_unclassified_blocks_total',
    help: 'Blocks that were streamed without actions and jettons, because the interpreter cannot read them',
    registers,
  });
  const blocks = 'Indexed masterchain blocks that streams have not sent';
  registerReadGauge(register, 'ton_streaming_final_behind_blocks', blocks, () => lag().blocks);
  const seconds = 'Time since the oldest indexed block that streams have not sent was seen; 0 without one';
  registerReadGauge(register, 'ton_streaming_final_behind_seconds', seconds, () => lag().seconds);
  const cached = 'Memory of the blocks from which streams go on without Postgres, at most 96 MiB';
  registerReadGauge(register, 'ton_streaming_cached_blocks_bytes', cached, cachedBytes);
  return {
    given: (time) => written.observe(time),
    unclassified: () => unclassified.inc(),
  };
}
