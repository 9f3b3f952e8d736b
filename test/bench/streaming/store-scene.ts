import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import type { PrivateNetwork } from '#service/devchain/private-network.ts';
import { startEmbeddedPostgres } from '#service/main/postgres/embedded-postgres.ts';
import { postgresBinaries } from '#service/main/postgres/postgres-binaries.ts';
import { CLASSIFIED_CHANNEL, readAnnouncement } from '#service/store/classified-news.ts';
import { migrate } from '#service/store/migrate.ts';
import type { Store } from '#service/store/store.ts';
import { startApiOver, type ApiUnderTest } from '#test/support/api.ts';
import { mountFolder } from '#test/support/mounted-folder.ts';
import { startPrivateNetwork } from '#test/support/private-network.ts';
import { startRedis } from '#test/support/redis-server.ts';
import { startService, type ServiceProcess } from '#test/support/service-process.ts';
import { openStore } from '#test/support/store.ts';
import { streamManifest } from '#test/support/stream-manifest.ts';
import { testWallet, transfer } from '#test/support/wallet.ts';
import { liveAccount } from './orders.ts';

/** A private network and its API in this process. The index has a process, Postgres and Redis of its own. */
export type StoreScene = {
  readonly network: PrivateNetwork;
  readonly store: Store;
  readonly redisUrl: string;
  readonly api: Omit<ApiUnderTest, 'network'>;
  /** Account of the wallet that sends all messages, as a subscription names it. */
  readonly sender: string;
  /** Starts a process that serves streams, on one core. */
  readonly startPod: (core: number) => Promise<ServiceProcess>;
  /** The next message of the sender: a transfer. */
  readonly nextMessage: () => Buffer;
  /** Resolves to the time of the notice that a block is committed and classified. The notice comes to pods at that time too. */
  readonly committed: (mcSeqno: number) => Promise<number>;
  readonly close: () => Promise<void>;
};

/** All callers have one address. */
const http = { connectionsPerAddress: 0 };

/** Milliseconds for a block to be written and classified. */
const COMMIT_MS = 120_000;

export async function openStoreScene(): Promise<StoreScene> {
  const bin = postgresBinaries();
  if (bin === undefined) throw new Error('no Postgres for this platform');
  const redis = await startRedis();
  if (redis === undefined) throw new Error('redis-server is missing');
  const folder = mkdtempSync(join(tmpdir(), 'tonplane-bench-streams-'));
  const postgres = await startEmbeddedPostgres({ bin, folder });
  const store = openStore({ url: postgres.url });
  await migrate(store);
  const network = await startPrivateNetwork();
  const origin = { globalConfig: () => network.globalConfig(), close: () => network.close() };
  const api = await startApiOver(origin, { postgresUrl: postgres.url, redisUrl: redis.url });
  const manifest = mountFolder({ 'tonapi.yaml': streamManifest(network, http) });
  const named = ['--manifest', manifest.file('tonapi.yaml'), '--postgres-url', postgres.url];
  const services = [await startService(['indexer', ...named])];
  const news = await listen(store);
  const wallet = testWallet(network.faucet.seed);
  let sent = 0;
  return {
    network,
    store,
    redisUrl: redis.url,
    api,
    sender: wallet.address.toRawString().toUpperCase(),
    async startPod(core) {
      const pod = await startService(['streaming', ...named, '--redis', redis.url]);
      services.push(pod);
      execFileSync('taskset', ['--all-tasks', '--cpu-list', '--pid', `${core}`, `${pod.pid}`]);
      return pod;
    },
    nextMessage: () => wallet.send(sent++, [transfer(liveAccount, 1_000_000n)]),
    committed: news.committed,
    async close() {
      await Promise.all(services.map((service) => service.stop('SIGKILL')));
      await news.close();
      manifest.remove();
      await api.close();
      await store.close();
      await postgres.close();
      await redis.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

type News = Pick<StoreScene, 'committed'> & { readonly close: () => Promise<void> };

/** Hears of commits as a pod does. */
async function listen(store: Store): Promise<News> {
  const client = await store.connect();
  const atMs = new Map<number, number>();
  client.on('notification', ({ payload }) => {
    for (const seqno of readAnnouncement(payload, store.schema) ?? []) atMs.set(seqno, performance.now());
  });
  await client.query(`LISTEN ${CLASSIFIED_CHANNEL}`);
  return {
    async committed(mcSeqno) {
      const endMs = performance.now() + COMMIT_MS;
      for (let found = atMs.get(mcSeqno); ; found = atMs.get(mcSeqno)) {
        if (found !== undefined) return found;
        if (performance.now() > endMs) throw new Error(`block ${mcSeqno} was not classified`);
        await sleep(1);
      }
    },
    close: () => client.end(),
  };
}
