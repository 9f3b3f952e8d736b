import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { ask, startNetwork, type NetworkProcess } from '#test/support/api-processes.ts';
import { runToEnd, startService } from '#test/support/service-process.ts';
import { createDatabase } from '#test/support/stores.ts';

describe('the surfaces of a manifest', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tonplane-surfaces-'));
  const [manifest, uri] = [join(folder, 'tonapi.yaml'), join(folder, 'uri')];
  let network: NetworkProcess;
  let database: Awaited<ReturnType<typeof createDatabase>>;
  beforeAll(async () => {
    [network, database] = await Promise.all([startNetwork(), createDatabase(import.meta.filename)]);
    writeFileSync(uri, database.url);
  });
  afterAll(async () => {
    await network?.stop();
    await database?.close();
    rmSync(folder, { recursive: true });
  });

  it.each([
    { surfaces: ['v2'], byPath: 200, rpc: 200, v3: 404 },
    { surfaces: ['jsonrpc'], byPath: 404, rpc: 200, v3: 404 },
    { surfaces: ['v3'], byPath: 404, rpc: 404, v3: 200 },
    { surfaces: ['v3', 'jsonrpc', 'stream'], byPath: 404, rpc: 200, v3: 200 },
  ])('are served, and no other: $surfaces', async ({ surfaces, ...expected }) => {
    writeFileSync(manifest, network.manifest({ surfaces, postgres: { secretRef: { name: 'database' } } }));
    const named = ['--manifest', manifest, '--postgres-file', uri];
    expect((await runToEnd(['migrate', ...named])).code).toBe(0);
    const service = await startService(['api', ...named]);
    const call = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'getMasterchainInfo', params: {} });
    const body = { method: 'POST', headers: { 'content-type': 'application/json' }, body: call };
    const account = `0:${'0'.repeat(64)}`;
    expect({
      byPath: await ask(service),
      rpc: (await fetch(`${service.url}/api/v2/jsonRPC`, body)).status,
      v3: (await fetch(`${service.url}/api/v3/addressBook?address=${account}`)).status,
    }).toEqual(expected);
    await service.stop();
  });
});
