import { Agent, request } from 'node:http';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import type { Operation } from '#service/contract/operation.ts';
import { countOf } from '#test/support/volume.ts';
import { startApiUnderTest, type ApiUnderTest } from '#test/support/api.ts';
import { createDraw, oneOf, type Draw } from '#test/support/draw.ts';
import { badValues } from '../support/v2-bad-requests.ts';
import { operations, readScenes, requestsTo, type Params } from '#test/support/v2-scenes.ts';
import { pathOf, queryOf } from '../support/v2-call-styles.ts';

const requests = countOf({ quick: 3_000, full: 20_000 });

/** Beside each other, each on a connection of its own. */
const connections = 24;

let api: ApiUnderTest;
let scenes: Params[] = [];

beforeAll(async () => {
  api = await startApiUnderTest({ behindBlocks: 0 });
  scenes = await readScenes(api);
});
afterAll(() => api.close());

type Sent = { readonly method: string; readonly path: string; readonly body?: string };

/** Values of no sense for any parameter: every type of JSON, ends of ranges, deep and long things, text that is no text. */
const noise: readonly unknown[] = [
  null,
  true,
  0,
  -1,
  1.5,
  1e308,
  2 ** 53,
  -(2 ** 63),
  '',
  ' ',
  '\u0000',
  '\u{1F4A9}',
  '\uD800',
  'null',
  'true',
  '-0',
  '__proto__',
  'constructor',
  '../../jsonRPC',
  "' OR 1=1 --",
  '9'.repeat(400),
  'A'.repeat(4000),
  'te6cc',
  'te6cckEBAQEAAgAAAEysuc0=',
  [],
  {},
  [[[[[[[[]]]]]]]],
  { '@type': 'tvm.cell' },
  [['num', {}]],
  [['tuple', { elements: [{}] }]],
  [null],
  [['x', 1]],
  JSON.parse(`${'['.repeat(300)}${']'.repeat(300)}`),
];

/** Parameters that are good, partly spoiled, or nothing of the kind. */
function drawParams(draw: Draw, operation: Operation): Params {
  const good = requestsTo(operation, scenes);
  const params: Record<string, unknown> = { ...(good.length > 0 && draw(8) > 0 ? oneOf(draw, good) : {}) };
  const names = operation.parameters.map(({ name }) => name);
  for (let spoiled = draw(3); spoiled > 0 && names.length > 0; spoiled--) {
    const name = oneOf(draw, names);
    const bad = badValues(name);
    const kind = draw(4);
    if (kind === 0) delete params[name];
    else if (kind === 1 && bad.length > 0) params[name] = oneOf(draw, bad)[0];
    else params[name] = oneOf(draw, noise);
  }
  return params;
}

function drawRequest(draw: Draw): Sent {
  const operation = oneOf(draw, operations);
  const params = drawParams(draw, operation);
  const path = pathOf(oneOf(draw, [operation.name, ...operation.aliases]));
  switch (draw(10)) {
    case 0:
      return { method: oneOf(draw, ['PUT', 'DELETE', 'PATCH', 'OPTIONS', 'GET', 'POST']), path };
    case 1:
      return {
        method: 'POST',
        path,
        body: oneOf(draw, ['{', '[]', 'null', '"x"', '{"a":', '\u0000', '{"address":1e999}']),
      };
    case 2:
      return { method: 'GET', path: `${path}${oneOf(draw, ['/', '//', 'x', '?', '?%', '?=&=', '/../x', '%00'])}` };
    case 3:
    case 4:
    case 5:
      return { method: 'GET', path: `${path}?${queryOf(params)}` };
    case 6:
    case 7:
      return { method: 'POST', path, body: JSON.stringify(params) };
    default:
      return { method: 'POST', path: pathOf('jsonRPC'), body: JSON.stringify(drawRpc(draw, operation, params)) };
  }
}

function drawRpc(draw: Draw, operation: Operation, params: Params): unknown {
  const call = {
    jsonrpc: '2.0',
    id: oneOf<unknown>(draw, [1, '1', null, {}, 2 ** 60]),
    method: operation.name,
    params,
  };
  switch (draw(6)) {
    case 0:
      return Array.from({ length: draw(4) }, () => call);
    case 1:
      return { ...call, [oneOf(draw, ['method', 'params', 'id'])]: oneOf(draw, noise) };
    default:
      return call;
  }
}

type Got = { readonly status: number; readonly type: string; readonly text: string };

function send(agent: Agent, { method, path, body }: Sent): Promise<Got> {
  return new Promise((resolve, reject) => {
    const options = { agent, method, headers: { 'x-api-key': api.key } };
    const sent = request(`${api.api.url}${path}`, options, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.once('error', reject);
      response.once('end', () => {
        const type = response.headers['content-type'] ?? '';
        resolve({ status: response.statusCode ?? 0, type, text: Buffer.concat(chunks).toString() });
      });
    });
    sent.once('error', reject);
    sent.end(body);
  });
}

/** Texts of lite servers and contracts that are 500 by the contract (service/v2/README.md#texts-of-lite-servers). */
const expectedErrors = /^(LITE_SERVER_(?!NETWORK)|TVM stack size exceeds limit|from mc block is too old)/;

/** What is wrong with an answer; undefined when nothing is. */
function flawOf({ method }: Sent, { status, type, text }: Got): string | undefined {
  if (status === 204) return method === 'OPTIONS' && text === '' ? undefined : `204 with ${text}`;
  if (type !== 'application/json') return `content type ${type}`;
  const body: unknown = parse(text);
  if (body === undefined) return `no JSON: ${text}`;
  if (Array.isArray(body)) return undefined;
  const { ok, error, code } = body as { ok: boolean; error?: string; code?: number };
  if (ok) return status === 200 ? undefined : `ok with ${status}`;
  if (code !== status) return `code ${code} with ${status}`;
  return status < 500 || status === 542 || expectedErrors.test(error ?? '') ? undefined : `${status} ${error}`;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

describe('random requests over all routes', () => {
  it('are each answered with JSON, and a mistake of the caller never as a fault of the service', async () => {
    const draw = createDraw(20_261_121);
    const agent = new Agent({ keepAlive: true, maxSockets: connections });
    const flaws = new Map<string, Sent>();
    let left = requests;
    const caller = async (): Promise<void> => {
      while (left-- > 0) {
        const sent = drawRequest(draw);
        const flaw = flawOf(sent, await send(agent, sent));
        if (flaw !== undefined) flaws.set(flaw, sent);
      }
    };
    await Promise.all(Array.from({ length: connections }, caller));
    agent.destroy();
    expect([...flaws].slice(0, 20)).toEqual([]);
    expect((await fetch(`${api.api.internalUrl}/readyz`)).status).toBe(200);
  }, 600_000);
});
