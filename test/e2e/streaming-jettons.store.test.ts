import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

import { Address, internal, SendMode, toNano } from '@ton/core';
import { keyPairFromSeed } from '@ton/crypto';
import { TonClient, WalletContractV4 } from '@ton/ton';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';

import { hasMessagesOnTheWay } from '#service/devchain/chain/snapshots.ts';
import { createDemo, type Demo } from '#service/devchain/demo/demo.ts';
import { jettonTransferBody, jettonWallet } from '#service/devchain/demo/tokens.ts';
import type { PrivateNetwork } from '#service/devchain/private-network.ts';
import { untilIndexed } from '#test/service/indexer/index-under-test.ts';
import { startApiOver, type ApiUnderTest } from '#test/support/api.ts';
import { startPrivateNetwork } from '#test/support/private-network.ts';
import type { StoreUnderTest } from '#test/support/store.ts';
import { createMigratedStore } from '#test/support/templates.ts';
import { readSse, type StreamFrame, type StreamReader } from '#test/support/stream-readers.ts';

// Balances of jetton wallets in signed shard blocks, and in the masterchain blocks that list them.

let network: PrivateNetwork;
let index: StoreUnderTest;
let api: Omit<ApiUnderTest, 'network'>;
let demo: Demo;
const readers: StreamReader[] = [];

const { publicKey, secretKey } = keyPairFromSeed(createHash('sha256').update('tonplane demo wallet: v4r2').digest());
const owner = WalletContractV4.create({ workchain: 0, publicKey });

beforeAll(async () => {
  network = await startPrivateNetwork();
  demo = await createDemo(network);
  index = await createMigratedStore(import.meta.filename);
  const over = { globalConfig: () => network.globalConfig(), close: () => network.close() };
  api = await startApiOver(over, { postgresUrl: index.url, writesIndex: true });
  await settle();
  await untilStreamed();
  while (!((await source())['levels'] as string[]).includes('confirmed')) await sleep(50);
});
afterEach(async () => {
  for (const reader of readers) reader.close();
  await Promise.all(readers.splice(0).map(({ ended }) => ended));
});
afterAll(async () => {
  await api.close();
  await index.close();
});

async function source(): Promise<Record<string, unknown>> {
  const response = await fetch(`${api.api.url}/api/streaming/healthz`);
  const { components } = (await response.json()) as { components: { source: Record<string, unknown> } };
  return components.source;
}

async function untilStreamed(): Promise<void> {
  while ((await source())['mc_seqno'] !== network.head().id.seqno) await sleep(50);
}

/** Makes blocks until no message is on its way, and waits for the index. */
async function settle(): Promise<void> {
  do await network.step();
  while (network.waiting > 0 || hasMessagesOnTheWay(network.chain, network.head()));
  await network.step();
  await untilIndexed(index.store, network.head().id.seqno);
}

async function watch(account: Address): Promise<StreamReader> {
  const reader = await readSse(`${api.api.url}/api/streaming/v2/sse`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': api.key },
    body: JSON.stringify({
      addresses: [account.toRawString()],
      types: ['jettons_change'],
      min_finality: 'confirmed',
      include_metadata: true,
    }),
  });
  readers.push(reader);
  await reader.until((frame) => frame['status'] === 'subscribed');
  return reader;
}

const walletOf = (account: Address): Address => jettonWallet(Address.parse(demo['jetton minter']!), account);

async function transferJettons(to: Address, amount: bigint): Promise<void> {
  const client = new TonClient({ endpoint: `${api.api.url}/api/v2/jsonRPC`, apiKey: api.key }).open(owner);
  const body = jettonTransferBody(to, owner.address, amount, 'signed');
  await client.sendTransfer({
    seqno: await client.getSeqno(),
    secretKey,
    sendMode: SendMode.PAY_GAS_SEPARATELY,
    messages: [internal({ to: walletOf(owner.address), value: toNano('0.2'), body })],
  });
}

type Jetton = { readonly address: string; readonly balance: string; readonly owner: string };
const jettonOf = (frame: StreamFrame): Jetton => frame['jetton'] as Jetton;
const isAt =
  (finality: string) =>
  (frame: StreamFrame): boolean =>
    frame['finality'] === finality;

async function balanceOf(wallet: Address): Promise<bigint> {
  const response = await fetch(`${api.api.url}/api/v3/jetton/wallets?address=${wallet.toRawString()}`, {
    headers: { 'x-api-key': api.key },
  });
  const { jetton_wallets: wallets } = (await response.json()) as { jetton_wallets: readonly Jetton[] };
  return BigInt(wallets[0]!.balance);
}

describe('a change of jettons', () => {
  it('comes with its balance after the signed block, and again equal after the masterchain block', async () => {
    const wallet = walletOf(owner.address);
    const before = await balanceOf(wallet);
    const reader = await watch(owner.address);
    await transferJettons(new Address(0, Buffer.alloc(32, 0x71)), 7n);
    await network.shardBlocks.sign();
    const early = await reader.until(isAt('confirmed'));
    expect(jettonOf(early)).toMatchObject({
      address: wallet.toRawString().toUpperCase(),
      owner: owner.address.toRawString().toUpperCase(),
      balance: (before - 7n).toString(),
    });
    expect(early['metadata']).toBeDefined();
    await settle();
    const late = await reader.until(isAt('finalized'));
    expect(jettonOf(late)).toEqual(jettonOf(early));
    expect(await balanceOf(wallet)).toBe(before - 7n);
  });

  it('is corrected to the last final balance when another block takes the place of the signed one', async () => {
    const wallet = walletOf(owner.address);
    await untilStreamed();
    const before = await balanceOf(wallet);
    const reader = await watch(wallet);
    await transferJettons(new Address(0, Buffer.alloc(32, 0x72)), 9n);
    await network.shardBlocks.sign();
    const early = await reader.until(isAt('confirmed'));
    expect(jettonOf(early).balance).toBe((before - 9n).toString());
    await network.shardBlocks.sign(false);
    const corrected = await reader.until((frame) => frame['correction'] === true);
    expect(corrected).toMatchObject({ type: 'jettons_change', finality: 'finalized' });
    expect(jettonOf(corrected).balance).toBe(before.toString());
    await settle();
    const final = await reader.until((frame) => frame['finality'] === 'finalized' && frame['correction'] === undefined);
    expect(jettonOf(final).balance).toBe((before - 9n).toString());
  });
});
