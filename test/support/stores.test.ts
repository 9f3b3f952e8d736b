import { Redis } from 'ioredis';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';

import { skipLoudly } from './skips.ts';
import { createDatabase } from './stores.ts';

describe('the Postgres that tests use', () => {
  let database: Awaited<ReturnType<typeof createDatabase>>;
  let client: Client;

  beforeAll(async () => {
    database = await createDatabase(import.meta.filename);
    client = new Client(database.url);
    await client.connect();
  });

  afterAll(async () => {
    await client.end();
    await database.close();
  });

  it('is a real server of version 15 or newer', async () => {
    const { rows } = await client.query<{ server_version_num: string }>('SHOW server_version_num');
    expect(Number(rows[0]?.server_version_num)).toBeGreaterThanOrEqual(150_000);
  });

  it.runIf(process.env['TONPLANE_POSTGRES'] && !process.env['DATABASE_URL'])(
    'is of the version asked for',
    async () => {
      const { rows } = await client.query<{ server_version: string }>('SHOW server_version');
      expect(rows[0]?.server_version.split('.')[0]).toBe(process.env['TONPLANE_POSTGRES']);
    },
  );

  it('gives each test file a database of its own', async () => {
    const { rows } = await client.query<{ name: string; tables: string }>(
      `SELECT current_database() AS name, count(*) AS tables FROM pg_tables WHERE schemaname = 'public'`,
    );
    expect(rows[0]).toEqual({ name: new URL(database.url).pathname.slice(1), tables: '0' });
  });

  it('forgets a database that is closed', async () => {
    const other = await createDatabase(import.meta.filename);
    const name = new URL(other.url).pathname.slice(1);
    await other.close();
    const { rowCount } = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [name]);
    expect(rowCount).toBe(0);
  });
});

const redisUrl = inject('redisUrl');
const withoutRedis = skipLoudly(redisUrl === undefined, {
  what: 'tests on Redis',
  why: 'no REDIS_URL, no redis-server in PATH, and it could not be installed',
});

describe.skipIf(withoutRedis)('the Redis that tests use', () => {
  it('is a real server that runs Lua scripts', async () => {
    const client = new Redis(redisUrl ?? '');
    try {
      expect(await client.eval("return redis.call('INCR', KEYS[1]) + ARGV[1]", 1, `{test}:${process.pid}`, 41)).toBe(
        42,
      );
    } finally {
      client.disconnect();
    }
  });
});
