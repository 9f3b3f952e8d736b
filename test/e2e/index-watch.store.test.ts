import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { startEmbeddedPostgres } from '#service/main/postgres/embedded-postgres.ts';
import { watchIndex, type IndexWatch } from '#service/main/wiring/index-watch.ts';
import { postgresBinaries } from '#service/main/postgres/postgres-binaries.ts';
import { claimIndex } from '#service/store/indexer-state.ts';
import { migrate, schemaVersion } from '#service/store/migrate.ts';
import { startApiUnderTest } from '#test/support/api.ts';
import { skipLoudly } from '#test/support/skips.ts';
import { createStoreUnderTest, openStore, type StoreUnderTest } from '#test/support/store.ts';

const hashes = (byte: number) => ({ rootHash: Buffer.alloc(32, byte), fileHash: Buffer.alloc(32, byte) });
const network = hashes(1);

/** Looks often enough for a test. */
const times = { waitingMs: 10, calmMs: 10 };

describe('whether the index can be read', () => {
  let tested: StoreUnderTest;
  let watch: IndexWatch;
  let lines: string[];
  beforeEach(async () => {
    tested = await createStoreUnderTest(import.meta.filename);
    lines = [];
    const logger = pino({}, { write: (line: string) => void lines.push(line) });
    watch = watchIndex({ network, ...times }, { store: tested.store, logger });
  });
  afterEach(async () => {
    watch.close();
    await tested.close();
  });

  const reason = (): string | undefined => watch.reason();
  const begin = (startSeqno: number, of = network) => claimIndex(tested.store, { ...of, startSeqno });

  it('waits for the tables, then tells how far they are filled', async () => {
    expect(reason()).toBe('index: waiting for Postgres');
    await expect.poll(reason).toBe('index: schema ton has no tables: run migrate');
    await migrate(tested.store);
    await expect.poll(reason).toBeUndefined();
    expect(watch.text()).toBe('nobody has begun it');
    await begin(7);
    await expect.poll(() => watch.text()).toBe('no block yet');
    await tested.store.transaction(({ query }) => query('UPDATE indexer_state SET head_seqno = 9'));
    await expect.poll(() => watch.text()).toBe('up to 9');
  });

  it('tells of tables that this release no longer reads, and goes on when they are as before', async () => {
    await migrate(tested.store);
    await expect.poll(reason).toBeUndefined();
    const later = schemaVersion + 1;
    await tested.store.transaction(({ query }) =>
      query(`INSERT INTO schema_versions VALUES (${later}, 'later', ${later})`),
    );
    await expect.poll(reason).toContain(`index: the schema has version ${later}`);
    await tested.store.transaction(({ query }) => query('UPDATE schema_versions SET compatible_from = 1'));
    await expect.poll(reason).toBeUndefined();
  });

  it('is no reason against a process that loses its tables, until tables of another network take their place', async () => {
    await migrate(tested.store);
    await expect.poll(reason).toBeUndefined();
    await tested.store.transaction(({ query }) => query('DROP TABLE backfill_ranges'));
    await expect.poll(() => watch.text()).toContain('backfill_ranges');
    expect([watch.fits(), reason()]).toEqual([false, undefined]);
    await tested.store.transaction(({ query }) => query('DROP SCHEMA ton CASCADE'));
    await expect.poll(() => watch.text()).toContain('has no tables: run migrate');
    expect([watch.fits(), reason()]).toEqual([false, undefined]);
    await migrate(tested.store);
    await expect.poll(() => watch.fits()).toBe(true);
    await begin(1, hashes(2));
    await expect.poll(reason).toMatch(/^index: the index holds the network AgIC/);
  });

  it('refuses an index of another network', async () => {
    await migrate(tested.store);
    await begin(1, hashes(2));
    await expect.poll(reason).toMatch(/^index: the index holds the network AgIC/);
  });

  it('is no reason against a process while Postgres is away from its start on, and is not read unchecked', async () => {
    const away = openStore({ url: 'postgres://nobody:none@127.0.0.1:1/none' });
    const early = watchIndex({ network, ...times }, { store: away, logger: pino({ level: 'silent' }) });
    await expect.poll(() => early.reason()).toBeUndefined();
    expect(early.fits()).toBe(false);
    expect(early.text()).toContain('ECONNREFUSED');
    await migrate(tested.store);
    away.setUrls({ url: tested.url });
    await expect.poll(() => early.fits()).toBe(true);
    early.close();
    await away.close();
  });

  it('stays as it was while Postgres is away', async () => {
    await migrate(tested.store);
    await expect.poll(reason).toBeUndefined();
    tested.store.setUrls({ url: 'postgres://nobody:none@127.0.0.1:1/none' });
    await new Promise((done) => setTimeout(done, 20 * times.calmMs));
    expect(reason()).toBeUndefined();
    const broken = lines.filter((line) => line.includes('cannot be read'));
    expect(broken.filter((line) => line.includes('ECONNREFUSED'))).toEqual([]);
  });
});

describe('an API with v3', () => {
  it('is not ready before its tables are, which v2 does not wait for', async () => {
    const tested = await createStoreUnderTest(import.meta.filename);
    const starting = startApiUnderTest({ postgresUrl: tested.url });
    const readied = starting.then(() => 'ready');
    const early = await Promise.race([readied, new Promise((done) => setTimeout(done, 1000, 'waits'))]);
    expect(early).toBe('waits');
    await migrate(tested.store);
    const open = await starting;
    try {
      const answer = await fetch(`${open.api.url}/api/v3/masterchainInfo`, { headers: { 'x-api-key': open.key } });
      expect(await answer.json()).toMatchObject({ error: 'no block is indexed yet' });
      expect((await open.get('getMasterchainInfo')).status).toBe(200);
      const status = (await (await fetch(`${open.api.internalUrl}/status`)).json()) as object;
      expect(status).toMatchObject({ index: { text: 'nobody has begun it' } });
    } finally {
      await open.close();
      await tested.close();
    }
  });
});

describe('an API that loses its tables', () => {
  it('answers 503 for v3 and goes on with v2, ready all the while, until they are made again', async () => {
    const tested = await createStoreUnderTest(import.meta.filename);
    await migrate(tested.store);
    const open = await startApiUnderTest({ postgresUrl: tested.url });
    const ask = async (path: string): Promise<number> =>
      (await fetch(`${open.api.url}/api/${path}`, { headers: { 'x-api-key': open.key } })).status;
    const outcome = async () => ({
      v3: await ask('v3/blocks?limit=1'),
      v2: await ask('v2/getMasterchainInfo'),
      ready: (await fetch(`${open.api.internalUrl}/readyz`)).status,
    });
    const indexText = async (): Promise<unknown> => {
      const status = await (await fetch(`${open.api.internalUrl}/status`)).json();
      return (status as { readonly index: { readonly text: string } }).index.text;
    };
    const good = { v3: 200, v2: 200, ready: 200 };
    try {
      expect(await outcome()).toEqual(good);
      await tested.store.transaction(({ query }) => query('DROP SCHEMA ton CASCADE'));
      await expect.poll(indexText).toContain('has no tables: run migrate');
      expect(await outcome()).toEqual({ ...good, v3: 503 });
      await migrate(tested.store);
      await expect.poll(outcome).toEqual(good);
    } finally {
      await open.close();
      await tested.close();
    }
  });
});

const bin = postgresBinaries() ?? '';
const missing = { what: 'an API whose Postgres goes away', why: 'embedded-postgres has no binaries for this platform' };

describe.skipIf(skipLoudly(bin === '', missing))('an API whose Postgres goes away', () => {
  it('answers 503 for v3 and goes on with v2, ready all the while, until it is back', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'tonplane-away-'));
    const first = await startEmbeddedPostgres({ bin, folder });
    const { url } = first;
    const store = openStore({ url });
    await migrate(store);
    await store.close();
    const open = await startApiUnderTest({ postgresUrl: url });
    const ask = async (path: string): Promise<number> =>
      (await fetch(`${open.api.url}/api/${path}`, { headers: { 'x-api-key': open.key } })).status;
    const fromIndex = 'v3/addressBook?address=-1:3333333333333333333333333333333333333333333333333333333333333333';
    const outcome = async () => ({
      v3: await ask(fromIndex),
      v2: await ask('v2/getMasterchainInfo'),
      ready: (await fetch(`${open.api.internalUrl}/readyz`)).status,
    });
    const good = { v3: 200, v2: 200, ready: 200 };
    try {
      expect(await outcome()).toEqual(good);
      await first.close();
      expect(await outcome()).toEqual({ ...good, v3: 503 });
      // On the port that the API knows.
      const second = await startEmbeddedPostgres({ bin, folder, settings: [`port=${new URL(url).port}`] });
      await expect.poll(outcome).toEqual(good);
      await second.close();
    } finally {
      await open.close();
      rmSync(folder, { recursive: true });
    }
  });
});
