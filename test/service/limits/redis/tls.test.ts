import { pino } from 'pino';
import { Registry } from 'prom-client';
import { afterAll, describe, expect, it, vi } from 'vitest';

import { createRedisMetrics } from '#service/limits/metrics.ts';
import { revokeInRedis } from '#service/limits/redis/revoke.ts';
import { createRedisSession } from '#service/limits/redis/redis-session.ts';
import { createAuthority } from '#test/support/certificate.ts';
import { startTlsRedis } from '#test/support/redis-server.ts';
import { skipLoudly } from '#test/support/skips.ts';

const authority = createAuthority('Private authority');
const stranger = createAuthority('Private authority');
const server = await startTlsRedis(authority);
const missing = skipLoudly(server === undefined, { what: 'Redis over TLS', why: 'no redis-server' });
const url = server?.url ?? '';

function openStore(ca: string | undefined) {
  const lines: string[] = [];
  const logger = pino({ level: 'error' }, { write: (line: string) => void lines.push(line) });
  const metrics = createRedisMetrics(new Registry());
  return {
    lines,
    store: createRedisSession(
      { url, ca, api: 'a', pod: 'p' },
      { logger, metrics, random: () => 0, inKeyring: () => false },
    ),
  };
}

describe.skipIf(missing)('a Redis whose certificate is of a private authority', () => {
  afterAll(() => server?.close());

  it('a Redis with a certificate of a private authority is shared if its authority is given', async () => {
    const { store, lines } = openStore(authority.certificate);
    await vi.waitUntil(() => store.here, { timeout: 60_000 });
    expect(lines).toEqual([]);
    await store.close();
  });

  it.each([
    ['another authority', stranger.certificate],
    ['the public authorities', undefined],
  ])('a Redis checked with %s is refused, and the log names the field once', async (_what, ca) => {
    const { store, lines } = openStore(ca);
    await vi.waitUntil(() => lines.length > 0, { timeout: 60_000 });
    expect(lines[0]).toContain('spec.rateLimits.redis.caBundle (--redis-ca-file): expected the authority');
    expect(store.here).toBe(false);
    // Rotates the authority while the process runs.
    store.setServer({ url, ca: authority.certificate });
    await vi.waitUntil(() => store.here, { timeout: 60_000 });
    expect(lines).toHaveLength(1);
    await store.close();
  });

  it('the command line revokes a key with the authority of Redis, and names the field without it', async () => {
    await revokeInRedis({ url, ca: authority.certificate }, 'a', 'key');
    await expect(revokeInRedis({ url }, 'a', 'key')).rejects.toMatchObject({
      data: { problems: [expect.stringContaining('spec.rateLimits.redis.caBundle') as string] },
    });
  });
});
