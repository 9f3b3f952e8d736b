import { afterAll, beforeAll, expect, it } from 'vitest';

import { createDemo, type Demo } from '#service/devchain/demo/demo.ts';
import type { PrivateNetwork } from '#service/devchain/private-network.ts';
import { INTERPRETATION_VERSION } from '#service/interpreter/options.ts';
import { migrate } from '#service/store/migrate.ts';
import { untilIndexed } from '#test/service/indexer/index-under-test.ts';
import { untilInterpreted } from '#test/service/interpreter/interpreter-under-test.ts';
import { startApiOver, type ApiUnderTest } from '#test/support/api.ts';
import { startPrivateNetwork } from '#test/support/private-network.ts';
import { openStore } from '#test/support/store.ts';
import { createDatabase } from '#test/support/stores.ts';

// The drill of charts/docs/backup.md: the database of the index is lost, and pods with a new database rebuild it from lite servers.

type Service = Omit<ApiUnderTest, 'network'>;
type Answer = { readonly status: number; readonly body: unknown };

let network: PrivateNetwork;
let demo: Demo;
const services: Service[] = [];
const databases: { url: string; close(): Promise<void> }[] = [];

/** A database with tables, and a service that fills it from the lite servers of the network and answers from it. */
async function startOnNewDatabase(): Promise<Service> {
  const database = await createDatabase(import.meta.filename);
  databases.push(database);
  const store = openStore({ url: database.url });
  await migrate(store);
  const over = { globalConfig: () => network.globalConfig(), close: async () => undefined };
  const service = await startApiOver(over, { postgresUrl: database.url, writesIndex: true });
  services.push(service);
  await untilIndexed(store, network.head().id.seqno);
  await untilInterpreted(store, INTERPRETATION_VERSION);
  await store.close();
  return service;
}

async function ask({ api, key }: Service, path: string): Promise<Answer> {
  const response = await fetch(`${api.url}/api/${path}`, { headers: { 'x-api-key': key } });
  return { status: response.status, body: await response.json() };
}

/** Requests for each kind of rows: blocks, transactions, messages, traces, their meaning, tokens and states of accounts. */
function requests(): readonly string[] {
  const owner = demo['wallet v4r2'];
  return [
    'v3/masterchainInfo',
    'v3/blocks?limit=100&sort=asc',
    'v3/transactions?limit=200&sort=asc',
    'v3/messages?limit=200&sort=asc',
    `v3/transactions?account=${owner}`,
    `v3/traces?account=${owner}&include_actions=true`,
    'v3/actions?limit=200&sort=asc',
    `v3/jetton/masters?address=${demo['jetton minter']}`,
    `v3/jetton/wallets?jetton_address=${demo['jetton minter']}`,
    `v3/jetton/transfers?jetton_master=${demo['jetton minter']}`,
    `v3/nft/items?collection_address=${demo['NFT collection']}`,
    `v3/walletStates?address=${owner}`,
  ];
}

async function answersOf(service: Service): Promise<ReadonlyMap<string, Answer>> {
  const found = new Map<string, Answer>();
  for (const path of requests()) found.set(path, await ask(service, path));
  return found;
}

beforeAll(async () => {
  network = await startPrivateNetwork();
  demo = await createDemo(network);
});
afterAll(async () => {
  for (const service of services) await service.close();
  // The first database is lost already.
  for (const database of databases.slice(1)) await database.close();
  await network?.close();
});

it('an index whose database is lost leaves v2 alone, and is the same again after a rebuild from lite servers', async () => {
  const old = await startOnNewDatabase();
  const before = await answersOf(old);
  expect([...before.values()].map(({ status }) => status)).toEqual(requests().map(() => 200));
  for (const list of ['v3/actions?limit=200&sort=asc', `v3/jetton/transfers?jetton_master=${demo['jetton minter']}`]) {
    expect(Object.values(before.get(list)!.body as Record<string, unknown[]>)[0]?.length).toBeGreaterThan(0);
  }

  // Connections of the service end with the database.
  await databases[0]!.close();
  const lost = { status: 503, body: { ok: false, code: 503, error: 'the index is not available' } };
  for (const path of requests()) {
    await expect.poll(() => ask(old, path), { timeout: 60_000 }).toMatchObject(lost);
  }
  const live = await ask(old, `v2/getAddressInformation?address=${demo['wallet v4r2']}`);
  expect(live).toMatchObject({ status: 200, body: { ok: true, result: { state: 'active' } } });
  expect((await fetch(`${old.api.internalUrl}/readyz`)).status).toBe(200);

  const rebuilt = await startOnNewDatabase();
  expect(await answersOf(rebuilt)).toEqual(before);
  expect(await ask(old, 'v2/getMasterchainInfo')).toMatchObject({ status: 200 });
});
