import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { startEmbeddedPostgres } from '#service/main/postgres/embedded-postgres.ts';
import { freePort } from '#test/support/free-port.ts';
import { postgresBinaries } from '#service/main/postgres/postgres-binaries.ts';
import { migrate } from '#service/store/migrate.ts';
import { openStore } from '#test/support/store.ts';
import type { Faults } from '../pool/network.ts';
import { openPool } from '../pool/network.ts';
import { seededRandom } from '../pool/workload.ts';
import { startIndexer, untilIndexed } from './index-under-test.ts';
import type { RecordedNetwork } from './recorded-network.ts';
import { openRecordedNetwork } from './recorded-network.ts';
import { filesOver } from './recording.ts';
import { tableHashes } from './table-hashes.ts';

let recorded: RecordedNetwork;

beforeAll(async () => {
  recorded = await openRecordedNetwork(import.meta.filename, 3);
});

afterAll(() => recorded.close());

const small = { itemsMax: 8, bytesMax: 1e6 };

describe('an indexer', () => {
  test('has the same tables when every lite server flaps and lies in turn', async () => {
    const { network, last, zero } = recorded;
    const { store } = await recorded.newStore();
    const random = seededRandom(4);
    // A pool of its own, since what is put out for lying stays out for a while.
    const open = openPool(network);
    const indexer = startIndexer(store, filesOver(open.pool), {
      network: zero,
      tuning: { gapBlocksMax: 400, headBatch: small, backfillBatch: small },
    });
    const whole = new AbortController();
    const flapping = flap(network.liteServers, random, whole.signal);
    try {
      await untilIndexed(store, last);
    } finally {
      whole.abort();
      await flapping;
      await indexer.close();
      await open.close();
    }
    expect(await tableHashes(store)).toEqual(await recorded.undisturbed());
  });

  test('has the same tables when Postgres crashes and restarts under it, and says so meanwhile', async () => {
    const bin = postgresBinaries();
    if (bin === undefined) throw new Error('embedded-postgres has no binaries for this platform');
    const folder = mkdtempSync(join(tmpdir(), 'faults-'));
    const settings = [`port=${await freePort()}`];
    let server = await startEmbeddedPostgres({ bin, folder, settings });
    const url = new URL(server.url);
    url.port = settings[0]!.split('=')[1]!;
    const store = openStore({ url: url.href });
    await migrate(store);
    const indexer = startIndexer(store, recorded.files, {
      network: recorded.zero,
      tuning: { gapBlocksMax: 400, headBatch: small, backfillBatch: small },
    });
    const troubles = new Set<string>();
    try {
      for (let restarts = 0; restarts < 3; restarts++) {
        await sleep(400);
        await server.close();
        for (let looks = 0; looks < 15; looks++) {
          for (const { what } of indexer.status().troubles) troubles.add(what.split(' ')[0]!);
          await sleep(10);
        }
        server = await startEmbeddedPostgres({ bin, folder, settings });
      }
      await untilIndexed(store, recorded.last);
      expect(troubles.size).toBeGreaterThan(0);
      expect(await tableHashes(store)).toEqual(await recorded.undisturbed());
    } finally {
      await indexer.close();
      await store.close();
      await server.close();
      rmSync(folder, { recursive: true, force: true });
    }
  });
});

/** Lies put a lite server out for long: one of them tells all. */
const lies: readonly Faults[] = [
  { alteredAt: 0.6, only: ['getBlock'] },
  { wrongId: true, only: ['getBlock'] },
];

const TURNS = 40;

/** One fault after the other at each lite server, honest in between and at the end. */
async function flap(
  servers: RecordedNetwork['network']['liteServers'],
  random: () => number,
  signal: AbortSignal,
): Promise<void> {
  const kinds: readonly Faults[] = [
    { silent: true },
    { notReady: 'lagging' },
    { notReady: 'pruned' },
    { refuse: { code: 228, text: 'too many requests' } },
    { overloadedAfterMs: 20 },
  ];
  for (let turn = 0; turn < TURNS && !signal.aborted; turn++) {
    const server = servers[turn % servers.length]!;
    const faults = turn % servers.length === 0 && turn > TURNS / 2 ? lies : kinds;
    await server.setFaults(faults[Math.floor(random() * faults.length)]!);
    if (random() < 0.3) server.resetConnections();
    await sleep(30 + random() * 120);
    await server.setFaults({});
    await sleep(random() * 60);
  }
}
