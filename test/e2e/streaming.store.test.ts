import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

import { Address, internal, SendMode, toNano, type Cell, type MessageRelaxed } from '@ton/core';
import { keyPairFromSeed } from '@ton/crypto';
import { TonClient, WalletContractV4 } from '@ton/ton';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';

import { hasMessagesOnTheWay } from '#service/devchain/chain/snapshots.ts';
import { createDemo, type Demo } from '#service/devchain/demo/demo.ts';
import { jettonTransferBody, jettonWallet } from '#service/devchain/demo/tokens.ts';
import type { PrivateNetwork } from '#service/devchain/private-network.ts';
import { SKEW_SECONDS } from '#service/pending/watch-list.ts';
import { untilIndexed } from '#test/service/indexer/index-under-test.ts';
import { startApiOver, type ApiUnderTest } from '#test/support/api.ts';
import { startPrivateNetwork } from '#test/support/private-network.ts';
import { skipLoudly } from '#test/support/skips.ts';
import type { StoreUnderTest } from '#test/support/store.ts';
import { createMigratedStore } from '#test/support/templates.ts';
import { checkSseText } from '#test/support/stream-contract.ts';
import { readSse, readWebSocket, type StreamFrame, type StreamReader } from '#test/support/stream-readers.ts';

// Streams of a private network, read by `fetch` and by the WebSocket library. Events are compared with the answers of v3.

/** The private network has all levels. */
const LEVELS = ['pending', 'confirmed', 'finalized'];

/** A busy machine answers late. */
const PATIENCE_MS = 120_000;

let network: PrivateNetwork;
let index: StoreUnderTest;
let api: Omit<ApiUnderTest, 'network'>;
let demo: Demo;
const readers: StreamReader[] = [];

beforeAll(async () => {
  network = await startPrivateNetwork();
  demo = await createDemo(network);
  index = await createMigratedStore(import.meta.filename);
  const over = { globalConfig: () => network.globalConfig(), close: () => network.close() };
  api = await startApiOver(over, { postgresUrl: index.url, writesIndex: true, requestTimeoutMs: PATIENCE_MS });
  await untilIndexed(index.store, network.head().id.seqno);
  // Streams begin behind the blocks of the demonstration once these are classified.
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

async function streamedSeqno(): Promise<unknown> {
  const response = await fetch(`${api.api.url}/api/streaming/healthz`);
  const { components } = (await response.json()) as { components: { source: { mc_seqno: unknown } } };
  return components.source.mc_seqno;
}

const base = (): string => `${api.api.url}/api/streaming/v2`;
const headers = (): Record<string, string> => ({ 'content-type': 'application/json', 'x-api-key': api.key });

async function sse(wish: object): Promise<StreamReader> {
  const reader = await readSse(`${base()}/sse`, { method: 'POST', headers: headers(), body: JSON.stringify(wish) });
  readers.push(reader);
  await reader.until((frame) => frame['status'] === 'subscribed');
  return reader;
}

async function webSocket(wish?: object): Promise<StreamReader> {
  const reader = await readWebSocket(`${base()}/ws`, { 'x-api-key': api.key });
  readers.push(reader);
  if (wish === undefined) return reader;
  reader.send({ operation: 'subscribe', id: '1', ...wish });
  await reader.until((frame) => frame['status'] === 'subscribed');
  return reader;
}

const wallet = () => {
  const seed = createHash('sha256').update('tonplane demo wallet: v4r2').digest();
  const { publicKey, secretKey } = keyPairFromSeed(seed);
  return { contract: WalletContractV4.create({ workchain: 0, publicKey }), secretKey };
};

type Wish = { readonly to: Address; readonly value: bigint; readonly body?: Cell };

/** Signs a transfer and sends it through the API. @param timeout Unix seconds until which it is valid @returns when the API has taken it */
async function send(wishes: readonly Wish[], timeout?: number): Promise<void> {
  const { contract, secretKey } = wallet();
  const client = new TonClient({ endpoint: `${api.api.url}/api/v2/jsonRPC`, apiKey: api.key }).open(contract);
  const messages: MessageRelaxed[] = wishes.map(({ to, value, body }) => internal({ to, value, bounce: false, body }));
  await client.sendTransfer({
    seqno: await client.getSeqno(),
    secretKey,
    ...(timeout !== undefined && { timeout }),
    sendMode: SendMode.PAY_GAS_SEPARATELY + SendMode.IGNORE_ERRORS,
    messages,
  });
}

/** Makes blocks until no message is on its way, and waits for the index. */
async function settle(): Promise<void> {
  do await network.step();
  while (network.waiting > 0 || hasMessagesOnTheWay(network.chain, network.head()));
  await network.step();
  await untilIndexed(index.store, network.head().id.seqno);
}

async function ask(path: string): Promise<Record<string, unknown>> {
  const response = await fetch(`${api.api.url}/api/v3/${path}`, { headers: headers() });
  expect({ path, status: response.status }).toEqual({ path, status: 200 });
  return (await response.json()) as Record<string, unknown>;
}

const isFinal =
  (type: string) =>
  (frame: StreamFrame): boolean =>
    frame['type'] === type && frame['finality'] === 'finalized';

const receiver = (byte: number): Address => new Address(0, Buffer.alloc(32, byte));

const rawOf = (address: Address): string => address.toRawString().toUpperCase();

type Transaction = Readonly<Record<string, unknown>> & { readonly hash: string; readonly account: string };

const transactionsOf = (frame: StreamFrame): readonly Transaction[] => frame['transactions'] as readonly Transaction[];

const hashesOf = (reader: StreamReader): string[] =>
  reader.events().flatMap((frame) => transactionsOf(frame).map(({ hash }) => hash));

/** Events as texts, without their cursors. */
const textsOf = (reader: StreamReader): string[] =>
  reader.events().map((frame) => JSON.stringify({ ...frame, cursor: undefined }));

describe('an SSE stream of a jetton transfer', () => {
  it('has transactions, actions, states and jettons equal to those of v3, after the block is readable there', async () => {
    const owner = rawOf(wallet().contract.address);
    const minter = Address.parse(demo['jetton minter']!);
    const own = jettonWallet(minter, wallet().contract.address);
    const reader = await sse({
      id: 'one',
      addresses: [owner],
      types: ['transactions', 'actions', 'account_state_change', 'jettons_change'],
      include_address_book: true,
      include_metadata: true,
    });
    expect(reader.frames[0]).toMatchObject({ id: 'one', status: 'subscribed' });
    await send([
      {
        to: own,
        value: toNano('0.2'),
        body: jettonTransferBody(receiver(0x51), wallet().contract.address, 7n, 'streamed'),
      },
    ]);
    await settle();
    const sent = await reader.until(isFinal('transactions'));
    for (const transaction of transactionsOf(sent)) {
      expect(transaction.account).toBe(owner);
      const { transactions } = await ask(`transactions?hash=${encodeURIComponent(transaction.hash)}`);
      const [indexed] = transactions as [Record<string, unknown>];
      expect(transaction).toEqual(indexed);
    }
    const lts = transactionsOf(sent).map(({ lt }) => BigInt(lt as string));
    expect(lts).toEqual(lts.toSorted((a, b) => (a < b ? 1 : -1)));
    const acted = await reader.until(isFinal('actions'));
    const root = (acted['actions'] as readonly Record<string, unknown>[])[0]!;
    const { actions } = await ask(
      `actions?action_id=${encodeURIComponent(root['action_id'] as string)}&include_accounts=true`,
    );
    expect(root).toEqual((actions as [Record<string, unknown>])[0]);
    expect(root['type']).toBe('jetton_transfer');
    expect(acted['trace_external_hash_norm']).toBe(sent['trace_external_hash_norm']);
    const stated = await reader.until(isFinal('account_state_change'));
    const { accounts } = await ask(`accountStates?address=${owner}&include_boc=false`);
    const [state] = accounts as [Record<string, unknown>];
    expect(stated).toMatchObject({ account: owner });
    const last = reader.events().filter(isFinal('account_state_change')).at(-1)!;
    expect(last['state']).toMatchObject({ balance: state['balance'], hash: state['account_state_hash'] });
    const jetton = await reader.until(isFinal('jettons_change'));
    expect(jetton['jetton']).toMatchObject({ owner, jetton: rawOf(minter) });
    expect(jetton['address_book']).toHaveProperty([owner]);
    expect(jetton['metadata']).toBeDefined();
  });

  it('of a hash alone has the whole trace, and the trace that is already known at once', async () => {
    const account = receiver(0x52);
    const watching = await sse({ addresses: [rawOf(account)], types: ['transactions'] });
    await send([{ to: account, value: toNano('0.1') }]);
    await settle();
    const norm = (await watching.until(isFinal('transactions')))['trace_external_hash_norm'] as string;
    const late = await sse({ trace_external_hash_norms: [norm], types: ['trace'] });
    const trace = await late.until(isFinal('trace'));
    const { traces } = await ask(`traces?msg_hash=${encodeURIComponent(norm)}`);
    const [indexed] = traces as [{ trace: unknown; transactions: object }];
    expect(trace['trace']).toMatchObject(indexed.trace as object);
    expect(Object.keys(trace['transactions'] as object).toSorted()).toEqual(
      Object.keys(indexed.transactions).toSorted(),
    );
  });
});

const noCurl = skipLoudly(spawnSync('curl', ['--version']).status !== 0, { what: 'streams by curl', why: 'no curl' });

describe.skipIf(noCurl)('a stream that `curl -N` reads', () => {
  it('begins with its answer and shows an event when it happens', async () => {
    const account = receiver(0x5a);
    const url = `${base()}/sse?types=transactions&addresses=${rawOf(account)}`;
    const curl = spawn('curl', ['-sN', '-H', `X-API-Key: ${api.key}`, url], { stdio: ['ignore', 'pipe', 'inherit'] });
    const ended = once(curl, 'close');
    let text = '';
    curl.stdout.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
    await expect.poll(() => text).toMatch(/^event: connected$/m);
    await send([{ to: account, value: toNano('0.1') }]);
    await settle();
    await expect.poll(() => text).toMatch(/^data: \{"type":"transactions","finality":"finalized".*\}\n\n/m);
    curl.kill();
    await ended;
    checkSseText(text);
    expect(text).toMatch(/^id: [\w-]+$/m);
  });
});

describe('a WebSocket', () => {
  it('sends the answer first, a simulated trace before its block, and the final one once', async () => {
    const account = receiver(0x53);
    const reader = await webSocket();
    reader.send({ operation: 'ping', id: 'p' });
    await reader.until((frame) => frame['status'] === 'pong');
    reader.send({
      operation: 'subscribe',
      id: 's',
      addresses: [rawOf(account)],
      types: ['transactions'],
      min_finality: 'pending',
    });
    await reader.until((frame) => frame['id'] === 's');
    await send([{ to: account, value: toNano('0.3') }]);
    const early = await reader.until((frame) => frame['finality'] === 'pending');
    expect(transactionsOf(early).map(({ account: of, emulated }) => [of, emulated])).toEqual([[rawOf(account), true]]);
    await settle();
    const final = await reader.until(isFinal('transactions'));
    expect(final['trace_external_hash_norm']).toBe(early['trace_external_hash_norm']);
    expect(reader.frames.slice(0, 2).map(({ id, status }) => ({ id, status }))).toEqual([
      { id: 'p', status: 'pong' },
      { id: 's', status: 'subscribed' },
    ]);
    await settle();
    expect(reader.events().filter(isFinal('transactions'))).toHaveLength(1);
  });

  it('withdraws a simulated trace when no block has it in the time until which it is valid', async () => {
    const account = receiver(0x59);
    const reader = await webSocket({
      addresses: [rawOf(account)],
      types: ['transactions'],
      min_finality: 'pending',
    });
    const validUntil = network.utime() + 3;
    await send([{ to: account, value: toNano('0.3') }], validUntil);
    const early = await reader.until((frame) => frame['finality'] === 'pending');
    // The wallet refuses the message in this block.
    network.setNextUtime(validUntil + SKEW_SECONDS + 1);
    await settle();
    const withdrawn = await reader.until((frame) => frame['type'] === 'trace_invalidated');
    expect(withdrawn).toMatchObject({
      trace_external_hash_norm: early['trace_external_hash_norm'],
      reason: 'expired',
    });
    expect(reader.events().map((frame) => frame['type'])).toEqual(['transactions', 'trace_invalidated']);
  });

  it('that replaces its subscription gets nothing of the former one', async () => {
    const [before, after] = [receiver(0x54), receiver(0x55)];
    const reader = await webSocket({ addresses: [rawOf(before)], types: ['transactions'] });
    reader.send({ operation: 'subscribe', id: '2', addresses: [rawOf(after)], types: ['transactions'] });
    await reader.until((frame) => frame['id'] === '2');
    await send([
      { to: before, value: toNano('0.1') },
      { to: after, value: toNano('0.1') },
    ]);
    await settle();
    await reader.until(isFinal('transactions'));
    expect(reader.events().flatMap((frame) => transactionsOf(frame).map(({ account }) => account))).toEqual([
      rawOf(after),
    ]);
  });
});

describe('a cursor', () => {
  it.each(['sse', 'ws'])('over %s brings what came while the reader was away, once and in order', async (transport) => {
    const account = receiver(transport === 'sse' ? 0x56 : 0x57);
    const open = transport === 'sse' ? sse : webSocket;
    const wish = { addresses: [rawOf(account)], types: ['transactions'] };
    const whole = await sse(wish);
    const cut = await open(wish);
    await send([{ to: account, value: toNano('0.1') }]);
    await settle();
    await cut.until(isFinal('transactions'));
    const cursor = cut.cursor();
    cut.close();
    await cut.ended;
    for (const value of ['0.2', '0.3']) {
      await send([{ to: account, value: toNano(value) }]);
      await settle();
    }
    const again = await open({ ...wish, cursor });
    expect(again.frames[0]).toMatchObject({ status: 'subscribed', resumed: 'full' });
    await send([{ to: account, value: toNano('0.4') }]);
    await settle();
    await expect.poll(() => hashesOf(whole)).toHaveLength(4);
    await expect.poll(() => hashesOf(again)).toHaveLength(3);
    expect([...hashesOf(cut), ...hashesOf(again)]).toEqual(hashesOf(whole));
  });
});

describe('two pods over one index', () => {
  it('send the same events in the same order, and take the cursors of each other', async () => {
    const over = { globalConfig: () => network.globalConfig(), close: async () => {} };
    const other = await startApiOver(over, { postgresUrl: index.url, requestTimeoutMs: PATIENCE_MS });
    const account = receiver(0x58);
    const wish = { addresses: [rawOf(account)], types: ['transactions', 'actions', 'account_state_change'] };
    const here = await sse(wish);
    const openThere = async (cursor?: string): Promise<StreamReader> => {
      const reader = await readSse(`${other.api.url}/api/streaming/v2/sse`, {
        method: 'POST',
        headers: { ...headers(), 'x-api-key': other.key },
        body: JSON.stringify({ ...wish, cursor }),
      });
      readers.push(reader);
      await reader.until((frame) => frame['status'] === 'subscribed');
      return reader;
    };
    const there = await openThere(here.cursor());
    for (const value of ['0.1', '0.2']) {
      await send([{ to: account, value: toNano(value) }]);
      await settle();
    }
    await expect.poll(() => textsOf(here)).toHaveLength(6);
    await expect.poll(() => textsOf(there)).toEqual(textsOf(here));
    const middle = here.events()[2]!['cursor'] as string;
    const again = await openThere(middle);
    await expect.poll(() => textsOf(again)).toEqual(textsOf(here).slice(3));
    for (const reader of [there, again]) reader.close();
    await other.close();
  });
});

describe('the doors of the stream', () => {
  it.each([
    ['no key', 'POST', '/v2/sse', { 'x-api-key': 'ton_wrong' }, 401],
    ['a body that is no subscription', 'POST', '/v2/sse', {}, 400],
    ['a request that is no upgrade', 'GET', '/v2/ws', {}, 426],
    ['the former version', 'POST', '/v1/sse', {}, 410],
    ['the former version over WebSocket', 'GET', '/v1/ws', {}, 410],
  ])('refuse %s', async (_what, method, path, given, status) => {
    const response = await fetch(`${api.api.url}/api/streaming${path}`, {
      method,
      headers: { ...headers(), ...given },
      ...(method === 'POST' && { body: '{"types":[]}' }),
    });
    expect({ status: response.status, body: await response.json() }).toMatchObject({
      status,
      body: { ok: false, code: status },
    });
  });

  it('answer for the health of their parts and the levels that exist, as /status does', async () => {
    // Without a block for 15 seconds the source is late.
    await settle();
    await expect.poll(streamedSeqno).toBe(network.head().id.seqno);
    const response = await fetch(`${api.api.url}/api/streaming/healthz`);
    expect(await response.json()).toMatchObject({
      ok: true,
      components: { source: { ok: true }, classifier: { ok: true }, log: { ok: true }, store: { ok: true } },
    });
    const streamingStatus = async (): Promise<unknown> => {
      const status = await fetch(`${api.api.internalUrl}/status`);
      return ((await status.json()) as { readonly streaming: unknown }).streaming;
    };
    // Lite servers are asked for signed blocks soon after the start.
    await expect.poll(streamingStatus).toMatchObject({ source: { ok: true, levels: LEVELS }, store: { ok: true } });
  });
});
