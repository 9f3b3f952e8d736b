import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { hasMessagesOnTheWay } from '#service/devchain/chain/snapshots.ts';
import type { PrivateNetwork, PrivateNetworkOptions } from '#service/devchain/private-network.ts';
import { startEmbeddedPostgres } from '#service/main/postgres/embedded-postgres.ts';
import { migrate } from '#service/store/migrate.ts';
import type { Store } from '#service/store/store.ts';
import { untilIndexed } from '#test/service/indexer/index-under-test.ts';
import { startApiOver, type ApiUnderTest } from './api.ts';
import { createShares, oneOf, type Draw } from './draw.ts';
import { startFaultyRelay, type FaultyRelay } from './faulty-relay.ts';
import { printOf } from './json-print.ts';
import { mountFolder } from './mounted-folder.ts';
import { startPrivateNetwork } from './private-network.ts';
import { startFaultyRedis, type FaultyRedis } from './redis-server.ts';
import { serviceFlags } from './service-flags.ts';
import { startService, type ServiceProcess } from './service-process.ts';
import { openStore } from './store.ts';
import type { EventPart } from './stream-client.ts';
import { streamManifest } from './stream-manifest.ts';

/** A process that serves streams, behind a proxy. */
export type StreamPod = {
  readonly service: ServiceProcess;
  readonly relay: FaultyRelay;
  /** URL of the proxy. */
  readonly url: string;
};

/** A private network with its index, an API in this process, and pods that serve streams. Each part may fail. */
export type StreamScene = {
  readonly network: PrivateNetwork;
  readonly store: Store;
  readonly api: Omit<ApiUnderTest, 'network'>;
  readonly redis: FaultyRedis;
  /** Way of the pods to Redis. */
  readonly redisRelay: FaultyRelay;
  readonly pods: StreamPod[];
  /** Adds a pod. @param skewMs milliseconds by which its clock is ahead */
  readonly startPod: (skewMs?: number) => Promise<void>;
  /** Takes the oldest pod away by a signal. */
  readonly stopPod: (signal: NodeJS.Signals) => Promise<void>;
  /** URL of a pod's proxy, chosen at random. */
  readonly anyUrl: () => string;
  /** Ends the process that writes the index at once. */
  readonly killWriter: () => Promise<void>;
  readonly startWriter: () => Promise<void>;
  /** Ends Postgres at once. It starts again by itself. */
  readonly killPostgres: () => void;
  /** Makes blocks until no message is on its way, and waits for the index. */
  readonly settle: () => Promise<void>;
  /** Resolves when a pod's streams have the newest block. */
  readonly untilStreamed: (pod: StreamPod) => Promise<void>;
  /** Answer of v3 to a path behind `/api/v3/`. */
  readonly ask: <T>(path: string) => Promise<T>;
  /** Transactions of a masterchain block, as v3 shows them. */
  readonly transactionsOf: (seqno: number) => Promise<readonly EventPart[]>;
  readonly close: () => Promise<void>;
};

/** Rows of an answer of v3. */
const PAGE = 1000;

/** @param bin programs of Postgres @param draw chooses pods, and connections that the proxies lose */
export async function startStreamScene(
  bin: string,
  draw: Draw,
  options: PrivateNetworkOptions = {},
): Promise<StreamScene> {
  const random = createShares(draw);
  const folder = mkdtempSync(join(tmpdir(), 'tonplane-streams-'));
  const redis = await startFaultyRedis();
  if (redis === undefined) throw new Error('redis-server is missing');
  const redisRelay = await startFaultyRelay(Number(new URL(redis.url).port), random);
  const postgres = await startEmbeddedPostgres({ bin, folder });
  const store = openStore({ url: postgres.url });
  await migrate(store);
  const network = await startPrivateNetwork(options);
  const origin = { globalConfig: () => network.globalConfig(), close: () => network.close() };
  const api = await startApiOver(origin, { postgresUrl: postgres.url, redisUrl: redis.url });
  const manifest = mountFolder({ 'tonapi.yaml': streamManifest(network, { connectionsPerAddress: 0 }) });
  const named = ['--manifest', manifest.file('tonapi.yaml'), '--postgres-url', postgres.url];
  let writer: ServiceProcess | undefined;
  const startWriter = async (): Promise<void> => void (writer = await startService(['indexer', ...named]));
  await startWriter();
  const pods: StreamPod[] = [];

  async function startPod(skewMs = 0): Promise<void> {
    const urls = ['--redis', `redis://127.0.0.1:${redisRelay.port}`];
    const service = await startService(['streaming', ...named, ...urls], {
      flags: [...serviceFlags, ...ahead(skewMs)],
    });
    const relay = await startFaultyRelay(Number(new URL(service.url).port), random);
    pods.push({ service, relay, url: `http://127.0.0.1:${relay.port}` });
  }

  async function stopPod(signal: NodeJS.Signals): Promise<void> {
    const pod = pods.shift()!;
    await pod.service.stop(signal);
    await pod.relay.close();
  }

  return {
    network,
    store,
    api,
    redis,
    redisRelay,
    pods,
    startPod,
    stopPod,
    anyUrl: () => oneOf(draw, pods).url,
    killWriter: async () => void (await writer?.stop('SIGKILL')),
    startWriter,
    killPostgres() {
      const [pid] = readFileSync(join(folder, 'data/postmaster.pid'), 'utf8').split('\n');
      process.kill(Number(pid), 'SIGKILL');
    },
    async settle() {
      do await network.step();
      while (network.waiting > 0 || hasMessagesOnTheWay(network.chain, network.head()));
      await network.step();
      await untilIndexed(store, network.head().id.seqno);
    },
    async untilStreamed(pod) {
      const { seqno } = network.head().id;
      while (((await sourceOf(pod)).mc_seqno ?? 0) < seqno) await sleep(50);
    },
    ask: (path) => ask(api, path),
    transactionsOf: (seqno) => transactionsOf(api, seqno),
    async close() {
      while (pods.length > 0) await stopPod('SIGKILL');
      await writer?.stop('SIGKILL');
      manifest.remove();
      await api.close();
      await store.close();
      await postgres.close();
      await redisRelay.close();
      await redis.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Flags of a Node whose clock is ahead, in each of its threads. */
function ahead(ms: number): readonly string[] {
  if (ms === 0) return [];
  const script = `const Real = Date;
    globalThis.Date = class extends Real {
      constructor(...given) { given.length > 0 ? super(...given) : super(Real.now() + ${ms}); }
      static now() { return Real.now() + ${ms}; }
    };`;
  return ['--import', `data:text/javascript,${encodeURIComponent(script)}`];
}

type Source = { readonly mc_seqno: number | null; readonly levels: readonly string[] };

/** Source of a pod's events, as the pod reports it. */
export async function sourceOf({ service }: StreamPod): Promise<Source> {
  const response = await fetch(`${service.url}/api/streaming/healthz`);
  const { components } = (await response.json()) as { components: { source: Source } };
  return components.source;
}

/** Sum of a metric of a pod over its labels. */
export async function metricOf({ service }: StreamPod, name: string): Promise<number> {
  const text = await (await fetch(`${service.internalUrl}/metrics`)).text();
  const values = [...text.matchAll(new RegExp(`^${name}(?:\\{.*\\})? (\\S+)$`, 'gm'))];
  return values.reduce((sum, [, value]) => sum + Number(value), 0);
}

async function ask<T>({ api, key }: Omit<ApiUnderTest, 'network'>, path: string): Promise<T> {
  const response = await fetch(`${api.url}/api/v3/${path}`, { headers: { 'x-api-key': key } });
  if (response.status !== 200) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return (await response.json()) as T;
}

/** All objects of a list of v3, page by page. @param name of the list in the answer */
export async function askAll<T>(read: StreamScene['ask'], path: string, name: string): Promise<readonly T[]> {
  const found: T[] = [];
  for (let offset = 0; ; offset += PAGE) {
    const { [name]: page } = await read<Record<string, readonly T[]>>(`${path}&limit=${PAGE}&offset=${offset}`);
    found.push(...page!);
    if (page!.length < PAGE) return found;
  }
}

async function transactionsOf(api: Omit<ApiUnderTest, 'network'>, seqno: number): Promise<EventPart[]> {
  const path = `transactions?mc_seqno=${seqno}`;
  const found = await askAll<{ readonly account: string }>((page) => ask(api, page), path, 'transactions');
  return found.map((one) => ({ accounts: [one.account], print: printOf(one) }));
}
