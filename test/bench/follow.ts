import { trace } from '@opentelemetry/api';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { Registry } from 'prom-client';

import { createPrivateNetwork } from '#service/devchain/private-network.ts';
import type { PrivateNetwork } from '#service/devchain/private-network.ts';
import { validatorKey } from '#service/devchain/signing.ts';
import { genesisWallet } from '#service/devchain/zerostate/wallet.ts';
import type { Indexer } from '#service/indexer/indexer.ts';
import { createIndexer } from '#service/indexer/indexer.ts';
import { createRowThreads } from '#service/indexer/rows/threads.ts';
import { assembleTraces } from '#service/indexer/traces/assembly.ts';
import { createBlockFinder } from '#service/live/block-finder.ts';
import { createLiveBlockFiles } from '#service/live/block-files.ts';
import { startEmbeddedPostgres } from '#service/main/embedded-postgres.ts';
import type { EmbeddedPostgres } from '#service/main/embedded-postgres.ts';
import { freePort } from '#service/main/free-port.ts';
import { postgresBinaries } from '#service/main/postgres-binaries.ts';
import { migrate } from '#service/store/migrate.ts';
import type { Store } from '#service/store/store.ts';
import { createStore } from '#service/store/store.ts';
import type { TestWallet } from '#test/support/wallet.ts';
import { testWallet, transfer } from '#test/support/wallet.ts';
import { openPool } from '../service/pool/network.ts';
import type { Bench, BenchResult } from './bench.ts';
import { quantile } from './bench.ts';

const LAG_GOAL = 2;

/** Two and more transactions each: the message to the wallet, and the one that it sends on. */
const WALLETS = 60;
const FORTUNE = 1_000_000_000_000_000n;

const BLOCK_SECONDS = 1;
const SAMPLE_MS = 50;
const SECONDS = 60;
/** Parts of the faulty time, each with one kind of fault. */
const FAULT_SECONDS = 24;

const logger = pino({ level: process.env['FOLLOW_LOG'] ?? 'silent' });

/** A private network under traffic, and its index in a Postgres of our own. */
export const bench: Bench = {
  about: 'how far the index is behind a private network under traffic: [--seconds N], then the same under faults',
  async run(options) {
    const seconds = secondsOf(options);
    const scene = await openScene();
    try {
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
  readonly network: PrivateNetwork;
  readonly wallets: readonly TestWallet[];
  readonly store: Store;
  readonly restartPostgres: () => Promise<void>;
  readonly indexer: () => Indexer;
  readonly restartIndexer: () => Promise<void>;
  /** Of each wallet's next message. */
  readonly seqnos: number[];
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
  const seeds = Array.from({ length: WALLETS }, (_, index) => seedOf(index));
  const network = await createPrivateNetwork(
    {
      blockSeconds: BLOCK_SECONDS,
      servers: [{}, {}, {}],
      accounts: seeds.map((seed) => genesisWallet(validatorKey(seed).publicKey, FORTUNE)),
    },
    { logger, register: new Registry() },
  );
  const opened = openPool({ ...network, moveHead: () => undefined });
  const threads = createRowThreads({ workers: 1 }, { logger });
  let indexer: Indexer;
  const startIndexer = (): void => {
    indexer = createIndexer(
      { startSeqno: 1, network: network.chain.zeroStates[0]!.id, worker: 'bench' },
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
    wallets: seeds.map((seed) => testWallet(seed)),
    store,
    seqnos: seeds.map(() => 0),
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

function seedOf(index: number): Buffer {
  const seed = Buffer.alloc(32, 7);
  seed.writeUInt32BE(index + 1);
  return seed;
}

/** Lags in blocks, sampled many times a second while every wallet sends with each block. */
async function follow(scene: Scene, forMs: number, disturbance: () => Promise<void>): Promise<readonly number[]> {
  const { network, wallets, indexer } = scene;
  const lags: number[] = [];
  const stopSending = network.onHead(() => sendRound(scene, wallets));
  const endMs = performance.now() + forMs;
  const disturbed = disturbance();
  while (performance.now() < endMs) {
    const indexed = indexer().status().headSeqno ?? 0;
    lags.push(network.head().id.seqno - indexed);
    await sleep(SAMPLE_MS);
  }
  await disturbed;
  stopSending();
  return lags;
}

function sendRound(scene: Scene, wallets: readonly TestWallet[]): void {
  for (const [index, wallet] of wallets.entries()) {
    const seqno = scene.seqnos[index]!;
    const to = wallets[(index * 7 + seqno + 1) % wallets.length]!.address;
    try {
      scene.network.send(wallet.send(seqno, [transfer(to, 1_000_000n)]));
      scene.seqnos[index] = seqno + 1;
    } catch {
      // A wallet whose last message still waits is left out once.
    }
  }
}

/** Lite servers that flap, a Postgres that restarts, an indexer that begins anew. */
async function disturb({ network, restartPostgres, restartIndexer }: Scene): Promise<void> {
  for (let round = 0; round < 12; round++) {
    const server = network.liteServers[round % network.liteServers.length]!;
    await server.setFaults(round % 2 === 0 ? { silent: true } : { notReady: 'lagging' });
    server.resetConnections();
    await sleep((FAULT_SECONDS * 1000) / 24);
    await server.setFaults({});
    if (round === 4 || round === 9) await restartPostgres();
    if (round === 6) await restartIndexer();
  }
}

/** Until the index has the head of a network that nobody writes to. */
async function settle({ network, indexer }: Scene): Promise<void> {
  for (let looks = 0; looks < 1_200; looks++) {
    const { headSeqno = 0, remainingBlocks } = indexer().status();
    if (headSeqno >= network.head().id.seqno - 1 && remainingBlocks === 0) return;
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
  const made = [...network.chain.along(-1, 1n << 63n), ...network.chain.along(0, 1n << 63n)];
  const expected = made.filter(({ masterchainSeqno }) => masterchainSeqno <= seqno).length;
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
