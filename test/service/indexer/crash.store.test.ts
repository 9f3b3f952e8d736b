import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { rowsOf } from '#service/indexer/rows/rows.ts';
import { readProgress } from '#service/store/indexer-state.ts';
import type { Store } from '#service/store/store.ts';
import { openStore } from '#test/support/store.ts';
import { countOf } from '#test/support/volume.ts';
import { seededRandom } from '../pool/workload.ts';
import { cutConnections, runAndKill } from './crashes.ts';
import { startIndexer, untilIndexed } from './index-under-test.ts';
import type { RecordedNetwork } from './recorded-network.ts';
import { openRecordedNetwork } from './recorded-network.ts';
import { tableHashes } from './table-hashes.ts';

/** Each takes a second and more. */
const KILLED_PROCESSES = countOf({ quick: 1, full: 5, long: 100 });

/** In this process, by cutting every connection to Postgres at once and forgetting the indexer. */
const CUTS = countOf({ quick: 6, full: 95 });

let recorded: RecordedNetwork;

beforeAll(async () => {
  recorded = await openRecordedNetwork(import.meta.filename);
});

afterAll(() => recorded.close());

describe('an indexer that dies at any moment', () => {
  test(`leaves nothing half written, nothing out and nothing twice: ${CUTS} cut connections`, async () => {
    const { store, url } = await recorded.newStore();
    const random = seededRandom(20_261_121);
    let cuts = 0;
    while (cuts < CUTS && (await writtenBlocks(store)) < recorded.last) {
      // Now and then the head begins late, so that ranges of the past are cut too.
      const gapBlocksMax = random() < 0.5 ? 5 : recorded.last;
      await indexUntilCut(store, url, { gapBlocksMax, rows: 1 + Math.floor(random() * 24), ms: random() * 12 });
      cuts += 1;
    }
    expect(cuts).toBeGreaterThan(CUTS / 2);
    const last = startIndexer(store, recorded.files, { network: recorded.zero });
    await untilIndexed(store, recorded.last);
    await last.close();
    expect(await tableHashes(store)).toEqual(await recorded.undisturbed());
  });

  test(
    `and so do ${KILLED_PROCESSES} processes that are killed`,
    async () => {
      const { store, url } = await recorded.newStore();
      const random = seededRandom(9);
      for (let kills = 0; kills < KILLED_PROCESSES; kills++) await killAfterSome(store, url, random);
      const last = startIndexer(store, recorded.files, { network: recorded.zero });
      await untilIndexed(store, recorded.last);
      await last.close();
      expect(await tableHashes(store)).toEqual(await recorded.undisturbed());
    },
    120_000 + KILLED_PROCESSES * 20_000,
  );
});

const ENOUGH_MS = 5_000;

type Cut = { readonly gapBlocksMax: number; readonly rows: number; readonly ms: number };

/** Indexes until so many blocks were made into rows and some milliseconds went by, in which they may be written or not. */
async function indexUntilCut(store: Store, url: string, { gapBlocksMax, rows, ms }: Cut): Promise<void> {
  const own = openStore({ url });
  const { promise: enough, resolve } = Promise.withResolvers<void>();
  let left = rows;
  const indexer = startIndexer(own, recorded.files, {
    network: recorded.zero,
    tuning: { gapBlocksMax, headBatch: small, backfillBatch: small, headBlocksMax: 12, backfillBlocksMax: 12 },
    toRows(blocks) {
      left -= 1;
      if (left === 0) resolve();
      return Promise.resolve(rowsOf(blocks));
    },
  });
  // Near the end there may be fewer left.
  await Promise.race([enough, sleep(ENOUGH_MS)]);
  await sleep(ms);
  await cutConnections(store);
  await indexer.close();
  await own.close();
}

/** Some masterchain blocks a transaction, so that there are hundreds of transactions to cut. */
const small = { itemsMax: 4, bytesMax: 1e6 };

/** Starts a process that indexes, and kills it after it has written something, in the middle of more. */
async function killAfterSome(store: Store, url: string, random: () => number): Promise<void> {
  // Spread over the whole chain.
  const step = Math.floor((random() * 1.6 * recorded.last) / KILLED_PROCESSES);
  const wanted = Math.min(recorded.last, (await writtenBlocks(store)) + 1 + step);
  await runAndKill({
    script: join(import.meta.dirname, 'indexing-process.ts'),
    url,
    network: recorded,
    isEnough: async () => (await writtenBlocks(store)) >= wanted,
    moreMs: random() * 50,
  });
}

async function writtenBlocks(store: Store): Promise<number> {
  const found = await readProgress(store).catch(() => undefined);
  return found === undefined ? 0 : Math.max(0, (found.headSeqno ?? 0) - found.missingBlocks);
}
