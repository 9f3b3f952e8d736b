import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { ask, startNetwork, type NetworkProcess } from '#test/support/api-processes.ts';
import { createAuthority, type Certificate } from '#test/support/certificate.ts';
import { mountFolder, type MountedFolder } from '#test/support/mounted-folder.ts';
import type { PostgresServer } from '#test/support/postgres-server.ts';
import { startTlsRedis, type RedisServer } from '#test/support/redis-server.ts';
import { runToEnd, startService, type ServiceProcess } from '#test/support/service-process.ts';
import { skipLoudly } from '#test/support/skips.ts';
import { startTlsPostgres } from '#test/support/tls-postgres.ts';

const authority = createAuthority('Private authority');
const stranger = createAuthority('Another authority');
const redis: RedisServer | undefined = await startTlsRedis(authority, 'certificate');
const missing = skipLoudly(redis === undefined, { what: 'client certificates of a process', why: 'no redis-server' });

const clientCertificate = { secretRef: { name: 'client' } };
const caBundle = { secretRef: { name: 'ca' } };
const patience = { timeout: 60_000, interval: 200 } as const;

const filesOf = ({ certificate, key }: Certificate) => ({ 'tls.crt': certificate, 'tls.key': key });

async function v3(service: ServiceProcess): Promise<number> {
  const answer = await fetch(`${service.url}/api/v3/addressBook?address=0:${'0'.repeat(64)}`);
  await answer.arrayBuffer();
  return answer.status;
}

async function redisAway(service: ServiceProcess): Promise<string | undefined> {
  const metrics = await (await fetch(`${service.internalUrl}/metrics`)).text();
  return /^ton_limits_redis_away (\d)$/m.exec(metrics)?.[1];
}

describe.skipIf(missing)('a process whose Redis and Postgres ask for a client certificate', () => {
  let network: NetworkProcess;
  let postgres: PostgresServer;
  let config: MountedFolder;
  let shown: MountedFolder;
  beforeAll(async () => {
    const certificate = authority.issue({ commonName: 'server', hosts: ['127.0.0.1'] });
    [network, postgres] = await Promise.all([startNetwork(), startTlsPostgres(certificate, authority.certificate)]);
    const manifest = network.manifest({
      surfaces: ['v2', 'v3'],
      rateLimits: { redis: { secretRef: { name: 'redis' }, caBundle, clientCertificate } },
      postgres: { secretRef: { name: 'postgres' }, caBundle, clientCertificate },
    });
    const uri = Object.assign(new URL(postgres.url), { password: '' }).href;
    config = mountFolder({ 'tonapi.yaml': manifest, 'ca.crt': authority.certificate, url: redis?.url ?? '', uri });
    shown = mountFolder(filesOf(authority.issue({ commonName: 'postgres' })));
  }, 120_000);
  afterAll(async () => {
    await Promise.all([network?.stop(), postgres?.close(), redis?.close()]);
    config?.remove();
    shown?.remove();
  });

  const argumentsOf = (...servers: readonly ('redis' | 'postgres')[]): string[] => [
    '--manifest',
    config.file('tonapi.yaml'),
    ...servers.flatMap((server) => [
      `--${server}-file`,
      config.file(server === 'redis' ? 'url' : 'uri'),
      `--${server}-ca-file`,
      config.file('ca.crt'),
      `--${server}-client-certificate-file`,
      shown.file('tls.crt'),
      `--${server}-client-key-file`,
      shown.file('tls.key'),
    ]),
  ];

  it('is served with the certificate, and follows another without a restart', { timeout: 240_000 }, async () => {
    expect(await runToEnd(['migrate', ...argumentsOf('postgres')])).toMatchObject({ code: 0 });
    const service = await startService(['api', ...argumentsOf('redis', 'postgres')]);
    await expect.poll(() => redisAway(service), patience).toBe('0');
    await expect.poll(() => v3(service), patience).toBe(200);

    shown.put(filesOf(stranger.issue({ commonName: 'postgres' })));
    await expect.poll(() => redisAway(service), patience).toBe('1');
    await expect.poll(() => v3(service), patience).toBe(503);
    await expect.poll(() => service.stdout(), patience).toContain('spec.rateLimits.redis.clientCertificate');
    expect(await ask(service)).toBe(200);

    shown.put(filesOf(authority.issue({ commonName: 'postgres' })));
    await expect.poll(() => redisAway(service), patience).toBe('0');
    await expect.poll(() => v3(service), patience).toBe(200);
    expect(service.stdout()).not.toContain('PRIVATE KEY');
    await service.stop('SIGTERM');
  });

  it('does not start without the files, and names the field', { timeout: 120_000 }, async () => {
    const ended = await runToEnd(['migrate', ...argumentsOf('postgres').slice(0, -4)]);
    expect(ended.code).not.toBe(0);
    expect(ended.stderr).toContain('spec.postgres.clientCertificate: expected --postgres-client-certificate-file and');
  });
});
