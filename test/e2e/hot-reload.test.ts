import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { hotHashOfManifest, type KeyringRow } from '#service/config.ts';
import { makeKey } from '#service/limits/keys.ts';
import { ask, startNetwork, statusOf, type NetworkProcess } from '#test/support/api-processes.ts';
import { mountFolder } from '#test/support/mounted-folder.ts';
import { startService } from '#test/support/service-process.ts';

const planOf = (name: string, requestsPerSecond: number) => ({ name, requestsPerSecond });

function keyOf(plan: string): { readonly key: string; readonly row: KeyringRow } {
  const { key, id, sha256 } = makeKey(randomBytes);
  return { key, row: { id, sha256: sha256.toString('hex'), plan } };
}

const keyring = (...rows: KeyringRow[]): string => JSON.stringify({ keys: rows });

describe('a service whose files change', () => {
  let network: NetworkProcess;
  beforeAll(async () => {
    network = await startNetwork();
  });
  afterAll(() => network.stop());

  it('follows its mounted manifest and keyring under load, without a failed request', async () => {
    const before = network.manifest();
    const config = mountFolder({ 'tonapi.yaml': before });
    const [kept, added] = [keyOf('free'), keyOf('pro')];
    const keys = mountFolder({ '0.json': keyring(kept.row) });
    const service = await startService(['--manifest', config.file('tonapi.yaml'), '--keyring', keys.path]);
    expect(await statusOf(service)).toMatchObject({ configHash: hotHashOfManifest(before), keyring: { keys: 1 } });
    const statuses = new Set<number>();
    const load = { running: true };
    const askers = Array.from({ length: 4 }, async () => {
      while (load.running) statuses.add(await ask(service, kept.key));
    });
    for (let change = 1; change <= 2; change++) {
      const spec = {
        plans: [planOf('free', 100_000), planOf('pro', change)],
        liteServers: ['own', 'other'].slice(change - 1).map((name) => ({ ...network.liteServer, name })),
        observability: { logLevel: 'debug' },
      };
      const after = network.manifest(spec);
      config.put({ 'tonapi.yaml': after });
      await expect.poll(async () => (await statusOf(service))['configHash']).toBe(hotHashOfManifest(after));
    }
    keys.put({ '0.json': keyring(kept.row), '1.json': keyring(added.row) });
    await expect.poll(() => ask(service, added.key)).toBe(200);
    keys.put({ '0.json': keyring(kept.row) });
    await expect.poll(() => ask(service, added.key)).toBe(401);
    load.running = false;
    await Promise.all(askers);
    expect([...statuses]).toEqual([200]);
    expect(await statusOf(service)).toMatchObject({ liteServers: [{ name: 'other' }] });
    const metrics = await (await fetch(`${service.internalUrl}/metrics`)).text();
    expect(metrics).toContain('ton_config_reloads_total{result="applied"} 2');
    expect((await service.stop('SIGTERM')).code).toBe(0);
    config.remove();
    keys.remove();
  });

  it('refuses a bad manifest, keeps the one before, and says which changes need a restart', async () => {
    const before = network.manifest();
    const config = mountFolder({ 'tonapi.yaml': before });
    const service = await startService(['--manifest', config.file('tonapi.yaml')]);
    writeFileSync(config.file('tonapi.yaml'), network.manifest({ anonymousPlan: 'none' }));
    await expect.poll(() => service.stdout()).toContain('changed configuration refused');
    expect((await statusOf(service))['configHash']).toBe(hotHashOfManifest(before));
    expect(await ask(service)).toBe(200);
    config.put({ 'tonapi.yaml': network.manifest({ requestTimeout: '7s' }) });
    await expect.poll(() => service.stdout()).toContain('"fields":["requestTimeoutMs"]');
    await service.stop('SIGTERM');
    config.remove();
  });
});
