import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { projectRoot } from '#test/support/service-flags.ts';
import { runToEnd, startService, type ServiceProcess } from '#test/support/service-process.ts';
import { someOf } from '#test/support/volume.ts';

type Envelope = { ok: boolean; result: { last: { seqno: number } } };

const networks = [
  ['a private network', ['--require-key']],
  ['a recorded one', ['--recorded', '--require-key']],
] as const;

describe.each(someOf(networks, 1))('npm start with %s', (_, args) => {
  let service: ServiceProcess;
  beforeAll(async () => {
    service = await startService(args, { entry: join(projectRoot, 'service/main.ts') });
  });
  afterAll(() => service.stop('SIGKILL'));

  const masterchainInfo = async (headers: Record<string, string>): Promise<Response> =>
    fetch(`${service.url}/api/v2/getMasterchainInfo`, { headers });

  it('prints one curl line that works as it stands', async () => {
    const lines = service.stdout().match(/^curl .*$/gm) ?? [];
    expect(lines).toHaveLength(1);
    const { stdout } = await promisify(execFile)('sh', ['-c', `${lines[0]} --silent`]);
    expect(JSON.parse(stdout)).toMatchObject({ ok: true });
  });

  it('has a head that moves', async () => {
    const { key } = service;
    const first = await seqnoOf(await masterchainInfo({ 'x-api-key': key }));
    await expect
      .poll(async () => seqnoOf(await masterchainInfo({ 'x-api-key': key })))
      .toBeGreaterThanOrEqual(first + 2);
  });

  it('holds callers without a key to one request a second with --require-key, and says how to get a key', async () => {
    const refused: string[] = [];
    for (let count = 0; count < 3; count++) {
      const answer = await masterchainInfo({});
      if (answer.status === 429) refused.push(((await answer.json()) as { error: string }).error);
    }
    expect(refused[0]).toMatch(/^Ratelimit exceeded: send the header X-API-Key with the key that the start printed/);
  });

  it('refuses a key it does not know', async () => {
    expect((await masterchainInfo({ 'x-api-key': `${service.key}x` })).status).toBe(401);
  });

  it('gives the configuration file of its network, which the api role can start from', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'tonplane-e2e-'));
    const file = join(folder, 'global.config.json');
    writeFileSync(file, await (await fetch(`${service.internalUrl}/global.config.json`)).text());
    const second = await startService(['--network', 'testnet', '--global-config', file]);
    expect(await seqnoOf(await fetch(`${second.url}/api/v2/getMasterchainInfo`))).toBeGreaterThan(0);
    expect((await second.stop('SIGTERM')).code).toBe(0);
    rmSync(folder, { recursive: true });
  });

  it('serves a manifest over lite servers that are named in it, to its end also those who have not learned of it', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'tonplane-e2e-'));
    const file = join(folder, 'tonapi.yaml');
    const config = (await (await fetch(`${service.internalUrl}/global.config.json`)).json()) as GlobalConfig;
    writeFileSync(file, manifestOf(config));
    const second = await startService(['--manifest', file]);
    const status = (await (await fetch(`${second.internalUrl}/status`)).json()) as Record<string, unknown>;
    expect(status).toMatchObject({ name: 'private', network: 'custom', trust: 'verified', ready: true });
    const ask = (): Promise<Response> => fetch(`${second.url}/api/v2/getMasterchainInfo`);
    expect(await seqnoOf(await ask())).toBeGreaterThan(0);
    const stopped = second.stop('SIGTERM');
    const isReady = async (): Promise<boolean> => (await ask()).ok && (await fetch(`${second.internalUrl}/readyz`)).ok;
    await expect.poll(isReady).toBe(false);
    // Whoever balances over pods learns of it a moment later.
    const late = await ask();
    expect([late.status, late.headers.get('connection')]).toEqual([200, 'close']);
    expect((await stopped).code).toBe(0);
    rmSync(folder, { recursive: true });
  });

  it('says which port is in use', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'tonplane-e2e-'));
    const port = new URL(service.url).port;
    const { code, stderr } = await runToEnd(['--port', port, '--internal-port', '0', '--data', folder]);
    expect(stderr).toContain(`--port: port ${port} is in use`);
    expect(code).toBe(1);
    rmSync(folder, { recursive: true });
  });

  it('ends with exit code 0 after Ctrl-C, with connections open', async () => {
    await (await masterchainInfo({ 'x-api-key': service.key })).text();
    expect((await service.stop('SIGINT')).code).toBe(0);
  });
});

describe('the state folder after a restart', () => {
  it('has the development key and the proved key blocks, also when the recording starts again behind them', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'tonplane-e2e-'));
    const first = await startService(['--data', folder, '--pace', '0']);
    const trusted = await keyBlockSeqno(first);
    await first.stop();
    const second = await startService(['--data', folder, '--recorded']);
    expect(second.key).toBe(first.key);
    expect(await keyBlockSeqno(second)).toBe(trusted);
    expect(await seqnoOf(await fetch(`${second.url}/api/v2/getMasterchainInfo`))).toBeGreaterThan(0);
    await second.stop();
    expect(readFileSync(join(folder, 'dev.key'), 'utf8').trim()).toBe(first.key);
    rmSync(folder, { recursive: true });
  });
});

describe('a start that cannot be', () => {
  it.each([
    [['--port', 'eighty'], 2, '--port: expected a number from 0 to 65535, got eighty'],
    [['--manifest', 'missing.yaml'], 1, '--manifest: expected a readable file, got ENOENT for missing.yaml'],
    [['--data', '/dev/null/data'], 1, '--data: expected a folder that can be created and written, got EEXIST'],
    [['--data', '/proc/xt'], 1, '--data: expected a folder that can be created and written, got ENOENT for /proc/xt'],
    [['--data', '/proc'], 1, '--data: expected a folder that can be created and written, got ENOENT for /proc'],
  ])('%j ends with a sentence', async (args, expectedCode, expected) => {
    const { code, stderr } = await runToEnd(args);
    expect(stderr).toContain(expected);
    expect(stderr).not.toContain('    at ');
    expect(code).toBe(expectedCode);
  });

  it('lists every error of a manifest with the path of its field', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'tonplane-e2e-'));
    const file = join(folder, 'manifest.yaml');
    writeFileSync(
      file,
      `apiVersion: tonplane.dev/v1alpha1
kind: TonApi
metadata: { name: broken }
spec:
  network: moon
  plans: [{ name: free, requestsPerSecond: 10, burst: 5 }]
  rateLimits: { redis: { embedded: true } }
  liteServers: [{ name: one, address: 'localhost:0', publicKey: short }]
`,
    );
    const { code, stderr } = await runToEnd(['--manifest', file, '--data', folder]);
    for (const path of ['spec.network', 'spec.plans[0].burst', 'spec.liteServers[0].publicKey']) {
      expect(stderr).toContain(path);
    }
    expect(code).toBe(1);
    rmSync(folder, { recursive: true });
  });
});

type GlobalConfig = {
  readonly liteservers: readonly { readonly port: number; readonly id: { readonly key: string } }[];
  readonly validator: { readonly zero_state: { readonly root_hash: string; readonly file_hash: string } };
};

/** A manifest for the network that a global config describes, its lite server on loopback. */
function manifestOf({ liteservers: [liteServer], validator: { zero_state: zeroState } }: GlobalConfig): string {
  return `apiVersion: tonplane.dev/v1alpha1
kind: TonApi
metadata: { name: private }
spec:
  network: custom
  liteServers: [{ name: own, address: '127.0.0.1:${liteServer?.port}', publicKey: ${liteServer?.id.key} }]
  zeroState: { rootHash: ${zeroState.root_hash}, fileHash: ${zeroState.file_hash} }
  plans: [{ name: free, requestsPerSecond: 10 }]
  anonymousPlan: free
  rateLimits: { redis: { embedded: true } }
`;
}

async function keyBlockSeqno(service: ServiceProcess): Promise<number> {
  const status = (await (await fetch(`${service.internalUrl}/status`)).json()) as {
    trustedKeyBlock: { seqno: number };
  };
  return status.trustedKeyBlock.seqno;
}

async function seqnoOf(response: Response): Promise<number> {
  return ((await response.json()) as Envelope).result.last.seqno;
}
