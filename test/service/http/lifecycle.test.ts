import { Agent, get, type IncomingMessage } from 'node:http';

import { createConnection } from 'node:net';

import { afterEach, describe, expect, it } from 'vitest';

import type { ReadContext } from '#service/contract/answer.ts';
import { liveInfo, scriptAccounts } from '#test/service/v2/scripted-accounts.ts';
import { runningMs } from '#test/support/running-time.ts';
import { startListener, type Listener, type ListenerSetup } from './listener.ts';
import { post, request } from './requests.ts';

let open: Listener[] = [];

async function start(setup: ListenerSetup): Promise<Listener> {
  const listener = await startListener(setup);
  open.push(listener);
  return listener;
}

afterEach(async () => {
  await Promise.all(open.map((listener) => listener.close()));
  open = [];
});

/** A live layer that answers when told, and tells when it was asked. */
function gated() {
  const gate = Promise.withResolvers<void>();
  const asked = Promise.withResolvers<ReadContext>();
  const accounts = scriptAccounts({
    info: async (context) => {
      asked.resolve(context);
      await gate.promise;
      return liveInfo;
    },
  });
  return { accounts, asked: asked.promise, release: () => gate.resolve() };
}

const path = '/api/v2/getMasterchainInfo';
const rawGet = `GET ${path} HTTP/1.1\r\nhost: x\r\n\r\n`;

describe('a deadline', () => {
  it('ends a request with 504, though the part below never answers', async () => {
    const { accounts, asked } = gated();
    const listener = await start({ accounts, options: { requestTimeoutMs: 50 } });
    const before = performance.now();
    const reply = await request(listener.url + path);
    const after = performance.now();
    expect(reply.status).toBe(504);
    expect(reply.body).toMatchObject({ error: 'LITE_SERVER_NETWORK timeout', code: 504 });
    const { deadlineMs, signal } = await asked;
    expect(signal.aborted).toBe(true);
    expect(deadlineMs - before).toBeGreaterThanOrEqual(50);
    // A timer may be a millisecond early.
    expect(deadlineMs).toBeLessThan(after + 1);
  });

  it('is handed down and cancelled when the answer is there', async () => {
    const contexts: ReadContext[] = [];
    const listener = await start({
      accounts: scriptAccounts({
        info: (context) => {
          contexts.push(context);
          return liveInfo;
        },
      }),
      options: { requestTimeoutMs: 1000 },
    });
    await request(listener.url + path);
    await new Promise((resolve) => setTimeout(resolve, 1050));
    expect(contexts[0]?.signal.aborted).toBe(false);
  });

  it('comes at once when the caller hangs up, and is counted as 499', async () => {
    const { accounts, asked } = gated();
    const listener = await start({ accounts });
    const abort = new AbortController();
    const reply = fetch(listener.url + path, { signal: abort.signal }).catch(() => 'gone');
    const { signal } = await asked;
    abort.abort();
    expect(await reply).toBe('gone');
    await expect.poll(() => signal.aborted).toBe(true);
    expect(signal.reason).toMatchObject({ code: 'caller_gone' });
    await expect
      .poll(() => listener.register.metrics())
      .toContain('ton_http_requests_total{operation="getMasterchainInfo",status="499"} 1');
    expect(listener.server.status().inFlight).toBe(0);
  });
});

describe('more requests than the process bears', () => {
  it('excess requests are refused at once with 503 and Retry-After, and only while there are too many', async () => {
    const { accounts, asked, release } = gated();
    const listener = await start({ accounts, options: { inFlightMax: 1 } });
    const first = request(listener.url + path);
    await asked;
    const second = await request(listener.url + path);
    expect(second.status).toBe(503);
    expect(second.body).toMatchObject({ error: 'too many requests in flight', code: 503 });
    expect(second.headers.get('retry-after')).toBe('1');
    expect((await request(`${listener.url}/healthcheck`)).status).toBe(200);
    release();
    expect((await first).status).toBe(200);
    expect((await request(listener.url + path)).status).toBe(200);
  });

  it('cannot fill the memory with bodies that never end', async () => {
    const listener = await start({ options: { bodiesBytesMax: 100_000 } });
    const url = `${listener.url}/api/v2/getMasterchainInfo`;
    const body = `{"x":"${'y'.repeat(60_000)}"}`;
    const holder = createConnection(listener.port, '127.0.0.1');
    holder.write(`POST /api/v2/getMasterchainInfo HTTP/1.1\r\nHost: x\r\nContent-Length: 90000\r\n\r\n${body}`);
    await expect.poll(async () => (await post(url, body)).status).toBe(503);
    expect((await post(url, '{}')).status).toBe(200);
    holder.destroy();
    await expect.poll(async () => (await post(url, body)).status).toBe(200);
  });

  it('cannot come by more connections than allowed', async () => {
    const listener = await start({ options: { connectionsMax: 1 } });
    const agent = new Agent({ keepAlive: true });
    expect((await nodeGet(listener, agent)).statusCode).toBe(200);
    await expect(nodeGet(listener, new Agent())).rejects.toThrow(/hang up|ECONNRESET/);
    agent.destroy();
  });
});

describe('closing', () => {
  it('lets requests in flight finish, refuses connections, and is unready at once', async () => {
    const { accounts, asked, release } = gated();
    const listener = await startListener({ accounts, options: { drainMs: 5000 } });
    const reply = request(listener.url + path);
    await asked;
    expect(listener.server.status()).toEqual({ draining: false, inFlight: 1 });
    const closed = listener.close();
    expect(listener.server.status()).toEqual({ draining: true, inFlight: 1 });
    await expect(fetch(`${listener.url}/healthcheck`)).rejects.toThrow('fetch failed');
    release();
    const { status, headers } = await reply;
    expect([status, headers.get('connection')]).toEqual([200, 'close']);
    await closed;
  });

  it('serves what comes on an open connection meanwhile', async () => {
    const { accounts, asked, release } = gated();
    const listener = await startListener({ accounts, options: { drainMs: 5000 } });
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const first = nodeGet(listener, agent);
    const second = nodeGet(listener, agent);
    await asked;
    const closed = listener.close();
    release();
    expect((await first).statusCode).toBe(200);
    // The second was never sent on the closed connection, or was answered: it is not cut half-way.
    const outcome = await second.then(
      ({ statusCode }) => statusCode,
      (error: NodeJS.ErrnoException) => error.code,
    );
    expect([200, 'ECONNREFUSED']).toContain(outcome);
    await closed;
    agent.destroy();
  });

  it('cuts what is still in flight when the time to drain is over, with an envelope', async () => {
    const { accounts, asked } = gated();
    const listener = await startListener({ accounts, options: { drainMs: 50 } });
    const reply = request(listener.url + path);
    await asked;
    expect(await runningMs(() => listener.close())).toBeLessThan(1500);
    expect((await reply).status).toBe(504);
  });

  it('answers a request in transit on an idle connection, and asks its caller to close the connection', async () => {
    const listener = await startListener({ options: { lateMsMax: 10_000, quietMs: 1000 } });
    const socket = createConnection(listener.port, '127.0.0.1').setEncoding('utf8');
    let received = '';
    socket.on('data', (text: string) => (received += text));
    const ended = new Promise((resolve) => socket.once('end', resolve));
    socket.write(rawGet);
    await expect.poll(() => received).toContain('"ok":true');
    const closed = listener.close();
    socket.write(rawGet);
    await ended;
    await closed;
    const [, first, second] = received.split('HTTP/1.1 200 OK');
    expect(first).toMatch(/connection: keep-alive/i);
    expect(second).toMatch(/connection: close/i);
    socket.destroy();
  });

  it('serves callers who have not learned of it, until none comes any more', async () => {
    const listener = await startListener({ options: { lateMsMax: 10_000, quietMs: 1000 } });
    const closed = listener.close();
    expect(listener.server.status().draining).toBe(true);
    const { status, headers } = await request(listener.url + path);
    expect([status, headers.get('connection')]).toEqual([200, 'close']);
    await closed;
    await expect(fetch(`${listener.url}/healthcheck`)).rejects.toThrow('fetch failed');
  });

  it('waits for such callers no longer than it may, however many come', async () => {
    const listener = await startListener({ options: { lateMsMax: 1500, quietMs: 1000 } });
    const closed = listener.close();
    const statuses: number[] = [];
    const asking = async (): Promise<void> => {
      for (;;) statuses.push((await fetch(`${listener.url}/healthcheck`)).status);
    };
    await expect(asking()).rejects.toThrow('fetch failed');
    await closed;
    expect(statuses[0]).toBe(200);
  });

  it('takes no time when only idle connections are open', async () => {
    const listener = await startListener();
    const agent = new Agent({ keepAlive: true });
    await nodeGet(listener, agent);
    expect(await runningMs(() => listener.close())).toBeLessThan(500);
    agent.destroy();
  });

  it('frees the port', async () => {
    const first = await startListener();
    await expect(startListener({ options: { port: first.port } })).rejects.toMatchObject({ code: 'EADDRINUSE' });
    await first.close();
    const second = await startListener({ options: { port: first.port } });
    await second.close();
  });
});

describe('a request', () => {
  it('is one log line with its outcome', async () => {
    const listener = await start({});
    await request(`${listener.url}/api/v2/getAddressState?address=x`);
    await expect.poll(() => listener.logs).toHaveLength(1);
    expect(listener.logs[0]).toMatchObject({
      msg: 'request',
      method: 'GET',
      url: '/api/v2/getAddressState?address=x',
      operation: 'getAddressState',
      status: 422,
      code: 'invalid_parameter',
      liteServers: [],
      elapsedMs: expect.any(Number),
    });
    await request(listener.url + path);
    await expect.poll(() => listener.logs.at(-1)).toMatchObject({ status: 200, liteServers: [4] });
  });

  it('is counted under the name of its operation, whatever its path', async () => {
    const listener = await start({});
    await request(listener.url + path);
    await request(`${listener.url}/${'x'.repeat(100)}`);
    await request(`${listener.url}/api/v2/jsonRPC`, { method: 'POST', body: '{"method":"getMasterchainInfo"}' });
    const text = await listener.register.metrics();
    expect(text).toContain('ton_http_requests_total{operation="getMasterchainInfo",status="200"} 2');
    expect(text).toContain('ton_http_requests_total{operation="unknown",status="404"} 1');
    expect(text).toContain('ton_http_request_duration_seconds_count{operation="getMasterchainInfo"} 2');
    expect(text).toMatch(/ton_http_response_size_bytes_sum\{operation="getMasterchainInfo"\} 1\d\d\d/);
    expect(text).toContain('ton_http_in_flight_requests 0');
    expect(text).not.toContain('xxxx');
  });
});

function nodeGet(listener: Listener, agent: Agent): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    get(listener.url + path, { agent }, (response) => {
      response.resume();
      response.once('end', () => resolve(response));
    }).once('error', reject);
  });
}
