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

// A block has one transaction, so that each trace takes several blocks. The service did not send their messages.

let network: PrivateNetwork;
let index: StoreUnderTest;
let api: Omit<ApiUnderTest, 'network'>;
let wallet: TestWallet;
let sent = 0;
const readers: StreamReader[] = [];

const VALUE = 1_000_000_000n;

beforeAll(async () => {
  network = await startPrivateNetwork({ transactionsMax: 1 });
  wallet = testWallet(network.faucet.seed);
  network.send(wallet.send(sent++, [transfer(receiver(1), VALUE)]));
  index = await createMigratedStore(import.meta.filename);
  const over = { globalConfig: () => network.globalConfig(), close: () => network.close() };
  api = await startApiOver(over, { postgresUrl: index.url, writesIndex: true });
  await settle();
  while ((await streamedSeqno()) !== network.head().id.seqno) await sleep(50);
});
afterEach(async () => {
  for (const reader of readers) reader.close();
  await Promise.all(readers.splice(0).map(({ ended }) => ended));
});
afterAll(async () => {
  await api.close();
  await index.close();
});

const receiver = (byte: number): Address => new Address(0, Buffer.alloc(32, byte));

const rawOf = (address: Address): string => address.toRawString().toUpperCase();

async function streamedSeqno(): Promise<unknown> {
  const response = await fetch(`${api.api.url}/api/streaming/healthz`);
  const { components } = (await response.json()) as { components: { source: { mc_seqno: unknown } } };
  return components.source.mc_seqno;
}

async function watch(accounts: readonly Address[], wish: object = {}): Promise<StreamReader> {
  const body = JSON.stringify({
    addresses: accounts.map(rawOf),
    types: ['transactions', 'actions'],
    min_finality: 'pending',
    ...wish,
  });
  const headers = { 'content-type': 'application/json', 'x-api-key': api.key };
  const reader = await readSse(`${api.api.url}/api/streaming/v2/sse`, { method: 'POST', headers, body });
  readers.push(reader);
  await reader.until((frame) => frame['status'] === 'subscribed');
  return reader;
}

/** Changes of a level that the hub has given to its connections, those that are cut among them. */
async function given(level: string): Promise<number> {
  const text = await api.register.getSingleMetricAsString('ton_streaming_distribution_seconds');
  return Number(new RegExp(`_count\\{finality="${level}"\\} (\\d+)`).exec(text)?.[1] ?? 0);
}

async function settle(): Promise<void> {
  do await network.step();
  while (network.waiting > 0 || hasMessagesOnTheWay(network.chain, network.head()));
  await network.step();
  await untilIndexed(index.store, network.head().id.seqno);
}

/** Sends past the service, and makes the block that takes the message. */
async function begin(to: Address): Promise<void> {
  network.send(wallet.send(sent++, [transfer(to, VALUE)]));
  await network.step();
  expect(hasMessagesOnTheWay(network.chain, network.head())).toBe(true);
}

const has =
  (type: string, finality: string) =>
  (frame: StreamFrame): boolean =>
    frame['type'] === type && frame['finality'] === finality;

type Shown = {
  readonly account: string;
  readonly finality: string;
  readonly emulated: boolean;
  readonly trace_id: string;
};

const shownIn = (frame: StreamFrame): readonly Shown[] => frame['transactions'] as readonly Shown[];

describe('a stream at the level pending', () => {
  it('shows the simulated rest of a trace that another service sent, beside its final transactions', async () => {
    const to = receiver(2);
    const reader = await watch([wallet.address, to]);
    await begin(to);
    const early = await reader.until(has('transactions', 'pending'));
    const shown = shownIn(early).map(({ account, finality, emulated }) => [account, finality, emulated]);
    expect(shown).toEqual([
      [rawOf(to), 'pending', true],
      [rawOf(wallet.address), 'finalized', false],
    ]);
    const acted = await reader.until(has('actions', 'pending'));
    // The root is in a block, so the id of the trace is known.
    const { trace_id } = shownIn(early)[1]!;
    expect(acted['actions']).toMatchObject([{ type: 'ton_transfer', finality: 'pending', trace_id }]);
    await settle();
    const final = await reader.until(has('transactions', 'finalized'));
    await reader.until(has('actions', 'finalized'));
    expect(final['trace_external_hash_norm']).toBe(early['trace_external_hash_norm']);
    expect(shownIn(final)[1]).toEqual(shownIn(early)[1]);
    expect(shownIn(early)[0]!.trace_id).toBe(shownIn(final)[0]!.trace_id);
    const levels = reader.events().map(({ type, finality }) => [type, finality]);
    expect(levels).toEqual([
      ['transactions', 'pending'],
      ['actions', 'pending'],
      ['transactions', 'finalized'],
      ['actions', 'finalized'],
    ]);
  });

  it('shows it to those who watch the account to which a message is on its way', async () => {
    const to = receiver(3);
    const reader = await watch([to], { types: ['transactions'] });
    await begin(to);
    const early = await reader.until(has('transactions', 'pending'));
    expect(shownIn(early)).toMatchObject([{ account: rawOf(to), emulated: true }]);
    await settle();
    await reader.until(has('transactions', 'finalized'));
  });

  it('shows nothing of it to those who watch from a higher level', async () => {
    const to = receiver(4);
    const [other, reader] = [await watch([to]), await watch([to], { min_finality: 'confirmed' })];
    await begin(to);
    await other.until(has('transactions', 'pending'));
    await settle();
    await reader.until(has('transactions', 'finalized'));
    expect(reader.events().filter(has('transactions', 'pending'))).toEqual([]);
  });

  it('shows it after a cut too, in which nobody else watched the trace', async () => {
    const to = receiver(5);
    const cut = await watch([to], { types: ['transactions'] });
    const cursor = cut.cursor();
    cut.close();
    await cut.ended;
    const before = await given('pending');
    await begin(to);
    while ((await given('pending')) === before) await sleep(20);
    await settle();
    const again = await watch([to], { types: ['transactions'], cursor });
    expect(again.frames[0]).toMatchObject({ resumed: 'full' });
    await again.until(has('transactions', 'finalized'));
    expect(again.events().map(({ finality }) => finality)).toEqual(['pending', 'finalized']);
  });
});
