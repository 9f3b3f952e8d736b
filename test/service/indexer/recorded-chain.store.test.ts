import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';

import { Registry } from 'prom-client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import type { Indexer } from '#service/indexer/indexer.ts';
import { claimIndex } from '#service/store/indexer-state.ts';
import { addRanges } from '#service/store/ranges.ts';
import type { Store } from '#service/store/store.ts';
import { metric } from '../pool/network.ts';
import { startIndexer, untilIndexed } from './index-under-test.ts';
import { writeArchive } from './packages.ts';
import type { RecordedNetwork } from './recorded-network.ts';
import { openRecordedNetwork } from './recorded-network.ts';
import { readRecording } from './recording.ts';
import { tableHashes } from './table-hashes.ts';

let recorded: RecordedNetwork;

beforeAll(async () => {
  recorded = await openRecordedNetwork(import.meta.filename);
});

afterAll(() => recorded.close());

describe('the recorded chain', () => {
  test('is indexed whole from block 1', async () => {
    const blocks = await readRecording();
    const hashes = await recorded.undisturbed();
    expect(hashes['transactions']).toMatch(/^6475 rows/);
    expect(hashes['blocks']).toMatch(new RegExp(`^${blocks.length} rows`));
  });

  test('gives the same tables when the head begins late and the past follows', async () => {
    const { store } = await recorded.newStore();
    const { files, zero, last } = recorded;
    const indexer = startIndexer(store, files, { network: zero, tuning: { gapBlocksMax: 10 } });
    await liveOf(indexer);
    // The last ten may be on their way.
    expect(await countBlocks(store)).toBeGreaterThanOrEqual(last - 10);
    await untilIndexed(store, last);
    expect(indexer.status()).toMatchObject({ isHeadWriter: true, troubles: [] });
    await indexer.close();
    expect(await tableHashes(store)).toEqual(await recorded.undisturbed());
  });

  test('gives the same tables when several processes write small ranges of it in odd order', async () => {
    const made = await recorded.newStore();
    const { store } = made;
    await queueRanges(store, recorded, 37);
    const indexers: Indexer[] = ['one', 'two', 'three'].map((worker, index) =>
      startIndexer(made.another(), recorded.files, {
        network: recorded.zero,
        worker,
        tuning: { backfillWorkers: 2, backfillBatch: { itemsMax: 5 + 7 * index, bytesMax: 1e6 } },
      }),
    );
    await untilIndexed(store, recorded.last);
    expect(indexers.filter((indexer) => indexer.status().isHeadWriter)).toHaveLength(1);
    await Promise.all(indexers.map((indexer) => indexer.close()));
    expect(await tableHashes(store)).toEqual(await recorded.undisturbed());
  });

  test('gives the same tables from archive packages, and from lite servers where those have a hole', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'archive-'));
    const { store } = await recorded.newStore();
    const register = new Registry();
    try {
      const blocks = await readRecording();
      writeArchive(
        folder,
        blocks.filter(({ masterchainSeqno }) => masterchainSeqno < 300 || masterchainSeqno >= 420),
      );
      const indexer = startIndexer(store, recorded.files, {
        network: recorded.zero,
        archiveFolder: folder,
        register,
        tuning: { gapBlocksMax: 10 },
      });
      await untilIndexed(store, recorded.last);
      await indexer.close();
    } finally {
      rmSync(folder, { recursive: true });
    }
    expect(await tableHashes(store)).toEqual(await recorded.undisturbed());
    const [archive, all] = [
      await metric(register, 'ton_indexer_reads_total', { source: 'archive' }),
      await metric(register, 'ton_indexer_reads_total'),
    ];
    expect(archive).toBeGreaterThan(all / 2);
    expect(all).toBeGreaterThanOrEqual(recorded.last);
  });

  test('has no gap, though some blocks were never queued: they are found and written', async () => {
    const { store } = await recorded.newStore();
    await queueRanges(store, recorded, 10);
    await store.transaction(({ query }) =>
      query('DELETE FROM backfill_ranges WHERE from_seqno BETWEEN 300 AND 330 OR from_seqno > 950'),
    );
    const indexer = startIndexer(store, recorded.files, { network: recorded.zero });
    await expect.poll(() => countBlocks(store)).toBe(recorded.last);
    await untilIndexed(store, recorded.last);
    await indexer.close();
    expect(await tableHashes(store)).toEqual(await recorded.undisturbed());
  });
});

/** Waits until an indexer says that it is live. */
async function liveOf(indexer: Indexer): Promise<void> {
  while (indexer.status().state !== 'Live') await setImmediate();
}

async function countBlocks(store: Store): Promise<number> {
  const [row] = await store.read<{ blocks: bigint }>('SELECT count(*) AS blocks FROM blocks WHERE workchain = -1');
  return Number(row?.blocks);
}

/** Leaves the whole past to ranges of so many blocks. */
async function queueRanges(store: Store, { last, zero }: RecordedNetwork, blocks: number): Promise<void> {
  await claimIndex(store, { ...zero, startSeqno: 1 });
  await store.transaction(async (session) => {
    for (let from = 1; from <= last; from += blocks) await addRanges(session, from, Math.min(last, from + blocks - 1));
    await session.query('UPDATE indexer_state SET head_seqno = $1', [last]);
  });
}
