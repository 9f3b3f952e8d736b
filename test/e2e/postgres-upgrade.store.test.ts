import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { createDemo, type Demo } from '#service/devchain/demo/demo.ts';
import type { PrivateNetwork } from '#service/devchain/private-network.ts';
import { INTERPRETATION_VERSION } from '#service/interpreter/options.ts';
import { startEmbeddedPostgres, type EmbeddedPostgres } from '#service/main/postgres/embedded-postgres.ts';
import { postgresBinaries } from '#service/main/postgres/postgres-binaries.ts';
import { migrate } from '#service/store/migrate.ts';
import { untilIndexed } from '#test/service/indexer/index-under-test.ts';
import { untilInterpreted } from '#test/service/interpreter/interpreter-under-test.ts';
import { startApiOver, type ApiUnderTest } from '#test/support/api.ts';
import { ensureProgram } from '#test/support/debian-package.ts';
import { startLoad } from '#test/support/load.ts';
import { postgresRelease } from '#test/support/postgres-release.ts';
import { startPrivateNetwork } from '#test/support/private-network.ts';
import { skipLoudly } from '#test/support/skips.ts';
import { openStore } from '#test/support/store.ts';
import { testWallet, transfer } from '#test/support/wallet.ts';

// The upgrade of charts/docs/backup.md: the index is copied to a server of a newer major version while pods serve and write.

const run = promisify(execFile);
const newBin = postgresBinaries();
const hasTools = ensureProgram('pg_dump', 'postgresql-client') && ensureProgram('pg_restore', 'postgresql-client');
const oldBin = newBin !== undefined && hasTools ? releaseOf('15') : undefined;

/** Undefined where npm cannot bring it. */
function releaseOf(major: string): string | undefined {
  try {
    return postgresRelease(major);
  } catch {
    return undefined;
  }
}

type Service = Omit<ApiUnderTest, 'network'>;

async function majorOf(url: string): Promise<number> {
  const client = new Client(url);
  await client.connect();
  const { rows } = await client.query<{ major: number }>(
    `SELECT current_setting('server_version_num')::integer / 10000 AS major`,
  );
  await client.end();
  return rows[0]!.major;
}

describe.skipIf(
  skipLoudly(oldBin === undefined, { what: 'a major upgrade of Postgres', why: 'no older Postgres, or no pg_dump' }),
)('a major upgrade of Postgres', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tonplane-upgrade-'));
  const services: Service[] = [];
  let network: PrivateNetwork;
  let demo: Demo;
  let old: EmbeddedPostgres;
  let next: EmbeddedPostgres;
  beforeAll(async () => {
    network = await startPrivateNetwork();
    demo = await createDemo(network);
    old = await startEmbeddedPostgres({ bin: oldBin! });
    next = await startEmbeddedPostgres({ bin: newBin! });
  });
  afterAll(async () => {
    for (const service of services) await service.close();
    await old?.close();
    await next?.close();
    await network?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  /** A service that writes the index of a database, and answers from it. */
  async function startOn(postgresUrl: string): Promise<Service> {
    const over = { globalConfig: () => network.globalConfig(), close: async () => undefined };
    const service = await startApiOver(over, { postgresUrl, writesIndex: true });
    services.push(service);
    return service;
  }

  async function untilCurrent(url: string): Promise<void> {
    const store = openStore({ url });
    await untilIndexed(store, network.head().id.seqno);
    await untilInterpreted(store, INTERPRETATION_VERSION);
    await store.close();
  }

  async function ask({ api, key }: Service, path: string): Promise<unknown> {
    const response = await fetch(`${api.url}/api/${path}`, { headers: { 'x-api-key': key } });
    return { status: response.status, body: await response.json() };
  }

  /** Requests for each kind of rows. */
  async function answersOf(service: Service): Promise<ReadonlyMap<string, unknown>> {
    const owner = demo['wallet v4r2'];
    const paths = [
      'masterchainInfo',
      'blocks?limit=100&sort=asc',
      'transactions?limit=200&sort=asc',
      'messages?limit=200&sort=asc',
      `traces?account=${owner}&include_actions=true`,
      'actions?limit=200&sort=asc',
      `jetton/wallets?jetton_address=${demo['jetton minter']}`,
      `jetton/transfers?jetton_master=${demo['jetton minter']}`,
      `nft/items?collection_address=${demo['NFT collection']}`,
      `walletStates?address=${owner}`,
    ];
    const found = new Map<string, unknown>();
    for (const path of paths) found.set(path, await ask(service, `v3/${path}`));
    expect([...found.values()]).toEqual(paths.map(() => expect.objectContaining({ status: 200 })));
    return found;
  }

  /** Blocks with a transfer of the faucet, which the index has to follow. */
  async function pay(seqno: number): Promise<void> {
    const faucet = testWallet(network.faucet.seed);
    network.send(faucet.send(seqno, [transfer(String(demo['wallet v4r2']), 1_000_000_000n)]));
    for (let step = 0; step < 3; step++) await network.step();
  }

  it('copies the index while it is served and written; the new database answers the same and is written on', async () => {
    expect(await majorOf(next.url)).toBeGreaterThan(await majorOf(old.url));
    const store = openStore({ url: old.url });
    await migrate(store);
    await store.close();
    const before = await startOn(old.url);
    await untilCurrent(old.url);
    const load = startLoad(`${before.api.url}/api/v2/getAddressInformation?address=${demo['wallet v4r2']}`, {
      clients: 1,
      headers: { 'x-api-key': before.key },
      pauseMs: 20,
    });
    const wallet = (
      await before.get(`getWalletInformation?address=${testWallet(network.faucet.seed).address.toString()}`)
    ).body;
    const { seqno } = wallet['result'] as { seqno: number };

    const dump = join(folder, 'index.dump');
    await run('pg_dump', ['--format=directory', '--jobs=2', '--no-owner', '--file', dump, '--dbname', old.url]);
    // The copy lacks these blocks.
    await pay(seqno);
    await untilCurrent(old.url);
    await run('pg_restore', ['--jobs=2', '--no-owner', '--exit-on-error', '--dbname', next.url, dump]);
    await run('psql', ['--quiet', '--dbname', next.url, '--command', 'ANALYZE']);

    const after = await startOn(next.url);
    await untilCurrent(next.url);
    expect(await answersOf(after)).toEqual(await answersOf(before));
    await load.stop();
    expect(load.failures).toEqual([]);

    await before.close();
    services.splice(services.indexOf(before), 1);
    await old.close();
    await pay(seqno + 1);
    await untilCurrent(next.url);
    expect(await ask(after, 'v3/masterchainInfo')).toMatchObject({
      body: { last: { seqno: network.head().id.seqno } },
    });
  });
});
