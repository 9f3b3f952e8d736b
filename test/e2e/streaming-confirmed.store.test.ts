import { setTimeout as sleep } from 'node:timers/promises';

import { Address } from '@ton/core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';

import { hasMessagesOnTheWay } from '#service/devchain/chain/snapshots.ts';
import type { PrivateNetwork } from '#service/devchain/private-network.ts';
import { untilIndexed } from '#test/service/indexer/index-under-test.ts';
import { startApiOver, type ApiUnderTest } from '#test/support/api.ts';
import { startPrivateNetwork } from '#test/support/private-network.ts';
import type { StoreUnderTest } from '#test/support/store.ts';
import { createMigratedStore } from '#test/support/templates.ts';
import { readSse, type StreamFrame, type StreamReader } from '#test/support/stream-readers.ts';
import { testWallet, transfer, type TestWallet } from '#test/support/wallet.ts';

// Signed shard blocks of a private network wait, go into the masterchain and are replaced. Streams show each level.

let network: PrivateNetwork;
let index: StoreUnderTest;
let api: Omit<ApiUnderTest, 'network'>;
let wallet: TestWallet;
let sent = 0;
const readers: StreamReader[] = [];

beforeAll(async () => {
  network = await startPrivateNetwork();
  wallet = testWallet(network.faucet.seed);
  // The wallet's code is there from its first message on.
  network.send(wallet.send(sent++, [transfer(receiver(0x40), 1_000_000_000n)]));
  index = await createMigratedStore(import.meta.filename);
  const over = { globalConfig: () => network.globalConfig(), close: () => network.close() };
  api = await startApiOver(over, { postgresUrl: index.url, writesIndex: true });
  await settle();
  while (JSON.stringify((await source())['levels']) !== JSON.stringify(LEVELS)) await sleep(50);
  while ((await source())['mc_seqno'] !== network.head().id.seqno) await sleep(50);
});
afterEach(async () => {
  for (const reader of readers) reader.close();
  await Promise.all(readers.splice(0).map(({ ended }) => ended));
});
afterAll(async () => {
  await api.close();
  await index.close();
});

const LEVELS = ['pending', 'confirmed', 'finalized'];

const VALUE = 1_000_000_000n;

const receiver = (byte: number): Address => new Address(0, Buffer.alloc(32, byte));

const rawOf = (address: Address): string => address.toRawString().toUpperCase();

const headers = (): Record<string, string> => ({ 'content-type': 'application/json', 'x-api-key': api.key });

async function source(): Promise<Record<string, unknown>> {
  const response = await fetch(`${api.api.url}/api/streaming/healthz`);
  const { components } = (await response.json()) as { components: { source: Record<string, unknown> } };
  return components.source;
}

async function watch(
  account: Address,
  min_finality: string,
  types = ['transactions'],
  cursor?: string,
): Promise<StreamReader> {
  const body = JSON.stringify({ addresses: [rawOf(account)], types, min_finality, cursor });
  const url = `${api.api.url}/api/streaming/v2/sse`;
  const reader = await readSse(url, { method: 'POST', headers: headers(), body });
  readers.push(reader);
  await reader.until((frame) => frame['status'] === 'subscribed');
  return reader;
}

/** Changes of a level that the hub has given to its connections, those that are cut among them. */
async function given(level: string): Promise<number> {
  const text = await api.register.getSingleMetricAsString('ton_streaming_distribution_seconds');
  return Number(new RegExp(`_count\\{finality="${level}"\\} (\\d+)`).exec(text)?.[1] ?? 0);
}

/** Cuts a stream. Returns its cursor. */
async function cut(reader: StreamReader): Promise<string> {
  const cursor = reader.cursor()!;
  reader.close();
  await reader.ended;
  return cursor;
}

/** Runs work, and waits until it has made a change of a level. */
async function untilGiven(level: string, work: () => Promise<unknown>): Promise<void> {
  const before = await given(level);
  await work();
  while ((await given(level)) === before) await sleep(20);
}

/** Sends a transfer through the API. */
async function send(to: Address): Promise<void> {
  const boc = wallet.send(sent++, [transfer(to, VALUE)]).toString('base64');
  const url = `${api.api.url}/api/v2/sendBoc`;
  const response = await fetch(url, { method: 'POST', headers: headers(), body: JSON.stringify({ boc }) });
  expect({ status: response.status, body: await response.text() }).toMatchObject({ status: 200 });
}

async function settle(): Promise<void> {
  do await network.step();
  while (network.waiting > 0 || hasMessagesOnTheWay(network.chain, network.head()));
  await network.step();
  await untilIndexed(index.store, network.head().id.seqno);
}

const has =
  (type: string, finality?: string) =>
  (frame: StreamFrame): boolean =>
    frame['type'] === type && (finality === undefined || frame['finality'] === finality);

type Shown = Readonly<Record<string, unknown>> & { readonly hash: string; readonly account: string };

const transactionsOf = (frame: StreamFrame): readonly Shown[] => frame['transactions'] as readonly Shown[];

const levelsOf = (reader: StreamReader, type: string): unknown[] =>
  reader
    .events()
    .filter(has(type))
    .map((frame) => frame['finality']);

describe('a stream at the level pending', () => {
  it('shows a trace as simulated, as signed, and as final, with the same objects from the signed block on', async () => {
    const account = receiver(0x41);
    const reader = await watch(account, 'pending', ['transactions', 'actions', 'account_state_change']);
    const payer = await watch(wallet.address, 'confirmed');
    await send(account);
    await reader.until(has('transactions', 'pending'));
    await network.shardBlocks.sign();
    const signed = await reader.until(has('transactions', 'confirmed'));
    const acted = await reader.until(has('actions', 'confirmed'));
    const { trace_id } = transactionsOf(signed)[0]!;
    expect(trace_id).toBeTypeOf('string');
    expect(acted['actions']).toMatchObject([{ type: 'ton_transfer', finality: 'confirmed', trace_id }]);
    const state = await reader.until(has('account_state_change', 'confirmed'));
    expect(state).toMatchObject({
      account: rawOf(account),
      state: { balance: VALUE.toString(), account_status: 'uninit' },
    });
    await settle();
    const final = await reader.until(has('transactions', 'finalized'));
    const [early] = transactionsOf(signed);
    const [late] = transactionsOf(final);
    expect(early).toMatchObject({ account: rawOf(account), emulated: false, finality: 'confirmed' });
    expect({ ...early, finality: 'finalized' }).toEqual(late);
    const [paying] = transactionsOf(await payer.until(has('transactions', 'confirmed')));
    const [paid] = transactionsOf(await payer.until(has('transactions', 'finalized')));
    expect(paid!['account_state_before']).toMatchObject({ account_status: 'active' });
    expect({ ...paying, finality: 'finalized' }).toEqual(paid);
    const finalState = await reader.until(has('account_state_change', 'finalized'));
    expect(finalState['state']).toEqual(state['state']);
    expect(levelsOf(reader, 'transactions')).toEqual(LEVELS);
    expect(levelsOf(reader, 'account_state_change')).toEqual(['confirmed', 'finalized']);
    const lag = await api.register.getSingleMetricAsString('ton_streaming_confirmed_lag_seconds');
    expect(Number(/_count (\d+)/.exec(lag)?.[1])).toBeGreaterThan(0);
  });
});

describe('a stream at the level confirmed', () => {
  it('gets nothing of a simulation, and nothing of a held block twice', async () => {
    const account = receiver(0x42);
    const reader = await watch(account, 'confirmed');
    await send(account);
    network.shardBlocks.hold(true);
    await network.shardBlocks.sign();
    await reader.until(has('transactions', 'confirmed'));
    await network.step();
    await network.step();
    network.shardBlocks.hold(false);
    await settle();
    await reader.until(has('transactions', 'finalized'));
    expect(levelsOf(reader, 'transactions')).toEqual(['confirmed', 'finalized']);
  });

  it('withdraws a trace and corrects its states when another block takes the place of the signed one', async () => {
    const account = wallet.address;
    const reader = await watch(account, 'confirmed', ['transactions', 'account_state_change']);
    await send(receiver(0x43));
    await network.shardBlocks.sign();
    const signed = await reader.until(has('transactions', 'confirmed'));
    const state = await reader.until(has('account_state_change', 'confirmed'));
    await network.shardBlocks.sign(false);
    const corrected = await reader.until((frame) => frame['correction'] === true);
    expect(corrected).toMatchObject({ type: 'account_state_change', finality: 'finalized', account: rawOf(account) });
    expect((corrected['state'] as Shown)['balance']).not.toBe((state['state'] as Shown)['balance']);
    expect(reader.events().filter(has('trace_invalidated'))).toEqual([]);
    await network.step();
    const withdrawn = await reader.until(has('trace_invalidated'));
    expect(withdrawn).toMatchObject({
      trace_external_hash_norm: signed['trace_external_hash_norm'],
      reason: 'replaced',
    });
    await settle();
    const final = await reader.until(has('transactions', 'finalized'));
    expect(final['trace_external_hash_norm']).toBe(signed['trace_external_hash_norm']);
  });

  it('that names a trace of a signed block gets it at once', async () => {
    const account = receiver(0x47);
    const reader = await watch(account, 'confirmed');
    await send(account);
    await network.shardBlocks.sign();
    const { trace_external_hash_norm: key } = await reader.until(has('transactions', 'confirmed'));
    for (const level of ['pending', 'confirmed']) {
      const body = JSON.stringify({ types: ['trace'], trace_external_hash_norms: [key], min_finality: level });
      const named = await readSse(`${api.api.url}/api/streaming/v2/sse`, { method: 'POST', headers: headers(), body });
      readers.push(named);
      const shown = await named.until(has('trace'));
      expect(shown).toMatchObject({ finality: 'confirmed', trace_external_hash_norm: key });
    }
    await settle();
    for (const one of readers) await one.until(has(one === reader ? 'transactions' : 'trace', 'finalized'));
    for (const one of readers.slice(1)) expect(levelsOf(one, 'trace')).toEqual(['confirmed', 'finalized']);
  });

  it('keeps a trace that the block in place of the signed one has too', async () => {
    const account = receiver(0x44);
    const reader = await watch(account, 'confirmed');
    await send(account);
    await network.shardBlocks.sign();
    await reader.until(has('transactions', 'confirmed'));
    network.setNextUtime(network.utime() + 2);
    await network.shardBlocks.sign();
    await settle();
    await reader.until(has('transactions', 'finalized'));
    expect(reader.events().filter(has('trace_invalidated'))).toEqual([]);
  });
});

describe('a stream that was cut', () => {
  it('goes on with each level of a trace that came and became final while nobody was there', async () => {
    const account = receiver(0x45);
    const cursor = await cut(await watch(account, 'pending'));
    await untilGiven('pending', () => send(account));
    await untilGiven('confirmed', () => network.shardBlocks.sign());
    await settle();
    const again = await watch(account, 'pending', ['transactions'], cursor);
    expect(again.frames[0]).toMatchObject({ status: 'subscribed', resumed: 'full' });
    await again.until(has('transactions', 'finalized'));
    expect(levelsOf(again, 'transactions')).toEqual(LEVELS);
  });

  it('hears that another block took the place of a signed one, which it was shown before', async () => {
    const types = ['transactions', 'account_state_change'];
    const reader = await watch(wallet.address, 'confirmed', types);
    await send(receiver(0x46));
    await network.shardBlocks.sign();
    const signed = await reader.until(has('transactions', 'confirmed'));
    await reader.until(has('account_state_change', 'confirmed'));
    const cursor = await cut(reader);
    await untilGiven('none', async () => {
      await network.shardBlocks.sign(false);
      await network.step();
    });
    const again = await watch(wallet.address, 'confirmed', types, cursor);
    expect(again.frames[0]).toMatchObject({ status: 'subscribed', resumed: 'full' });
    const withdrawn = await again.until(has('trace_invalidated'));
    const key = signed['trace_external_hash_norm'];
    expect(withdrawn).toMatchObject({ trace_external_hash_norm: key, reason: 'replaced' });
    expect(again.events().filter((frame) => frame['correction'] === true)).toHaveLength(1);
    await settle();
    const final = await again.until(has('transactions', 'finalized'));
    expect(final['trace_external_hash_norm']).toBe(key);
  });
});
