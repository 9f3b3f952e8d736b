import { randomBytes } from 'node:crypto';

import { Registry } from 'prom-client';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { createKeyring } from '#service/limits/keyring.ts';
import { makeKey } from '#service/limits/keys.ts';
import { createLimits } from '#service/limits/limits.ts';
import { startListener, type Listener } from './listener.ts';
import { parseRaw, rawExchange, request, type Reply } from './requests.ts';

const key = makeKey(randomBytes);

/** A hundred more than are told at once in the two seconds that they may fall into, and fewer beyond the first hundred than may be held back. */
const many = 320;

/** What must not differ from one refusal to another. */
const shown = ({ status, headers, body }: Reply) => ({
  status,
  headers: [...headers.keys()].toSorted(),
  told: ['ratelimit-policy', 'ratelimit-limit', 'content-type', 'x-api-version'].map((name) => headers.get(name)),
  body: { ...body, '@extra': typeof body['@extra'] },
});

describe('a caller who goes on and on', () => {
  const decided: string[] = [];
  let listener: Listener;
  /** Milliseconds at which the service's clock stands; undefined while it runs. */
  let stoppedMs: number | undefined;

  beforeEach(async () => {
    decided.length = 0;
    stoppedMs = undefined;
    const small = {
      name: 'small',
      requestsPerSecond: 0.001,
      burst: 1,
      requestsPerDay: null,
      maxConcurrent: null,
      methodCosts: {},
    };
    const big = { ...small, name: 'big', requestsPerSecond: 10_000, burst: 10_000 };
    const limits = createLimits(
      { plans: [small, big], anonymousPlan: 'big', network: 'mainnet' },
      {
        keyring: createKeyring({ rows: [{ id: key.id, sha256: key.sha256, plan: 'small' }] }),
        now: () => performance.timeOrigin + performance.now(),
        register: new Registry(),
      },
    );
    const counted = (asked: Parameters<typeof limits.decide>[0]) => {
      decided.push(asked.key ?? '');
      return limits.decide(asked);
    };
    listener = await startListener({
      limits: { ...limits, decide: counted },
      dependencies: { clock: { nowMs: () => stoppedMs ?? performance.now(), unixMs: Date.now } },
    });
  });

  afterEach(() => listener.close());

  const ask = (init: RequestInit = {}, path = 'getMasterchainInfo'): Promise<Reply> =>
    request(`${listener.url}/api/v2/${path}`, { ...init, headers: { 'x-api-key': key.key } });
  const press = (count: number, init?: RequestInit): Promise<Reply[]> =>
    Promise.all(Array.from({ length: count }, () => ask(init)));
  it('gets the same refusal without being routed', async () => {
    // All refusals fall into one second, however long they take.
    stoppedMs = performance.now();
    const [, ...refusals] = await press(many);
    const [first] = refusals;
    for (const refusal of refusals) expect(shown(refusal)).toEqual(shown(first!));
    expect(first?.status).toBe(429);
    expect(decided.length).toBeLessThan(many - 50);
    const counted = `ton_http_requests_total{operation="getMasterchainInfo",status="429"} ${many - 1}`;
    expect(await listener.register.metrics()).toContain(counted);
    expect(listener.logs.filter(({ code }) => code === 'rate_limited')).toHaveLength(many - 1);
  });

  it('requests with bodies are refused early too, and the connection stays usable', async () => {
    const replies = await press(many, { method: 'POST', body: JSON.stringify({ x: 'y'.repeat(5000) }) });
    expect(replies.filter(({ status }) => status === 429).length).toBe(many - 1);
  });

  it('gets the answer without a reset while it still sends a large body', async () => {
    await press(many);
    const path = '/api/v2/getMasterchainInfo';
    const head = `POST ${path} HTTP/1.1\r\nhost: x\r\nx-api-key: ${key.key}\r\ncontent-length: 8000000\r\nconnection: close\r\n\r\n`;
    for (let turn = 0; turn < 5; turn++) {
      const reply = parseRaw(await rawExchange(listener.port, head + 'x'.repeat(8_000_000)));
      expect([reply.status, reply.headers.get('connection')]).toEqual([429, 'close']);
    }
  });

  it('gets the usual answer for an unknown path and for a wrong method', async () => {
    await press(many);
    expect((await ask({}, 'nowhere')).status).toBe(404);
    expect((await ask({ method: 'DELETE' })).status).toBe(405);
  });

  it('keeps nobody else from asking', async () => {
    const [others] = await Promise.all([
      Promise.all(
        Array.from({ length: 20 }, () =>
          request(`${listener.url}/api/v2/getMasterchainInfo`).then(({ status }) => status),
        ),
      ),
      press(many),
    ]);
    expect(new Set(others)).toEqual(new Set([200]));
  });

  it('leaves no slot taken when it hangs up during a delayed refusal', async () => {
    await press(many);
    const text = `GET /api/v2/getMasterchainInfo HTTP/1.1\r\nhost: x\r\nx-api-key: ${key.key}\r\nconnection: close\r\n\r\n`;
    const cut = new AbortController();
    const asked = Array.from({ length: 120 }, () => ask({ signal: cut.signal }).catch(() => undefined));
    cut.abort();
    await Promise.all(asked);
    expect(parseRaw(await rawExchange(listener.port, text)).status).toBe(429);
    await expect.poll(() => listener.server.status().inFlight).toBe(0);
  });
});
