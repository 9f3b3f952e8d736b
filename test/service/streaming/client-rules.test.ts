import { afterEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';

import type { JettonChange, StateChange } from '#service/streaming/changes.ts';
import { StreamingError } from '#service/streaming/errors.ts';
import { createCursors } from '#service/streaming/request/cursor.ts';
import { scriptLimits } from '#test/service/http/listener.ts';
import type { StreamFrame } from '#test/support/stream-readers.ts';

import { stateEvent } from './fake-hub.ts';
import {
  account,
  action,
  createHubUnderTest,
  hash as hashOf,
  trace,
  transaction,
  type HubUnderTest,
} from './hub/hub-under-test.ts';
import { address, startStreams, type StreamListener, type StreamSetup } from './stream-listener.ts';

// Clients of the streaming API depend on more than its page says. Each rule is the title of a test, by the client that depends on it. The hub and the
// sockets are real. That transactions of each level have the fields that walletkit reads is in recorded-levels.store.test.ts.

let at: StreamListener;
let under: HubUnderTest;
const sockets: WebSocket[] = [];
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.terminate();
  await under.hub.close();
  await at.close();
});

const states = { types: ['account_state_change'], addresses: [address] };
const query = `types=account_state_change&addresses=${address}`;

async function start(setup: StreamSetup = {}): Promise<void> {
  under = createHubUnderTest({ cursors: createCursors('testnet') });
  at = await startStreams({ hub: under.hub, ...setup });
}

function stateChange(lt = 1): StateChange {
  const state = { ...stateEvent().state, last_transaction_lt: String(lt) };
  return { kind: 'state', account: address, finality: 'finalized', position: null, state };
}

const jettonChange: JettonChange = {
  kind: 'jetton',
  accounts: [address],
  finality: 'finalized',
  position: null,
  jetton: {
    address,
    balance: '10000000000000000000000',
    owner: address,
    jetton: address,
    last_transaction_lt: '7',
    code_hash: null,
    data_hash: null,
  },
  named: [],
};

const refusedBy = (code: 'unknown_key' | 'network_not_allowed' | 'rate_limited') =>
  scriptLimits(() => ({ allowed: false, code, plan: null, quota: null, retryAfterSeconds: null }));

/** Status with which an upgrade is refused. */
function upgradeStatus(): Promise<number | undefined> {
  const socket = new WebSocket(`ws://127.0.0.1:${at.port}/api/streaming/v2/ws`);
  sockets.push(socket);
  return new Promise((resolve) => {
    socket.once('unexpected-response', (_request, response) => resolve(response.statusCode));
    socket.on('error', () => undefined);
  });
}

/** Reads a stream as text until it has a text, or to its end. */
async function textUntil(response: Response, wanted: string): Promise<string> {
  let text = '';
  for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    if (text.includes(wanted)) break;
  }
  return text;
}

async function answerOf(message: object): Promise<StreamFrame> {
  const reader = await at.ws();
  reader.send(message);
  return reader.until((frame) => 'status' in frame || 'error' in frame);
}

const isBusy = new StreamingError('replay_busy', 'too many replays run');

const closedConnection = {
  unsubscribe: () => undefined,
  cursor: () => createCursors('testnet').write({ position: null, connection: 1 }),
  drain: () => undefined,
  close: () => undefined,
};

describe('a rule for a client of asyncio', () => {
  it('the first frame of a WebSocket is the answer to its subscription, also when events wait', async () => {
    await start();
    const first = await at.ws(states);
    for (const lt of [1, 2, 3]) await under.block(stateChange(lt));
    const again = await at.ws({ ...states, cursor: first.frames[0]!['cursor'] });
    await expect.poll(() => again.events().length).toBe(3);
    expect(again.frames[0]).toMatchObject({ status: 'subscribed' });
  });

  it('a limit of connections has the text `connection limit`, as 429 of SSE and as the first frame of a WebSocket', async () => {
    await start({ connections: 1 });
    await at.ws(states);
    const response = await at.post(JSON.stringify(states));
    expect([response.status, await response.text()]).toEqual([429, expect.stringContaining('connection limit')]);
    const refused = await at.ws();
    await refused.ended;
    expect(refused.frames).toEqual([{ error: expect.stringContaining('connection limit') as string }]);
  });

  it.each([
    ['unknown_key', 401, 'ends the client'],
    ['network_not_allowed', 403, 'ends the client'],
    ['rate_limited', 429, 'lets the client try again'],
  ] as const)('a refusal as %s has status %i, which %s, for an upgrade and for a POST', async (code, status, _then) => {
    await start({ limits: refusedBy(code) });
    expect(await upgradeStatus()).toBe(status);
    expect((await at.post(JSON.stringify(states))).status).toBe(status);
  });

  it('a `data:` line of SSE is the answer, with `status` and without `type`, or an event', async () => {
    await start();
    const reader = await at.sse(states);
    await under.block(stateChange());
    await expect.poll(() => reader.frames.length).toBe(2);
    expect(reader.frames.map((frame) => ['status' in frame, 'type' in frame])).toEqual([
      [true, false],
      [false, true],
    ]);
  });

  it('ids are texts that come back: numbers for messages, `ping-` and a number for pings', async () => {
    await start();
    const reader = await at.ws({ id: '1', ...states });
    for (const message of [
      { id: '2', operation: 'subscribe', ...states },
      { id: 'ping-1', operation: 'ping' },
    ])
      reader.send(message);
    await expect.poll(() => reader.frames.map(({ id }) => id)).toEqual(['1', '2', 'ping-1']);
  });

  it('bytes come at least each 30 s: SSE has a comment after 15 s', async () => {
    await start();
    const response = await at.post(JSON.stringify(states));
    at.pass(15_000);
    expect(await textUntil(response, ': keepalive')).toContain(': keepalive\n\n');
  });

  it('a balance, a hash, a level and an account are texts', async () => {
    await start();
    const reader = await at.sse(states);
    await under.block(stateChange());
    const event = await reader.until(({ type }) => type === 'account_state_change');
    const { balance, hash: hashText } = event['state'] as Record<string, unknown>;
    for (const value of [balance, hashText, event['finality'], event['account']]) expect(value).toBeTypeOf('string');
  });
});

describe('a rule for a client of httpx', () => {
  it('an event is one line also for readers of Python, for whom U+0085, U+2028 and U+2029 end a line', async () => {
    const text = 'a\u0085b\u2028c\u2029d';
    const tokens = { is_indexed: true, token_info: [{ type: 'jetton_masters', name: text }] };
    const metadata = async () => ({ [address]: tokens });
    under = createHubUnderTest({
      cursors: createCursors('testnet'),
      labels: { addressBook: async () => ({}), metadata },
    });
    at = await startStreams({ hub: under.hub });
    const response = await at.post(
      JSON.stringify({ types: ['transactions'], addresses: [address], include_metadata: true }),
    );
    await under.block(trace(hashOf(1), { transactions: [transaction('t1', address, { comment: text })] }));
    const lines = (await textUntil(response, '"type":"transactions"')).split(/[\n\r\v\f\u0085\u2028\u2029]/);
    const data = lines.flatMap((line) => (line.startsWith('data:') ? (JSON.parse(line.slice(5)) as object) : []));
    expect(data[1]).toMatchObject({ transactions: [{ comment: text }], metadata: { [address]: tokens } });
  });
});

describe('a rule for walletkit', () => {
  it('a connection that unsubscribed from all stays, and a later subscription has events', async () => {
    await start();
    const reader = await at.ws(states);
    reader.send({ operation: 'unsubscribe', addresses: [address] });
    await reader.until(({ status }) => status === 'unsubscribed');
    for (let passed = 0; passed < 120_000; passed += 30_000) {
      const before = reader.pings();
      at.pass(30_000);
      await expect.poll(() => reader.pings()).toBeGreaterThan(before);
      // The service has the answer to its ping before this message.
      reader.send({ operation: 'ping', id: `after ${passed}` });
      await reader.until(({ id }) => id === `after ${passed}`);
    }
    await under.block(stateChange(1));
    reader.send({ operation: 'subscribe', id: 'again', ...states });
    await reader.until(({ id }) => id === 'again');
    await under.block(stateChange(2));
    await expect.poll(() => reader.events()).toMatchObject([{ state: { last_transaction_lt: '2' } }]);
  });

  it('a friendly address matches events, which name the account in its raw form', async () => {
    await start();
    const friendly = 'EQCD39VS5jcptHL8vMjEXrzGaRcCVYto7HUn4bpAOg8xqB2N';
    const reader = await at.ws({ ...states, addresses: [friendly], min_finality: 'pending', include_metadata: true });
    await under.block(stateChange());
    await expect.poll(() => reader.events()).toMatchObject([{ account: address }]);
  });
});

describe('a rule for MyTonWallet', () => {
  it('a ping without an id has an answer without an id, also before a subscription', async () => {
    await start();
    expect(await answerOf({ operation: 'ping' })).toEqual({ status: 'pong', cursor: expect.any(String) as string });
  });

  it('an object with `error` is a refusal with the id of its message, and one with `status` an answer; an event has neither', async () => {
    await start();
    const reader = await at.ws({ id: '10', ...states });
    reader.send({ operation: 'subscribe', id: '11', types: ['nothing'] });
    await reader.until(({ id }) => id === '11');
    await under.block(stateChange());
    await expect.poll(() => reader.frames.length).toBe(3);
    const names = reader.frames.map((frame) => ['id', 'status', 'error'].filter((name) => name in frame));
    expect(names).toEqual([['id', 'status'], ['id', 'error'], []]);
  });

  it('balances of accounts and of jettons are decimal texts', async () => {
    await start();
    const reader = await at.ws({ ...states, types: ['account_state_change', 'jettons_change'] });
    await under.block(stateChange(), jettonChange);
    await expect.poll(() => reader.events().length).toBe(2);
    const shown = reader.events().map(({ state, jetton }) => (state ?? jetton) as { readonly balance: unknown });
    for (const { balance } of shown) expect(balance).toMatch(/^\d+$/);
  });

  it('no event has an empty list of actions, also when one version of the vocabulary shows none of them', async () => {
    await start();
    const caller = under.open();
    const types = new Set(['transactions', 'actions'] as const);
    await caller.subscribe({ types, accounts: new Set([account('A')]), supportedActionTypes: new Set(['other']) });
    const actions = [action('transfer', [account('A')])];
    await under.block(trace(hashOf(1), { transactions: [transaction('t', account('A'))], actions }));
    expect(caller.events.map(({ type }) => type)).toEqual(['transactions']);
  });
});

describe('a rule for the typed client of ton-org/ton#188', () => {
  it('a WebSocket takes its key from the query, and has its answer without an event before it', async () => {
    await start();
    const socket = new WebSocket(`ws://127.0.0.1:${at.port}/api/streaming/v2/ws?api_key=abc`);
    sockets.push(socket);
    const first = new Promise((resolve) =>
      socket.once('message', (data: Buffer) => resolve(JSON.parse(data.toString('utf8')))),
    );
    socket.once('open', () => socket.send(JSON.stringify({ operation: 'subscribe', ...states })));
    expect(await first).toMatchObject({ status: 'subscribed' });
  });

  it('an event of a trace has `trace` and `transactions`, also when it has no action', async () => {
    await start();
    const caller = under.open();
    await caller.subscribe({ types: new Set(['trace']), traces: new Set([hashOf(1)]) });
    await under.block(trace(hashOf(1), { transactions: [transaction('t', account('A'))] }));
    expect(caller.events).toMatchObject([{ trace: {}, transactions: { t: {} } }]);
  });
});

describe('a rule for the EventSource of a browser', () => {
  it('an event of a GET has no event line, so that `onmessage` has it, and an id with which the browser resumes by itself', async () => {
    await start();
    const url = `${at.url}/api/streaming/v2/sse?${query}`;
    const first = await fetch(url);
    await under.block(stateChange(1));
    const text = await textUntil(first, 'account_state_change');
    expect(text).not.toContain('event: event');
    await under.block(stateChange(2));
    const lastId = [...text.matchAll(/^id: (.*)$/gm)].at(-1)![1]!;
    const again = await textUntil(await fetch(url, { headers: { 'last-event-id': lastId } }), '"2"');
    expect(again).toContain('"resumed":"full"');
    expect(again.match(/"last_transaction_lt":"\d"/g)).toEqual(['"last_transaction_lt":"2"']);
  });

  it('a refusal that passes has status 200, because the browser gives up at any other', async () => {
    await start();
    const busy = { ...under.hub, open: () => ({ ...closedConnection, subscribe: () => Promise.reject(isBusy) }) };
    await at.close();
    at = await startStreams({ hub: busy });
    const response = await fetch(`${at.url}/api/streaming/v2/sse?${query}`);
    expect(response.status).toBe(200);
    expect(await response.text()).toMatch(/^retry: \d+\nevent: close\n/);
  });
});
