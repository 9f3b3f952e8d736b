import { setTimeout as sleep } from 'node:timers/promises';

import { pino } from 'pino';
import type { Logger } from 'pino';
import { Registry } from 'prom-client';

import type { Indexer, IndexerDependencies } from '#service/indexer/indexer.ts';
import { createIndexer } from '#service/indexer/indexer.ts';
import type { IndexerOptions, IndexerTuning } from '#service/indexer/options.ts';
import { rowsOf } from '#service/indexer/rows/rows.ts';
import { assembleTraces } from '#service/indexer/traces/assembly.ts';
import type { LiveBlockFiles } from '#service/live/blocks/block-files.ts';
import { readProgress } from '#service/store/indexer-state.ts';
import { tuningDefaults } from '#service/pool/options.ts';
import type { Store } from '#service/store/store.ts';

/** A machine that does much else answers late: that is not what these tests are about. */
export const patientPool = { ...tuningDefaults, waitMs: 400, pollMs: 50, refusedMs: 200, firstProveTimeoutMs: 60_000 };

/** Pauses that a test does not wait for. */
export const quickIndexing: Partial<IndexerTuning> = { leaseRetryMs: 20, rangesRetryMs: 20, claimMs: 2_000 };

export type IndexerSettings = Partial<IndexerOptions> &
  Partial<Pick<IndexerDependencies, 'toRows' | 'logger' | 'register'>> & {
    readonly network: IndexerOptions['network'];
  };

/** An indexer of the service over a store and any source of files. */
export function startIndexer(store: Store, files: LiveBlockFiles, settings: IndexerSettings): Indexer {
  const { toRows, logger, register, tuning, ...options } = settings;
  return createIndexer(
    { startSeqno: 1, worker: 'test', ...options, tuning: { ...quickIndexing, ...tuning } },
    {
      store,
      files,
      toRows: toRows ?? ((blocks) => Promise.resolve(rowsOf(blocks))),
      assemble: assembleTraces,
      logger: logger ?? silent,
      register: register ?? new Registry(),
      now: () => performance.now(),
      unixMs: () => Date.now(),
      random: Math.random,
    },
  );
}

const silent: Logger = pino({ level: process.env['INDEXER_LOG'] ?? 'silent' });

/** Between two looks. */
const LOOK_MS = 20;

/** Waits until everything up to a masterchain block is indexed; a look that fails is followed by another. */
export async function untilIndexed(store: Store, seqno: number, timeoutMs = 240_000): Promise<void> {
  const endMs = performance.now() + timeoutMs;
  for (;;) {
    const found = await readProgress(store).catch(() => undefined);
    if (found !== undefined && (found.headSeqno ?? 0) >= seqno && found.missingBlocks === 0) return;
    if (performance.now() > endMs) throw new Error(`not indexed up to ${seqno}: ${JSON.stringify(found)}`);
    await sleep(LOOK_MS);
  }
}
