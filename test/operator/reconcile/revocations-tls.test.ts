import { Redis } from 'ioredis';
import { pino } from 'pino';
import { afterAll, describe, expect, it } from 'vitest';

import type { KubernetesClient, ObjectName } from '#operator/kubernetes/client.ts';
import type { Resource } from '#operator/kubernetes/resources.ts';
import { createRevocations } from '#operator/reconcile/revocations.ts';
import { sample } from '#test/operator/desired/samples.ts';
import { createAuthority } from '#test/support/certificate.ts';
import { startTlsRedis } from '#test/support/redis-server.ts';
import { skipLoudly } from '#test/support/skips.ts';

const bounds = { signal: new AbortController().signal };
const authority = createAuthority('Private authority');
const stranger = createAuthority('Private authority');
const server = await startTlsRedis(authority);
const missing = skipLoudly(server === undefined, { what: 'revocations over TLS', why: 'no redis-server' });
const url = server?.url ?? '';

const base64 = (text: string): string => Buffer.from(text).toString('base64');

/** An API server whose Secret and ConfigMap `ca` hold the certificates. */
function clientWith(certificates: string | undefined, redisUrl = url): KubernetesClient {
  const client = {
    async get({ kind }: Resource, { name }: ObjectName) {
      const object = { apiVersion: 'v1', kind, metadata: { name } };
      if (name === 'redis') return { ...object, data: { url: base64(redisUrl) } };
      if (certificates === undefined) return undefined;
      return { ...object, data: { 'ca.crt': kind === 'Secret' ? base64(certificates) : certificates } };
    },
  };
  return client as unknown as KubernetesClient;
}

async function revoke(client: KubernetesClient, caBundle: object): Promise<{ done: boolean; lines: string[] }> {
  const lines: string[] = [];
  const logger = pino({}, { write: (line: string) => void lines.push(line) });
  const redis = { secretRef: { name: 'redis', key: 'url' }, embedded: false, caBundle };
  const tonApi = sample('smallest', { rateLimits: { redis, onRedisFailure: 'Local' } });
  return { done: await createRevocations({ client, logger }).add(tonApi, ['aaaaaaaaaaaa'], bounds), lines };
}

describe.skipIf(missing)('revocations in a Redis whose certificate is of a private authority', () => {
  afterAll(() => server?.close());
  const reference = { name: 'ca', key: 'ca.crt' };

  it.each([
    ['Secret', { secretRef: reference }],
    ['ConfigMap', { configMapRef: reference }],
  ])('reach it with the authority of a %s', async (_kind, caBundle) => {
    const redis = new Redis(url, { tls: { ca: authority.certificate } });
    await redis.flushall();
    expect(await revoke(clientWith(authority.certificate), caBundle)).toEqual({ done: true, lines: [] });
    expect(await redis.dbsize()).toBeGreaterThan(0);
    redis.disconnect();
  });

  it.each([
    [
      'another authority',
      clientWith(stranger.certificate),
      /spec\.rateLimits\.redis\.caBundle .*expected the authority/,
    ],
    ['certificates that are missing', clientWith(undefined), /caBundle: the certificates are not there/],
    ['a URL without TLS', clientWith(authority.certificate, 'redis://127.0.0.1:1'), /expected rediss:/],
  ])('fail with %s, and the log says why', async (_what, client, why) => {
    const { done, lines } = await revoke(client, { secretRef: reference });
    expect(done).toBe(false);
    expect(lines.join('')).toMatch(why);
  });
});
