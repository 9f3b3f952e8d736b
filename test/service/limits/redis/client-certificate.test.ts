import { pino } from 'pino';
import { Registry } from 'prom-client';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';

import { createRedisMetrics } from '#service/limits/metrics.ts';
import { connectRedis } from '#service/limits/redis/connection.ts';
import { createRedisSession } from '#service/limits/redis/redis-session.ts';
import { revokeInRedis } from '#service/limits/redis/revoke.ts';
import type { ClientCertificate } from '#service/tls/client-certificate.ts';
import { createAuthority } from '#test/support/certificate.ts';
import { startTlsRedis } from '#test/support/redis-server.ts';
import { skipLoudly } from '#test/support/skips.ts';

import { startTlsRedisCluster } from './redis-cluster.ts';
import { startTlsSentinel } from './redis-sentinels.ts';

const authority = createAuthority('Private authority');
const namesake = createAuthority('Private authority');
const stranger = createAuthority('Another authority');
const clientCertificate = authority.issue({ commonName: 'tonplane' });
const ca = authority.certificate;
const server = await startTlsRedis(authority, 'certificate');
const missing = skipLoudly(server === undefined, { what: 'client certificates of Redis', why: 'no redis-server' });
const url = server?.url ?? '';

function openSession(shown: ClientCertificate | undefined, to = url) {
  const lines: string[] = [];
  const logger = pino({ level: 'error' }, { write: (line: string) => void lines.push(line) });
  const metrics = createRedisMetrics(new Registry());
  const session = createRedisSession(
    { url: to, ca, clientCertificate: shown, api: 'a', pod: 'p' },
    { logger, metrics, random: () => 0, inKeyring: () => false },
  );
  return { session, lines };
}

describe.skipIf(missing)('a Redis that lets clients with a certificate in', () => {
  afterAll(() => server?.close());

  it('is shared with the client certificate', async () => {
    const { session, lines } = openSession(clientCertificate);
    await vi.waitUntil(() => session.here, { timeout: 60_000 });
    expect(lines).toEqual([]);
    await session.close();
  });

  it.each([
    ['no certificate', undefined],
    ['a certificate of another authority', stranger.issue({ commonName: 'tonplane' })],
    ['a certificate of an authority of the same name', namesake.issue({ commonName: 'tonplane' })],
  ])(
    'refuses %s: the log names the field, and a right certificate is taken without a restart',
    async (_what, shown) => {
      const { session, lines } = openSession(shown);
      await vi.waitUntil(() => lines.length > 0, { timeout: 60_000 });
      expect(lines[0]).toContain(
        'spec.rateLimits.redis.clientCertificate (--redis-client-certificate-file): expected a certificate',
      );
      expect(session.here).toBe(false);
      session.setServer({ url, ca, clientCertificate });
      await vi.waitUntil(() => session.here, { timeout: 60_000 });
      expect(lines).toHaveLength(1);
      await session.close();
    },
  );

  it('takes a revoked key of the command line with the certificate', async () => {
    await revokeInRedis({ url, ca, clientCertificate }, 'a', 'key');
    const connection = connectRedis({ url, ca, clientCertificate, retryMs: () => 50 });
    await vi.waitUntil(() => connection.status === 'ready', { timeout: 60_000 });
    expect(await connection.keys('*')).not.toEqual([]);
    connection.disconnect();
  });
});

/** Several servers that let clients with a certificate in, and the way to end those. */
type Servers = { readonly url: string; close(): Promise<void> };

async function behindSentinel(): Promise<Servers> {
  const redis = await startTlsRedis(authority, 'certificate');
  const sentinel = await startTlsSentinel(authority, Number(new URL(redis?.url ?? '').port), 'certificate');
  return {
    url: sentinel.url,
    async close() {
      await sentinel.close();
      await redis?.close();
    },
  };
}

describe.skipIf(missing).each([
  ['a Sentinel and its primary', behindSentinel],
  ['a cluster', () => startTlsRedisCluster(authority)],
])('%s that let clients with a certificate in', (_what, start) => {
  let servers: Servers;
  beforeAll(async () => {
    servers = await start();
  });
  afterAll(() => servers?.close());

  it('are shared with the client certificate, and every key is written with it', async () => {
    const { session, lines } = openSession(clientCertificate, servers.url);
    await vi.waitUntil(() => session.here, { timeout: 60_000 });
    expect(lines).toEqual([]);
    await session.close();
    const connection = connectRedis({ url: servers.url, ca, clientCertificate, retryMs: () => 50 });
    connection.on('error', () => undefined);
    await vi.waitUntil(() => connection.status === 'ready', { timeout: 60_000 });
    // Keys of all nodes of a cluster.
    const names = Array.from({ length: 50 }, (_, index) => `name ${index}`);
    for (const name of names) expect(await connection.set(name, name)).toBe('OK');
    for (const name of names) expect(await connection.get(name)).toBe(name);
    connection.disconnect();
  });

  it.each([
    ['no certificate', undefined],
    ['a certificate of another authority', stranger.issue({ commonName: 'tonplane' })],
  ])('refuse %s: the log names the field, and a right certificate is taken without a restart', async (_case, shown) => {
    const { session, lines } = openSession(shown, servers.url);
    await vi.waitUntil(() => lines.length > 0, { timeout: 60_000 });
    expect(lines[0]).toContain('spec.rateLimits.redis.clientCertificate (--redis-client-certificate-file)');
    expect(session.here).toBe(false);
    session.setServer({ url: servers.url, ca, clientCertificate });
    await vi.waitUntil(() => session.here, { timeout: 60_000 });
    await session.close();
  });
});
