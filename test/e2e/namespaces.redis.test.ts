import { randomBytes } from 'node:crypto';

import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';

import { ask, startNetwork, type NetworkProcess } from '#test/support/api-processes.ts';
import { mountFolder } from '#test/support/mounted-folder.ts';
import { startService } from '#test/support/service-process.ts';
import { skipLoudly } from '#test/support/skips.ts';

const redisUrl = inject('redisUrl') ?? '';
const missing = skipLoudly(redisUrl === '', { what: 'one name in two namespaces', why: 'no redis-server' });

describe.skipIf(missing)('processes of two TonApis with one name in two namespaces', () => {
  let network: NetworkProcess;
  beforeAll(async () => {
    network = await startNetwork();
  });
  afterAll(() => network?.stop());

  it('share no key of limits and of floors in one Redis', async () => {
    const name = `shared-${randomBytes(4).toString('hex')}`;
    const client = new Redis(redisUrl);
    const scopes = [`team-a/${name}`, `team-b/${name}`];
    for (const scope of scopes) {
      const [namespace = ''] = scope.split('/');
      const manifest = network.manifest({}, name).replace('metadata:', `metadata:\n  namespace: ${namespace}`);
      const folder = mountFolder({ 'tonapi.yaml': manifest });
      const service = await startService(['--manifest', folder.file('tonapi.yaml'), '--redis', redisUrl]);
      await expect.poll(() => client.keys(`pods:{revoked:${scope}}`)).toHaveLength(1);
      expect(await ask(service)).toBe(200);
      await expect.poll(() => client.keys(`ton:newest:${scope}:*`)).toHaveLength(1);
      await expect.poll(() => client.keys(`ton:floor:${scope}:*`)).toHaveLength(1);
      await service.stop('SIGTERM');
      folder.remove();
    }
    const keys = await client.keys(`*${name}*`);
    expect(keys.filter((key) => !scopes.some((scope) => key.includes(scope)))).toEqual([]);
    client.disconnect();
  });
});
