import { pino } from 'pino';
import { Registry } from 'prom-client';
import { afterAll, describe, expect, it, vi } from 'vitest';

import { createRedisMetrics } from '#service/limits/metrics.ts';
import { connectRedis } from '#service/limits/redis/connection.ts';
import { createRedisSession } from '#service/limits/redis/redis-session.ts';
import { revokeInRedis } from '#service/limits/redis/revoke.ts';
import type { ClientCertificate } from '#service/tls/client-certificate.ts';
import { createAuthority } from '#test/support/certificate.ts';
import { startTlsRedis } from '#test/support/redis-server.ts';
import { skipLoudly } from '#test/support/skips.ts';

const authority = createAuthority('Private authority');
const namesake = createAuthority('Private authority');
const stranger = createAuthority('Another authority');
const clientCertificate = authority.issue({ commonName: 'tonplane' });
const ca = authority.certificate;
const server = await startTlsRedis(authority, 'certificate');
const missing = skipLoudly(server === undefined, { what: 'client certificates of Redis', why: 'no redis-server' });
const url = server?.url ?? '';

function openSession(shown: ClientCertificate | undefined) {
  const lines: string[] = [];
  const logger = pino({ level: 'error' }, { write: (line: string) => void lines.push(line) });
  const metrics = createRedisMetrics(new Registry());
  const session = createRedisSession(
    { url, ca, clientCertificate: shown, api: 'a', pod: 'p' },
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
