import { trace } from '@opentelemetry/api';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { Registry } from 'prom-client';

import type { Indexer } from '#service/indexer/indexer.ts';
import { createIndexer } from '#service/indexer/indexer.ts';
import { createRowThreads } from '#service/indexer/rows/threads.ts';
import { assembleTraces } from '#service/indexer/traces/assembly.ts';
import { createBlockFinder } from '#service/live/blocks/block-finder.ts';
import { createLiveBlockFiles } from '#service/live/blocks/block-files.ts';
import { startEmbeddedPostgres } from '#service/main/postgres/embedded-postgres.ts';
import type { EmbeddedPostgres } from '#service/main/postgres/embedded-postgres.ts';
import { freePort } from '#service/main/postgres/free-port.ts';
import { postgresBinaries } from '#service/main/postgres/postgres-binaries.ts';
import { migrate } from '#service/store/migrate.ts';
import type { Store } from '#service/store/store.ts';
import { createStore } from '#service/store/store.ts';
import { openPool } from '../service/pool/network.ts';
import type { Bench, BenchResult } from './bench.ts';
import { quantile } from './bench.ts';
import { startRemoteNetwork } from './follow/remote-network.ts';
import type { RemoteNetwork } from './follow/remote-network.ts';

const LAG_GOAL = 2;

const SAMPLE_MS = 50;
const SECONDS = 60;
/** Parts of the faulty time, each with one kind of fault. */
const FAULT_SECONDS = 24;
const ROUNDS = 12;

const logger = pino({ level: process.env['FOLLOW_LOG'] ?? 'silent' });

/** A private network under traffic, and its index in a Postgres of our own. */
export const bench: Bench = {
  about: 'how far the index is behind a private network under traffic: [--seconds N], then the same under faults',
  async run(options) {
    const seconds = secondsOf(options);
    const scene = await openScene();
    try {
      await settle(scene);
      const quiet = await follow(scene, seconds * 1000, () => Promise.resolve());
      const faulty = await follow(scene, FAULT_SECONDS * 1000, () => disturb(scene));
      await settle(scene);
      return [...lagResults('lag', quiet), ...(await wholeness(scene, faulty))];
    } finally {
      await scene.close();
    }
  },
};

function secondsOf(options: readonly string[]): number {
  const at = options.indexOf('--seconds');
  return at === -1 ? SECONDS : Number(options[at + 1]);
}

type Scene = {
  readonly network: RemoteNetwork;
  readonly store: Store;
  readonly restartPostgres: () => Promise<void>;
  readonly indexer: () => Indexer;
  readonly restartIndexer: () => Promise<void>;
  readonly close: () => Promise<void>;
};

async function openScene(): Promise<Scene> {
  const folder = mkdtempSync(join(tmpdir(), 'follow-'));
  const bin = postgresBinaries();
  if (bin === undefined) throw new Error('embedded-postgres has no binaries for this platform');
  const settings = [`port=${await freePort()}`];
  let postgres: EmbeddedPostgres = await startEmbeddedPostgres({ bin, folder, settings });
  const url = new URL(postgres.url);
  url.port = settings[0]!.split('=')[1]!;
  const store = createStore(
    { url: url.href, schema: 'ton', poolSize: 6, statementTimeoutMs: 30_000 },
    { logger, register: new Registry(), tracer: trace.getTracer('bench'), clock: () => performance.now() },
  );
  await migrate(store);
  const network = await startRemoteNetwork();
  const opened = openPool(network.asDevchain);
  const threads = createRowThreads({ workers: 1 }, { logger });
  let indexer: Indexer;
  const startIndexer = (): void => {
    indexer = createIndexer(
      { startSeqno: 1, network: network.zero, worker: 'bench' },
      {
        store,
        files: createLiveBlockFiles({ ...opened, finder: createBlockFinder(opened) }),
        toRows: (blocks, signal) => threads.toRows(blocks, signal),
        assemble: assembleTraces,
        logger,
        register: new Registry(),
        now: () => performance.now(),
        unixMs: () => Date.now(),
        random: Math.random,
      },
    );
  };
  startIndexer();
  return {
    network,
    store,
    indexer: () => indexer,
    async restartPostgres() {
      await postgres.close();
      postgres = await startEmbeddedPostgres({ bin, folder, settings });
    },
    async restartIndexer() {
      await indexer.close();
      startIndexer();
    },
    async close() {
      await indexer.close();
      await threads.close();
      await opened.close();
      await network.close();
      await store.close();
      await postgres.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Lags in blocks, sampled many times a second. */
async function follow(scene: Scene, forMs: number, disturbance: () => Promise<void>): Promise<readonly number[]> {
  const { network, indexer } = scene;
  const lags: number[] = [];
  const endMs = performance.now() + forMs;
  const disturbed = disturbance();
  let indexed = indexer().status().headSeqno ?? 0;
  while (performance.now() < endMs) {
    // One that has just begun does not know yet.
    indexed = indexer().status().headSeqno ?? indexed;
    lags.push(Math.max(0, network.headSeqno() - indexed));
    await sleep(SAMPLE_MS);
  }
  await disturbed;
  return lags;
}

/** Lite servers that flap, a Postgres that restarts, an indexer that begins anew. */
async function disturb({ network, restartPostgres, restartIndexer }: Scene): Promise<void> {
  for (let round = 0; round < ROUNDS; round++) {
    const index = round % 3;
    network.setFaults(index, round % 2 === 0 ? { silent: true } : { notReady: 'lagging' });
    await sleep((FAULT_SECONDS * 1000) / (2 * ROUNDS));
    network.setFaults(index, {});
    if (round === 4 || round === 9) await restartPostgres();
    if (round === 6) await restartIndexer();
  }
}

/** Until the index has what the network has, which goes on. */
async function settle({ network, indexer }: Scene): Promise<void> {
  const seqno = network.headSeqno();
  for (let looks = 0; looks < 1_200; looks++) {
    const { headSeqno = 0, remainingBlocks } = indexer().status();
    if (headSeqno >= seqno && remainingBlocks === 0) return;
    await sleep(100);
  }
  throw new Error(`the index is not whole after two minutes: ${JSON.stringify(indexer().status())}`);
}

function lagResults(name: string, lags: readonly number[]): BenchResult[] {
  const p99 = quantile(lags, 0.99);
  return [
    { name: `${name}, median`, value: quantile(lags, 0.5), unit: 'blocks' },
    { name: `${name}, p99`, value: p99, unit: 'blocks', goal: `<= ${LAG_GOAL} blocks`, met: p99 <= LAG_GOAL },
    { name: `${name}, worst`, value: Math.max(...lags), unit: 'blocks' },
  ];
}

/** What the index has against what the network made. */
async function wholeness({ network, store, indexer }: Scene, faulty: readonly number[]): Promise<BenchResult[]> {
  const seqno = indexer().status().headSeqno ?? 0;
  const expected = await network.count(seqno);
  const [found] = await store.read<{ blocks: bigint; counted: bigint; rows: bigint; hashes: bigint }>(
    `SELECT (SELECT count(*) FROM blocks WHERE mc_seqno <= $1) AS blocks,
       (SELECT sum(tx_count) FROM blocks WHERE mc_seqno <= $1)::bigint AS counted,
       (SELECT count(*) FROM transactions WHERE mc_seqno <= $1) AS rows,
       (SELECT count(DISTINCT hash) FROM transactions WHERE mc_seqno <= $1) AS hashes`,
    [seqno],
  );
  const gaps = expected - Number(found?.blocks);
  const lost = Number(found?.counted) - Number(found?.hashes);
  const doubled = Number(found?.rows) - Number(found?.hashes);
  return [
    { name: 'masterchain blocks', value: seqno, unit: 'blocks' },
    { name: 'transactions', value: Number(found?.rows), unit: 'transactions' },
    { name: 'lag under faults, p99', value: quantile(faulty, 0.99), unit: 'blocks' },
    { name: 'blocks missing after faults', value: gaps, unit: 'blocks', goal: '0', met: gaps === 0 },
    { name: 'transactions missing', value: lost, unit: 'transactions', goal: '0', met: lost === 0 },
    { name: 'transactions doubled', value: doubled, unit: 'transactions', goal: '0', met: doubled === 0 },
  ];
}
