import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { Address } from '@ton/core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';

import { hasMessagesOnTheWay } from '#service/devchain/chain/snapshots.ts';
import type { PrivateNetwork } from '#service/devchain/private-network.ts';
import { startEmbeddedPostgres, type EmbeddedPostgres } from '#service/main/postgres/embedded-postgres.ts';
import { postgresBinaries } from '#service/main/postgres/postgres-binaries.ts';
import { migrate } from '#service/store/migrate.ts';
import type { Store } from '#service/store/store.ts';
import { untilIndexed } from '#test/service/indexer/index-under-test.ts';
import { startApiOver, type ApiUnderTest } from '#test/support/api.ts';
import { mountFolder, type MountedFolder } from '#test/support/mounted-folder.ts';
import { startPrivateNetwork } from '#test/support/private-network.ts';
import { startFaultyRedis, type FaultyRedis } from '#test/support/redis-server.ts';
import { startService, type ServiceProcess } from '#test/support/service-process.ts';
import { skipLoudly } from '#test/support/skips.ts';
import { openStore } from '#test/support/store.ts';
import { readSse, readWebSocket, type StreamReader } from '#test/support/stream-readers.ts';
import { countOf } from '#test/support/volume.ts';
import { testWallet, transfer } from '#test/support/wallet.ts';

// Clients of three pods follow accounts through faults. Each ends with every final transaction once, as v3 lists them.

const PODS = 3;
const CLIENTS = 6;
const ACCOUNTS = 3;

/** Milliseconds between two blocks of the load. */
const BLOCK_MS = 150;

/** A busy machine indexes and reads slowly. */
const PATIENCE_MS = 120_000;

/** Seconds for which Redis stands still: above the timeout of its commands. */
const FROZEN_SECONDS = countOf({ quick: 3, full: 3, long: 60 });
const CUTS = countOf({ quick: 12, full: 24, long: 1000 });
const KILLS = countOf({ quick: 1, full: 1, long: 100 });

const bin = postgresBinaries() ?? '';
const folder = mkdtempSync(join(tmpdir(), 'tonplane-streams-'));
const accounts = Array.from({ length: ACCOUNTS }, (_, at) => new Address(0, Buffer.alloc(32, 0x81 + at)));

let redis: FaultyRedis | undefined;
let postgres: EmbeddedPostgres;
let network: PrivateNetwork;
let store: Store;
let api: Omit<ApiUnderTest, 'network'>;
let manifest: MountedFolder;
let pods: ServiceProcess[] = [];
const clients: Client[] = [];
let sent = 0;
/** Transactions from before the first stream. */
let before: ReadonlySet<string> = new Set();
const over = new AbortController();
const isOver = (): boolean => over.signal.aborted;

const missing = skipLoudly(bin === '', { what: 'streams in faults', why: 'embedded-postgres has no binaries here' });

/** A caller that comes back with its cursor each time that its stream ends, to any pod. */
type Client = {
  readonly transport: 'sse' | 'ws';
  /** Final transactions in the order in which they came. */
  readonly hashes: string[];
  /** Answers to its cursors. */
  readonly resumed: unknown[];
  reader: StreamReader | undefined;
  ended: Promise<void>;
};

type GlobalConfig = {
  readonly liteservers: readonly { readonly port: number; readonly id: { readonly key: string } }[];
  readonly validator: { readonly zero_state: { readonly root_hash: string; readonly file_hash: string } };
};

function manifestText(): string {
  const { liteservers, validator } = network.globalConfig() as GlobalConfig;
  const { root_hash: rootHash, file_hash: fileHash } = validator.zero_state;
  return stringify({
    apiVersion: 'tonplane.dev/v1alpha1',
    kind: 'TonApi',
    metadata: { name: 'under-test' },
    spec: {
      network: 'custom',
      surfaces: ['v3', 'stream'],
      liteServers: [{ name: 'own', address: `127.0.0.1:${liteservers[0]!.port}`, publicKey: liteservers[0]!.id.key }],
      zeroState: { rootHash, fileHash },
      plans: [{ name: 'free', requestsPerSecond: 100_000, streaming: { connections: 1000 } }],
      anonymousPlan: 'free',
      rateLimits: { redis: { secretRef: { name: 'redis' } } },
      postgres: { secretRef: { name: 'index' } },
      requestTimeout: '2s',
    },
  });
}

const startPod = (): Promise<ServiceProcess> => {
  const urls = ['--postgres-url', postgres.url, '--redis', redis!.url];
  return startService(['streaming', '--manifest', manifest.file('tonapi.yaml'), ...urls]);
};

async function openStream(transport: Client['transport'], cursor: string | undefined): Promise<StreamReader> {
  const { url } = pods[Math.floor(Math.random() * pods.length)]!;
  const wish = { types: ['transactions'], addresses: accounts.map((account) => account.toRawString()), cursor };
  if (transport === 'ws') {
    const reader = await readWebSocket(`${url}/api/streaming/v2/ws`);
    reader.send({ operation: 'subscribe', ...wish });
    return reader;
  }
  const headers = { 'content-type': 'application/json' };
  return readSse(`${url}/api/streaming/v2/sse`, { method: 'POST', headers, body: JSON.stringify(wish) });
}

/** Reads until the stream ends. Returns the cursor to come back with. */
async function readOnce(client: Client, cursor: string | undefined): Promise<string | undefined> {
  const reader = await openStream(client.transport, cursor);
  client.reader = reader;
  // A refusal of WebSocket leaves the connection open.
  void reader.until((frame) => 'error' in frame && !('type' in frame)).then(() => reader.close());
  await reader.ended;
  const answer = reader.frames.find((frame) => frame['status'] === 'subscribed');
  if (answer === undefined) return cursor;
  if (cursor !== undefined) client.resumed.push(answer['resumed']);
  for (const { hash } of transactionsOf(reader)) client.hashes.push(hash);
  return reader.cursor() ?? cursor;
}

const transactionsOf = (reader: StreamReader | undefined): readonly { readonly hash: string }[] =>
  reader?.events().flatMap((frame) => frame['transactions'] as readonly { readonly hash: string }[]) ?? [];

function follow(transport: Client['transport']): Client {
  const client: Client = { transport, hashes: [], resumed: [], reader: undefined, ended: Promise.resolve() };
  const run = async (): Promise<void> => {
    let cursor: string | undefined;
    while (!isOver()) {
      cursor = await readOnce(client, cursor).catch(() => cursor);
      client.reader = undefined;
      if (!isOver()) await sleep(50);
    }
  };
  client.ended = run();
  return client;
}

/** All that a client has, with what its open stream has brought. */
const hashesOf = ({ hashes, reader }: Client): string[] => [
  ...hashes,
  ...transactionsOf(reader).map(({ hash }) => hash),
];

/** Pays the accounts in a block. */
async function pay(): Promise<void> {
  const wallet = testWallet(network.faucet.seed);
  network.send(
    wallet.send(
      sent++,
      accounts.map((account) => transfer(account, 1_000_000n)),
    ),
  );
  await network.step();
}

/** Makes blocks while the work runs, and some more. */
async function underLoad(work: () => Promise<unknown>): Promise<void> {
  let isDone = false;
  const load = (async () => {
    for (let after = 0; after < 5; after += isDone ? 1 : 0) {
      await pay();
      await sleep(BLOCK_MS);
    }
  })();
  await work().finally(() => (isDone = true));
  await load;
}

/** Makes blocks until no message is on its way, and waits for the index. */
async function settle(): Promise<void> {
  do await network.step();
  while (network.waiting > 0 || hasMessagesOnTheWay(network.chain, network.head()));
  await network.step();
  await untilIndexed(store, network.head().id.seqno);
}

async function streamedSeqno({ url }: ServiceProcess): Promise<unknown> {
  const response = await fetch(`${url}/api/streaming/healthz`);
  const { components } = (await response.json()) as { components: { source: { mc_seqno: unknown } } };
  return components.source.mc_seqno;
}

async function indexedHashes(): Promise<string[]> {
  const found: string[] = [];
  for (const account of accounts) {
    for (let offset = 0; ; offset += 500) {
      const path = `transactions?account=${account.toRawString()}&limit=500&offset=${offset}&sort=asc`;
      const response = await fetch(`${api.api.url}/api/v3/${path}`, { headers: { 'x-api-key': api.key } });
      const { transactions } = (await response.json()) as { transactions: readonly { hash: string }[] };
      found.push(...transactions.map(({ hash }) => hash));
      if (transactions.length < 500) break;
    }
  }
  return found.toSorted();
}

type Outcome = {
  /** Final transactions that a client lacks or has twice, and answers to cursors that were not `full`. */
  readonly lost: readonly string[];
  readonly doubled: readonly string[];
  readonly gaps: readonly unknown[];
  /** Orders of events, which are one for all clients on any pod. */
  readonly orders: number;
};

const faultless: Outcome = { lost: [], doubled: [], gaps: [], orders: 1 };

/** Compares clients and index, once each client has as much as the index or has waited long for it. */
async function outcome(): Promise<Outcome> {
  await settle();
  const indexed = (await indexedHashes()).filter((hash) => !before.has(hash));
  const endMs = performance.now() + PATIENCE_MS;
  while (clients.some((client) => hashesOf(client).length < indexed.length) && performance.now() < endMs)
    await sleep(100);
  const seen = clients.map(hashesOf);
  return {
    lost: seen.flatMap((hashes) => indexed.filter((hash) => !hashes.includes(hash))),
    doubled: seen.flatMap((hashes) => hashes.filter((hash, at) => hashes.indexOf(hash) !== at)),
    gaps: clients.flatMap(({ resumed }) => resumed.filter((one) => one !== 'full')),
    orders: new Set(seen.map((hashes) => hashes.join())).size,
  };
}

describe.skipIf(missing)('streams of three pods', () => {
  beforeAll(async () => {
    redis = await startFaultyRedis();
    if (redis === undefined) throw new Error('redis-server is missing');
    postgres = await startEmbeddedPostgres({ bin, folder });
    store = openStore({ url: postgres.url });
    await migrate(store);
    network = await startPrivateNetwork();
    const origin = { globalConfig: () => network.globalConfig(), close: () => network.close() };
    api = await startApiOver(origin, { postgresUrl: postgres.url, redisUrl: redis.url, writesIndex: true });
    manifest = mountFolder({ 'tonapi.yaml': manifestText() });
    await pay();
    await settle();
    pods = await Promise.all(Array.from({ length: PODS }, startPod));
    for (const pod of pods) while ((await streamedSeqno(pod)) !== network.head().id.seqno) await sleep(50);
    before = new Set(await indexedHashes());
    for (let number = 0; number < CLIENTS; number++) clients.push(follow(number % 2 === 0 ? 'sse' : 'ws'));
    for (const client of clients) {
      while (client.reader?.frames.some((frame) => frame['status'] === 'subscribed') !== true) await sleep(50);
    }
  });
  afterAll(async () => {
    over.abort();
    for (const client of clients) client.reader?.close();
    await Promise.all(clients.map(({ ended }) => ended));
    await Promise.all(pods.map((pod) => pod.stop('SIGKILL')));
    manifest?.remove();
    await api?.close();
    await store?.close();
    await postgres?.close();
    await redis?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it('bring each final transaction once to clients that are cut at random', async () => {
    await underLoad(async () => {
      for (let cut = 0; cut < CUTS; cut++) {
        clients[Math.floor(Math.random() * CLIENTS)]!.reader?.close();
        await sleep(Math.random() * 150);
      }
    });
    expect(await outcome()).toEqual(faultless);
    expect(clients.flatMap(({ resumed }) => resumed).length).toBeGreaterThan(0);
  });

  it('bring each once to clients of a pod that is killed', async () => {
    for (let kill = 0; kill < KILLS; kill++) {
      await underLoad(async () => {
        const [killed] = pods.splice(kill % PODS, 1);
        await killed!.stop('SIGKILL');
        pods.push(await startPod());
      });
      expect(await outcome()).toEqual(faultless);
    }
  });

  it.each<readonly [string, () => Promise<void>]>([
    ['is killed and starts again without its data', () => redis!.restart()],
    ['is emptied', () => redis!.empty()],
    [
      'stands still',
      async () => {
        redis!.freeze(true);
        await sleep(FROZEN_SECONDS * 1000);
        redis!.freeze(false);
      },
    ],
  ])('bring each once while Redis %s, also to clients that come back then', async (_what, fault) => {
    await underLoad(async () => {
      const done = fault();
      for (const client of clients.slice(0, 2)) client.reader?.close();
      await done;
    });
    expect(await outcome()).toEqual(faultless);
  });

  it('bring each once after Postgres was killed and started again', async () => {
    await underLoad(async () => {
      const [pid] = readFileSync(join(folder, 'data/postmaster.pid'), 'utf8').split('\n');
      process.kill(Number(pid), 'SIGKILL');
      clients[0]!.reader?.close();
      await sleep(1500);
    });
    expect(await outcome()).toEqual(faultless);
  });
});
