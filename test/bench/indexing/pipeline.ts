import { existsSync, readFileSync } from 'node:fs';

import { trace } from '@opentelemetry/api';
import { pino } from 'pino';
import { Registry } from 'prom-client';

import { createBackfill } from '#service/indexer/backfill.ts';
import { createBatchWriter, isTurnOver } from '#service/indexer/batch-writer.ts';
import { tuningDefaults } from '#service/indexer/options.ts';
import { createRetry } from '#service/runtime/retry.ts';
import { createRowThreads } from '#service/indexer/rows/threads.ts';
import { startEmbeddedPostgres } from '#service/main/postgres/embedded-postgres.ts';
import { postgresBinaries } from '#service/main/postgres/postgres-binaries.ts';
import { migrate } from '#service/store/migrate.ts';
import { addRanges, claimRange } from '#service/store/ranges.ts';
import { createStore, type Store } from '#service/store/store.ts';
import { createWriter, type WriterOptions } from '#service/store/writer.ts';
import type { LocalSource } from './local-source.ts';
import { renumberRows } from './renumbered-rows.ts';

/** The indexer's backfill over a local source, into a Postgres of its own. */
export type Pipeline = {
  /** Committed so far. */
  readonly written: () => { readonly blocks: number; readonly transactions: number };
  readonly store: Store;
  /** CPU seconds of Postgres so far. */
  readonly serverCpuSeconds: () => Promise<number>;
  close(): Promise<void>;
};

/** A Postgres that somebody has set up: memory for its pages, and checkpoints by the gigabyte. */
export const serverSettings = [
  'shared_buffers=1GB',
  'max_wal_size=8GB',
  'checkpoint_timeout=15min',
  'wal_compression=on',
];

/** More than any run writes. */
const blocksMax = 200_000;

export async function openPipeline(options: {
  readonly local: LocalSource;
  readonly assemble: WriterOptions['assemble'];
  /** Masterchain blocks that there are; more than anybody waits for when it is left out. */
  readonly blocks?: number;
}): Promise<Pipeline> {
  const bin = postgresBinaries();
  if (bin === undefined) throw new Error('no Postgres for this platform');
  const server = await startEmbeddedPostgres({ bin, settings: serverSettings });
  const store = openStore(server.url);
  const closing = new AbortController();
  const { signal } = closing;
  const logger = pino({ level: 'warn' }, process.stderr);
  const threads = createRowThreads({ workers: 1 }, { logger });
  await migrate(store);
  await store.transaction((session) => addRanges(session, 1, options.blocks ?? blocksMax));

  const counts = { blocks: 0, transactions: 0 };
  const retry = createRetry({
    logger,
    random: Math.random,
    unixMs: Date.now,
    onFailure: () => {},
    isFinal: isTurnOver,
  });
  const made = createWriter({ carriage: 'copy', assemble: options.assemble }, store);
  const backfill = createBackfill(tuningDefaults, {
    source: options.local.source,
    toRows: async (blocks, ended) =>
      renumberRows(await threads.toRows(blocks, ended), options.local.passOf(blocks.mcSeqno)),
    retry,
    signal,
    logger,
    writer: createBatchWriter({
      writers: { head: made, backfill: made },
      retry,
      onWritten(_stream, blocks, transactions) {
        counts.blocks += blocks;
        counts.transactions += transactions;
      },
    }),
    claimRange: (claimMs) => claimRange(store, 'bench', claimMs),
  });
  return {
    written: () => ({ ...counts }),
    store,
    serverCpuSeconds: () => cpuSecondsOf(store),
    async close() {
      closing.abort(new Error('measured'));
      await backfill.done;
      await threads.close();
      await store.close();
      await server.close();
    },
  };
}

export function openStore(url: string): Store {
  return createStore(
    { url, schema: 'ton', poolSize: 8, statementTimeoutMs: 60_000 },
    {
      logger: pino({ level: 'warn' }, process.stderr),
      register: new Registry(),
      tracer: trace.getTracer('bench'),
      clock: () => performance.now(),
    },
  );
}

/** Steps of CPU time in /proc. */
const ticksPerSecond = 100;

/** Of all processes that the server has now; Linux only, else 0. */
async function cpuSecondsOf(store: Store): Promise<number> {
  const rows = await store.read<{ pid: number }>('SELECT pid FROM pg_stat_activity');
  const ticks = rows.map(({ pid }) => {
    if (!existsSync(`/proc/${pid}/stat`)) return 0;
    // The command's name, in brackets, may hold spaces; user and system time are fields 14 and 15.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
    return Number(fields[11]) + Number(fields[12]);
  });
  return ticks.reduce((sum, each) => sum + each, 0) / ticksPerSecond;
}
