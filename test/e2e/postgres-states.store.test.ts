import { execFileSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { Client } from 'pg';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { startEmbeddedPostgres, type EmbeddedPostgres } from '#service/main/postgres/embedded-postgres.ts';
import { watchIndex } from '#service/main/wiring/index-watch.ts';
import { postgresBinaries } from '#service/main/postgres/postgres-binaries.ts';
import { migrate } from '#service/store/migrate.ts';
import type { Store } from '#service/store/store.ts';
import { startApiUnderTest, type ApiUnderTest } from '#test/support/api.ts';
import { skipLoudly } from '#test/support/skips.ts';
import { openStore } from '#test/support/store.ts';
import { someOf } from '#test/support/volume.ts';

const bin = postgresBinaries() ?? '';
const folder = mkdtempSync(join(tmpdir(), 'tonplane-states-'));

/** Room for a new database of Postgres, and little more. */
const diskMegabytes = 160;

const isMounted = mount();

function mount(): boolean {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${diskMegabytes}m,mode=755`, 'none', folder], {
      stdio: 'ignore',
    });
    return true;
  } catch {
    return false;
  }
}

let postgres: EmbeddedPostgres;

/** Postgres enters a state; the function that it resolves to ends it. */
type State = () => Promise<() => Promise<void>>;

const locked =
  (table: string): State =>
  async () => {
    const stranger = new Client(postgres.url);
    await stranger.connect();
    await stranger.query(`BEGIN; LOCK TABLE ton.${table} IN ACCESS EXCLUSIVE MODE`);
    stranger.on('error', () => undefined);
    return () => stranger.end();
  };

const withoutConnections: State = async () => {
  const strangers: Client[] = [];
  for (;;) {
    const stranger = new Client(postgres.url);
    stranger.on('error', () => undefined);
    try {
      await stranger.connect();
      strangers.push(stranger);
    } catch (error) {
      expect(error).toMatchObject({ code: '53300' });
      break;
    }
  }
  return async () => void (await Promise.all(strangers.map((stranger) => stranger.end())));
};

const set =
  (setting: string, value: string): State =>
  async () => {
    await asAdministrator(`ALTER SYSTEM SET ${setting} = ${value}`);
    return () => asAdministrator(`ALTER SYSTEM RESET ${setting}`);
  };

const anotherPassword: State = async () => {
  const { password } = new URL(postgres.url);
  const administrator = new Client(postgres.url);
  await administrator.connect();
  await administrator.query(`ALTER USER postgres PASSWORD 'another'`);
  return async () => {
    await administrator.query(`ALTER USER postgres PASSWORD '${password}'`);
    await administrator.end();
  };
};

const fullDisk: State = async () => {
  const path = join(folder, 'stranger');
  const file = openSync(path, 'w');
  // Ever smaller pieces: nothing is left.
  for (const size of [1 << 20, 4096, 1]) {
    try {
      for (;;) writeSync(file, Buffer.alloc(size));
    } catch (error) {
      expect(error).toMatchObject({ code: 'ENOSPC' });
    }
  }
  closeSync(file);
  return async () => rmSync(path);
};

async function asAdministrator(sql: string): Promise<void> {
  const client = new Client(postgres.url);
  await client.connect();
  await client.query(sql);
  await client.query('SELECT pg_reload_conf()');
  await client.end();
}

/** Of a process that is new and reads blocks, and of Postgres in no such state. */
const good = { v3: 200, v2: 200, ready: 200 };

async function outcomeOf({ api, key }: ApiUnderTest): Promise<typeof good> {
  const ask = async (path: string) => (await fetch(`${api.url}/api/${path}`, { headers: { 'x-api-key': key } })).status;
  return {
    v3: await ask('v3/blocks?limit=1'),
    v2: await ask('v2/getMasterchainInfo'),
    ready: (await fetch(`${api.internalUrl}/readyz`)).status,
  };
}

/** Looks of a process at its index, as often as they end, and how many of them failed. */
function watchOften(store: Store) {
  let failures = 0;
  const counted = <T>(call: Promise<T>): Promise<T> =>
    call.catch((error: unknown) => {
      failures++;
      throw error;
    });
  const watch = watchIndex(
    { network: { rootHash: Buffer.alloc(32), fileHash: Buffer.alloc(32) }, waitingMs: 10, calmMs: 10 },
    {
      store: {
        ...store,
        read: (sql, values, options) => counted(store.read(sql, values, options)),
        transaction: (work, options) => counted(store.transaction(work, options)),
      },
      logger: pino({ level: 'silent' }),
    },
  );
  return {
    reason: () => watch.reason(),
    fits: () => watch.fits(),
    failures: () => failures,
    close: () => watch.close(),
  };
}

/** Each state, and the answers of v3 to a pod that starts in it, and later. */
const states: readonly (readonly [string, State, { atStart: number; later: number; looksFail: boolean }])[] = [
  ['a lock on the versions of the schema', locked('schema_versions'), { atStart: 503, later: 200, looksFail: true }],
  ['a lock on the state of the index', locked('indexer_state'), { atStart: 503, later: 200, looksFail: true }],
  ['a lock on blocks', locked('blocks'), { atStart: 503, later: 503, looksFail: false }],
  ['no connection left', withoutConnections, { atStart: 503, later: 200, looksFail: false }],
  ['another password', anotherPassword, { atStart: 503, later: 200, looksFail: false }],
  ['read-only', set('default_transaction_read_only', 'on'), { atStart: 200, later: 200, looksFail: false }],
];

describe.skipIf(skipLoudly(bin === '', { what: 'states of Postgres', why: 'embedded-postgres has no binaries here' }))(
  'a state of Postgres that passes',
  () => {
    beforeAll(async () => {
      const settings = ['max_connections=16', 'superuser_reserved_connections=0'];
      postgres = await startEmbeddedPostgres({ bin, folder: join(folder, 'postgres'), settings });
      const store = openStore({ url: postgres.url });
      await migrate(store);
      await store.close();
    });
    afterAll(async () => {
      await postgres?.close();
      if (isMounted) execFileSync('umount', ['--lazy', folder]);
      rmSync(folder, { recursive: true });
    });

    it.each(someOf(states, 2))(
      'leaves v2 alone and a pod ready, from its start on: %s',
      async (_name, state, { atStart, later, looksFail }) => {
        const ends = [await state()];
        const endAll = async () => void (await Promise.all(ends.splice(0).map((end) => end())));
        const open = await startApiUnderTest({ postgresUrl: postgres.url });
        const store = openStore({ url: postgres.url });
        const looks = watchOften(store);
        try {
          expect(await outcomeOf(open)).toEqual({ ...good, v3: atStart });
          await endAll();
          await expect.poll(() => outcomeOf(open)).toEqual(good);
          await expect.poll(() => looks.fits()).toBe(true);
          const failed = looks.failures();
          ends.push(await state());
          await expect.poll(() => outcomeOf(open)).toEqual({ ...good, v3: later });
          await expect.poll(() => looks.failures()).toBeGreaterThanOrEqual(looksFail ? failed + 1 : failed);
          expect([looks.reason(), looks.fits()]).toEqual([undefined, true]);
          await endAll();
          await expect.poll(() => outcomeOf(open)).toEqual(good);
        } finally {
          looks.close();
          await store.close();
          await open.close();
        }
      },
    );

    const noDisk = { what: 'a full disk of Postgres', why: 'no right to mount a tmpfs' };
    it.skipIf(skipLoudly(!isMounted, noDisk))(
      'leaves v2 alone and a pod ready: a full disk, which fails writes until there is room again',
      async () => {
        const open = await startApiUnderTest({ postgresUrl: postgres.url });
        const store = openStore({ url: postgres.url });
        const write = () =>
          store.transaction(({ query }) =>
            query(`CREATE TABLE public.much AS SELECT repeat('x', 1000) AS much FROM generate_series(1, 10000)`),
          );
        const end = await fullDisk();
        try {
          await expect(write()).rejects.toMatchObject({ code: 'store_unavailable', retryable: true });
          const { v2, ready } = await outcomeOf(open);
          expect({ v2, ready }).toEqual({ v2: 200, ready: 200 });
          await end();
          await expect.poll(() => outcomeOf(open)).toEqual(good);
          await write();
        } finally {
          await store.close();
          await open.close();
        }
      },
    );
  },
);
