import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { claimIndex } from '#service/store/indexer-state.ts';
import { startTokenHost, type TokenHost } from '#test/service/metadata/token-host.ts';
import { createTokenQueue, tokenKey, type TokenQueue } from '#test/service/metadata/token-queue.ts';
import { key, manifestOf } from '#test/service/config/manifest-builder.ts';
import { statusOf } from '#test/support/api-processes.ts';
import { runToEnd, startService, type ServiceProcess } from '#test/support/service-process.ts';

const soon = { timeout: 120_000, interval: 100 } as const;

/** A manifest with a database and these fields. */
function manifestWith(fields: object): string {
  return manifestOf((spec) => Object.assign(spec, { postgres: { secretRef: { name: 'database' } }, ...fields }));
}

describe('tonplane metadata', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tonplane-metadata-'));
  const [manifest, silent, uri] = ['tonapi.yaml', 'silent.yaml', 'uri'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  const zeroState = { rootHash: Buffer.from(key, 'base64'), fileHash: Buffer.from(key, 'base64') };
  let queue: TokenQueue;
  let inside: TokenHost;
  let service: ServiceProcess;

  beforeAll(async () => {
    queue = await createTokenQueue(import.meta.filename);
    await claimIndex(queue.store, { ...zeroState, startSeqno: 1 });
    inside = await startTokenHost((_, response) => void response.end('{"name":"Inside"}'));
    writeFileSync(manifest, manifestWith({ tokenMetadata: { ipfsGateway: `http://127.0.0.1:${inside.port}` } }));
    writeFileSync(silent, manifestWith({}));
    writeFileSync(uri, queue.url);
    service = await startService(['metadata', '--manifest', manifest, '--postgres-file', uri]);
  });
  afterAll(async () => {
    await service?.stop();
    await inside?.close();
    await queue?.close();
    rmSync(folder, { recursive: true });
  });

  it('is ready with a database alone, and tells what it does', async () => {
    await expect.poll(async () => (await statusOf(service))['ready'], soon).toBe(true);
    expect(await statusOf(service)).toMatchObject({
      network: 'testnet',
      liteServers: [],
      metadata: { held: 0, fetched: 0, text: expect.stringContaining('0 fetched') as string },
    });
  });

  it('does what the queue asks for, and asks nobody inside: not by number, name or gateway', async () => {
    const refused = [
      `ipfs://Qm${'a'.repeat(44)}`,
      'http://127.0.0.1/',
      'http://[::1]/',
      'http://localhost/',
      'http://169.254.169.254/latest/meta-data/',
      `http://127.0.0.1:${inside.port}/`,
    ];
    await queue.addMasters([{ symbol: 'A', name: 'Token' }, ...refused.map((at) => ({ uri: at }))]);
    await expect.poll(async () => (await queue.rows()).length, soon).toBe(refused.length + 1);
    expect(await queue.rowOf(tokenKey(0))).toMatchObject({ valid: true, name: 'Token', symbol: 'A' });
    expect((await queue.rows()).slice(1).map(({ valid }) => valid)).toEqual(refused.map(() => false));
    expect(inside.connections).toEqual([]);
    const metrics = await (await fetch(`${service.internalUrl}/metrics`)).text();
    // The gateway and four of the numbers; `localhost` is no name that DNS must know.
    expect(metrics).toMatch(/ton_metadata_attempts_total\{result="address_refused"\} [4-9]/);
  });

  it('ends at a signal, and gives back what it had', async () => {
    expect(await service.stop()).toMatchObject({ code: 0 });
  });

  it('does not start where nothing is wanted of it', async () => {
    const ended = await runToEnd(['metadata', '--manifest', silent, '--postgres-file', uri]);
    expect(ended).toMatchObject({ code: 1, stderr: expect.stringContaining('spec.tokenMetadata: expected') as string });
  });
});
