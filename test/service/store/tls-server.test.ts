import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { createAuthority } from '#test/support/certificate.ts';
import type { PostgresServer } from '#test/support/postgres-server.ts';
import { openStore } from '#test/support/store.ts';
import { createDatabase } from '#test/support/stores.ts';
import { startTlsPostgres } from '#test/support/tls-postgres.ts';

const authority = createAuthority('Private authority');
const stranger = createAuthority('Private authority');
let server: PostgresServer;

beforeAll(async () => {
  server = await startTlsPostgres(authority.issue({ commonName: 'postgres', hosts: ['127.0.0.1'] }));
});
afterAll(() => server.close());

const encryption = 'SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()';

/** Reports whether the connection of the store is encrypted. */
async function isEncrypted(url: string, query: string, ca?: string): Promise<boolean | undefined> {
  const store = openStore({ url: `${url}${query}`, ca });
  try {
    const [row] = await store.read<{ ssl: boolean }>(encryption);
    return row?.ssl;
  } finally {
    await store.close();
  }
}

describe('a Postgres whose certificate is of a private authority', () => {
  it.each(['', '?sslmode=require', '?sslmode=verify-ca', '?sslmode=verify-full'])(
    'is read over TLS with the authority of the manifest and "%s"',
    async (query) => {
      expect(await isEncrypted(server.url, query, authority.certificate)).toBe(true);
    },
  );

  it.each([
    ['', stranger.certificate],
    ['?sslmode=prefer', stranger.certificate],
    ['?sslmode=require', stranger.certificate],
    ['?sslmode=verify-ca', stranger.certificate],
    ['?sslmode=verify-full', undefined],
  ])('is refused with "%s" and another authority, and the error names the field', async (query, ca) => {
    await expect(isEncrypted(server.url, query, ca)).rejects.toMatchObject({
      code: 'store_unavailable',
      message: expect.stringMatching(
        /^spec\.postgres\.caBundle \(--postgres-ca-file\): expected the authority/,
      ) as string,
    });
  });

  it('is refused under another host by verify-full, and taken by verify-ca', async () => {
    const other = server.url.replace('127.0.0.1', 'localhost');
    await expect(isEncrypted(other, '', authority.certificate)).rejects.toThrow(/spec\.postgres\.secretRef: .*host/);
    expect(await isEncrypted(other, '?sslmode=verify-ca', authority.certificate)).toBe(true);
  });

  it('is read as the mode says without an authority', async () => {
    expect(await isEncrypted(server.url, '')).toBe(true);
    expect(await isEncrypted(server.url, '?sslmode=require')).toBe(true);
    expect(await isEncrypted(server.url, '?sslmode=disable')).toBe(false);
    expect(await isEncrypted(server.url, '?sslmode=allow')).toBe(false);
  });

  it('is read again when the authority changes while the process runs', async () => {
    const store = openStore({ url: server.url, ca: stranger.certificate });
    await expect(store.read(encryption)).rejects.toThrow(/caBundle/);
    store.setUrls({ url: server.url, ca: authority.certificate });
    expect(await store.read(encryption)).toEqual([{ ssl: true }]);
    const alone = await store.connect();
    expect((await alone.query(encryption)).rows).toEqual([{ ssl: true }]);
    await alone.end();
    await store.close();
  });
});

describe('a Postgres without TLS', () => {
  it('is read by the modes that allow it, and refused by all others', async () => {
    const database = await createDatabase(import.meta.filename);
    const plain = `${database.url}?sslmode=`;
    expect(await isEncrypted(plain, 'prefer')).toBe(false);
    expect(await isEncrypted(plain, 'allow')).toBe(false);
    await expect(isEncrypted(plain, 'require')).rejects.toThrow(/does not support SSL/);
    await expect(isEncrypted(plain, 'prefer', authority.certificate)).rejects.toThrow(/does not support SSL/);
    await database.close();
  });
});
