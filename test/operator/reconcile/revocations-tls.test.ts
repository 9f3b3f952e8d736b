import { Redis } from 'ioredis';
import { pino } from 'pino';
import { afterAll, describe, expect, it } from 'vitest';

import type { KubernetesClient, ObjectName } from '#operator/kubernetes/client.ts';
import type { Resource } from '#operator/kubernetes/resources.ts';
import type { TonApi } from '#operator/resource.ts';
import { createRevocations } from '#operator/reconcile/revocations.ts';
import { sample } from '#test/operator/desired/samples.ts';
import { createAuthority } from '#test/support/certificate.ts';
import { startTlsRedis } from '#test/support/redis-server.ts';
import { skipLoudly } from '#test/support/skips.ts';

const bounds = { signal: new AbortController().signal };
const authority = createAuthority('Private authority');
const stranger = createAuthority('Private authority');
const server = await startTlsRedis(authority);
const strict = await startTlsRedis(authority, 'certificate');
const shown = authority.issue({ commonName: 'tonplane' });
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

async function revoke(
  client: KubernetesClient,
  caBundle: object,
  further: Partial<TonApi['spec']['rateLimits']['redis']> = {},
): Promise<{ done: boolean; lines: string[] }> {
  const lines: string[] = [];
  const logger = pino({}, { write: (line: string) => void lines.push(line) });
  const redis = { secretRef: { name: 'redis', key: 'url' }, embedded: false, caBundle, ...further };
  const tonApi = sample('smallest', { rateLimits: { redis, onRedisFailure: 'Local' } });
  return { done: await createRevocations({ client, logger }).add(tonApi, ['aaaaaaaaaaaa'], bounds), lines };
}

/** An API server with a Secret for each name, and the names that were read. */
function clientOver(secrets: Readonly<Record<string, Readonly<Record<string, string>>>>) {
  const read: string[] = [];
  const api = {
    get({ kind }: Resource, { name }: ObjectName) {
      read.push(`${kind} ${name}`);
      const texts = secrets[name];
      if (texts === undefined) return Promise.resolve(undefined);
      const data = Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, base64(text)]));
      return Promise.resolve({ apiVersion: 'v1', kind, metadata: { name }, data });
    },
  };
  return { api: api as unknown as KubernetesClient, read };
}

describe.skipIf(missing)('revocations in a Redis that lets clients with a certificate in', () => {
  afterAll(() => strict?.close());
  const caBundle = { secretRef: { name: 'ca', key: 'ca.crt' } };
  const clientCertificate = { secretRef: { name: 'client', certificate: 'tls.crt', privateKey: 'tls.key' } };
  const secrets = { redis: { url: strict?.url ?? '' }, ca: { 'ca.crt': authority.certificate } };
  const pair = { 'tls.crt': shown.certificate, 'tls.key': shown.key };

  it('reach it with the certificate of the Secret, and read no other Secret', async () => {
    const { api, read } = clientOver({ ...secrets, client: pair });
    expect(await revoke(api, caBundle, { clientCertificate })).toEqual({ done: true, lines: [] });
    expect(read.toSorted()).toEqual(['Secret ca', 'Secret client', 'Secret redis']);
  });

  it.each<[string, Readonly<Record<string, string>> | undefined, RegExp]>([
    ['a missing Secret', undefined, /clientCertificate: Secret client, key tls\.crt: expected certificates in PEM/],
    ['a Secret without the key', { 'tls.crt': pair['tls.crt'] }, /Secret client, key tls\.key: expected a private key/],
    ['the key of another', { ...pair, 'tls.key': stranger.key }, /key tls\.key: .*got the key of another/],
  ])('fail with %s, and the log says which part', async (_what, given, why) => {
    const { api } = clientOver({ ...secrets, ...(given && { client: given }) });
    const { done, lines } = await revoke(api, caBundle, { clientCertificate });
    expect(done).toBe(false);
    expect(lines.join('')).toMatch(why);
    expect(lines.join('')).not.toContain('PRIVATE KEY');
  });
});

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
