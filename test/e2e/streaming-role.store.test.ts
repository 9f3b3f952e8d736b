import { setTimeout as sleep } from 'node:timers/promises';

import { Address } from '@ton/core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';

import { hotHashOfManifest } from '#service/config.ts';
import { hasMessagesOnTheWay } from '#service/devchain/chain/snapshots.ts';
import type { PrivateNetwork } from '#service/devchain/private-network.ts';
import { untilIndexed } from '#test/service/indexer/index-under-test.ts';
import { statusOf } from '#test/support/api-processes.ts';
import { startApiOver, type ApiUnderTest } from '#test/support/api.ts';
import { mountFolder, type MountedFolder } from '#test/support/mounted-folder.ts';
import { startPrivateNetwork } from '#test/support/private-network.ts';
import { runToEnd, startService, type ServiceProcess } from '#test/support/service-process.ts';
import type { StoreUnderTest } from '#test/support/store.ts';
import { createMigratedStore } from '#test/support/templates.ts';
import { readSse, readWebSocket, type StreamReader } from '#test/support/stream-readers.ts';
import { testWallet, transfer } from '#test/support/wallet.ts';

// A process that serves streams alone, beside an API that writes the index.

let network: PrivateNetwork;
let index: StoreUnderTest;
let api: Omit<ApiUnderTest, 'network'>;
let folder: MountedFolder;
let streaming: ServiceProcess;
let sent = 0;

beforeAll(async () => {
  network = await startPrivateNetwork();
  index = await createMigratedStore(import.meta.filename);
  const over = { globalConfig: () => network.globalConfig(), close: () => network.close() };
  api = await startApiOver(over, { postgresUrl: index.url, writesIndex: true });
  await settle();
  folder = mountFolder({ 'tonapi.yaml': manifest() });
  streaming = await startService(['streaming', '--manifest', folder.file('tonapi.yaml'), '--postgres-url', index.url]);
});
afterAll(async () => {
  await streaming?.stop('SIGKILL');
  folder?.remove();
  await api.close();
  await index.close();
});

type GlobalConfig = {
  readonly liteservers: readonly { readonly port: number; readonly id: { readonly key: string } }[];
  readonly validator: { readonly zero_state: { readonly root_hash: string; readonly file_hash: string } };
};

/** @param spec replaces fields of the manifest */
function manifest(spec: object = {}): string {
  const { liteservers, validator } = network.globalConfig() as GlobalConfig;
  const { root_hash: rootHash, file_hash: fileHash } = validator.zero_state;
  const [one] = liteservers;
  return stringify({
    apiVersion: 'tonplane.dev/v1alpha1',
    kind: 'TonApi',
    metadata: { name: 'under-test' },
    spec: {
      network: 'custom',
      surfaces: ['v2', 'v3', 'stream'],
      liteServers: [{ name: 'own', address: `127.0.0.1:${one!.port}`, publicKey: one!.id.key }],
      zeroState: { rootHash, fileHash },
      plans: [{ name: 'free', requestsPerSecond: 100_000, streaming: { connections: 20 } }],
      anonymousPlan: 'free',
      rateLimits: { redis: { embedded: true } },
      postgres: { secretRef: { name: 'index' } },
      requestTimeout: '2s',
      rollout: { drainSeconds: 5 },
      ...spec,
    },
  });
}

/** Makes blocks until no message is on its way, and waits for the index. */
async function settle(): Promise<void> {
  do await network.step();
  while (network.waiting > 0 || hasMessagesOnTheWay(network.chain, network.head()));
  await network.step();
  await untilIndexed(index.store, network.head().id.seqno);
}

const account = new Address(0, Buffer.alloc(32, 0x61));
const wish = { addresses: [account.toRawString()], types: ['transactions'] };
const sse = (): Promise<StreamReader> =>
  readSse(`${streaming.url}/api/streaming/v2/sse`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(wish),
  });

async function webSocket(cursor?: string): Promise<StreamReader> {
  const reader = await readWebSocket(`${streaming.url}/api/streaming/v2/ws`);
  reader.send({ operation: 'subscribe', ...wish, cursor });
  await reader.until((frame) => frame['status'] === 'subscribed');
  return reader;
}

/** Sends a transfer, and makes the blocks that have it. */
async function pay(): Promise<void> {
  const wallet = testWallet(network.faucet.seed);
  network.send(wallet.send(sent++, [transfer(account, 1_000_000_000n)]));
  await settle();
}

describe('the role streaming', () => {
  it('serves streams to real clients, and no other surface', async () => {
    const readers = [await sse(), await webSocket()];
    await readers[0]!.until((frame) => frame['status'] === 'subscribed');
    await pay();
    for (const reader of readers) {
      await reader.until((frame) => frame['type'] === 'transactions' && frame['finality'] === 'finalized');
    }
    const statuses = ['v2/getMasterchainInfo', 'v3/masterchainInfo', 'streaming/healthz'].map(
      async (path) => (await fetch(`${streaming.url}/api/${path}`)).status,
    );
    expect(await Promise.all(statuses)).toEqual([404, 404, 200]);
    for (const reader of readers) reader.close();
    await Promise.all(readers.map(({ ended }) => ended));
  });

  it('has a number of connections for each plan and transport from the start', async () => {
    const metrics = await (await fetch(`${streaming.internalUrl}/metrics`)).text();
    expect(metrics).toMatch(/^ton_streaming_connections\{transport="sse",plan="free"\} \d+$/m);
    expect(metrics).toMatch(/^ton_streaming_connections\{transport="ws",plan="free"\} \d+$/m);
  });

  it('takes a changed number of connections without a restart, and open streams stay', async () => {
    const open = await webSocket();
    const narrow = manifest({ streaming: { maxConnectionsPerPod: 1 } });
    folder.put({ 'tonapi.yaml': narrow });
    await expect.poll(async () => (await statusOf(streaming))['configHash']).toBe(hotHashOfManifest(narrow));
    await expect(sse()).rejects.toThrow(/^503 /);
    const before = manifest();
    folder.put({ 'tonapi.yaml': before });
    await expect.poll(async () => (await statusOf(streaming))['configHash']).toBe(hotHashOfManifest(before));
    const further = await sse();
    open.send({ operation: 'ping', id: 'still' });
    await open.until((frame) => frame['id'] === 'still');
    for (const reader of [open, further]) reader.close();
    await Promise.all([open.ended, further.ended]);
    expect(streaming.stdout()).not.toContain('"fields":');
  });

  it('asks no lite server for signed blocks while the manifest says Off, and its health says so', async () => {
    const sourceOf = async (): Promise<unknown> =>
      ((await statusOf(streaming))['streaming'] as { source: unknown }).source;
    const open = await webSocket();
    folder.put({ 'tonapi.yaml': manifest({ streaming: { confirmed: 'Off' } }) });
    await expect.poll(sourceOf).toMatchObject({ confirmed: 'Off', levels: ['pending', 'finalized'] });
    folder.put({ 'tonapi.yaml': manifest() });
    await expect.poll(sourceOf).toMatchObject({ confirmed: 'Auto', levels: ['pending', 'confirmed', 'finalized'] });
    open.send({ operation: 'ping', id: 'still' });
    await open.until((frame) => frame['id'] === 'still');
    open.close();
    await open.ended;
    expect(streaming.stdout()).not.toContain('"fields":');
  });

  it('ends its streams with their cursors before its time is over, and a new process resumes them', async () => {
    const [events, socket] = [await sse(), await webSocket()];
    await events.until((frame) => frame['status'] === 'subscribed');
    const stopped = streaming.stop('SIGTERM');
    expect(await events.until((frame) => frame['code'] === 1001)).toHaveProperty('cursor');
    expect(await socket.ended).toBe(1001);
    expect(await stopped).toEqual({ code: 0 });
    await pay();
    const args = ['streaming', '--manifest', folder.file('tonapi.yaml'), '--postgres-url', index.url];
    streaming = await startService(args);
    while ((await healthOf()) !== network.head().id.seqno) await sleep(50);
    const again = await webSocket(events.cursor());
    expect(again.frames[0]).toMatchObject({ resumed: 'full' });
    await again.until((frame) => frame['type'] === 'transactions');
    again.close();
    await again.ended;
  });

  it('refuses a manifest without the surface', async () => {
    folder.put({ 'tonapi.yaml': manifest({ surfaces: ['v2', 'v3'] }) });
    const args = ['streaming', '--manifest', folder.file('tonapi.yaml'), '--postgres-url', index.url];
    const { code, stderr } = await runToEnd(args);
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringContaining('spec.surfaces: expected stream among them, got ["v2","v3"]') as string,
    });
  });
});

async function healthOf(): Promise<unknown> {
  const response = await fetch(`${streaming.url}/api/streaming/healthz`);
  const { components } = (await response.json()) as { components: { source: { mc_seqno: unknown } } };
  return components.source.mc_seqno;
}
