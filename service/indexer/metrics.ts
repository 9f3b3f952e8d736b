import { Counter, type Registry } from 'prom-client';

import type { ProgressView } from './progress.ts';
import type { Stage } from './stage.ts';
import { registerReadGauge } from '../telemetry/read-gauge.ts';

/** The two streams of the index: the newest blocks as they come, and the past. */
export type Stream = 'head' | 'backfill';

/** Values that gauges read at collection. */
export type IndexerReadings = {
  readonly view: () => ProgressView;
  readonly isHeadWriter: () => boolean;
  readonly bufferedBytes: () => number;
  readonly troubles: () => number;
};

export type IndexerMetrics = {
  /** Committed to Postgres. */
  readonly written: (stream: Stream, blocks: number, transactions: number) => void;
  readonly retried: (stage: Stage) => void;
  /** A masterchain block was read. */
  readonly read: (source: 'archive' | 'lite_server') => void;
};

export function createIndexerMetrics(register: Registry, readings: IndexerReadings): IndexerMetrics {
  const registers = [register];
  const { view } = readings;
  registerReadGauge(
    register,
    'ton_indexer_head_seqno',
    'Newest masterchain block that is indexed at the head',
    () => view().headSeqno,
  );
  registerReadGauge(
    register,
    'ton_indexer_lag_blocks',
    'Masterchain blocks between the newest indexed block and the head of the network',
    () => view().lagBlocks,
  );
  registerReadGauge(
    register,
    'ton_indexer_lag_seconds',
    'Age of the newest indexed block of the head; only in the process that follows the head',
    () => view().lagSeconds,
  );
  registerReadGauge(
    register,
    'ton_indexer_remaining_blocks',
    'Masterchain blocks of the past that no process indexed yet',
    () => view().remainingBlocks,
  );
  registerReadGauge(
    register,
    'ton_indexer_remaining_seconds',
    'Time until the past is indexed, at the recent rate',
    () => view().etaSeconds,
  );
  registerReadGauge(register, 'ton_indexer_head_writer', '1 while this process follows the head', () =>
    readings.isHeadWriter() ? 1 : 0,
  );
  registerReadGauge(
    register,
    'ton_indexer_buffered_bytes',
    'Size of the rows of blocks that are read and not written yet',
    readings.bufferedBytes,
  );
  registerReadGauge(
    register,
    'ton_indexer_troubles',
    'Pieces of work that fail at the moment and are tried again',
    readings.troubles,
  );
  const blocks = new Counter({
    name: 'ton_indexer_blocks_total',
    help: 'Masterchain blocks committed to Postgres with all their rows, by stream: head, or backfill (the past)',
    labelNames: ['stream'],
    registers,
  });
  const transactions = new Counter({
    name: 'ton_indexer_transactions_total',
    help: 'Transactions committed to Postgres',
    labelNames: ['stream'],
    registers,
  });
  const retries = new Counter({
    name: 'ton_indexer_retries_total',
    help: 'Failures after which work is tried again, by stage',
    labelNames: ['stage'],
    registers,
  });
  const reads = new Counter({
    name: 'ton_indexer_reads_total',
    help: 'Masterchain blocks read with their shard blocks, by source',
    labelNames: ['source'],
    registers,
  });
  return {
    written(stream, blockCount, transactionCount) {
      blocks.inc({ stream }, blockCount);
      transactions.inc({ stream }, transactionCount);
    },
    retried: (stage) => retries.inc({ stage }),
    read: (source) => reads.inc({ source }),
  };
}

/** Panels of the index in the dashboard of a TonApi. */
export const indexerPanels = [
  {
    row: 'Index',
    title: 'Behind the network',
    queries: { blocks: 'max(ton_indexer_lag_blocks{PODS})', seconds: 'max(ton_indexer_lag_seconds{PODS})' },
  },
  {
    row: 'Index',
    title: 'Blocks of the past left',
    queries: { blocks: 'max(ton_indexer_remaining_blocks{PODS})' },
  },
  {
    row: 'Index',
    title: 'Blocks written',
    queries: { '{{stream}}': 'sum by (stream) (rate(ton_indexer_blocks_total{PODS}[RATE]))' },
  },
  {
    row: 'Index',
    title: 'Transactions written',
    queries: { '{{stream}}': 'sum by (stream) (rate(ton_indexer_transactions_total{PODS}[RATE]))' },
  },
  {
    row: 'Index',
    title: 'Failures that are tried again',
    queries: {
      '{{stage}}': 'sum by (stage) (rate(ton_indexer_retries_total{PODS}[RATE]))',
      'at the moment': 'sum(ton_indexer_troubles{PODS})',
    },
  },
] as const;
