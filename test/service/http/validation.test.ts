import { Address, crc16 } from '@ton/core';
import * as fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import { scriptAccounts } from '#test/service/v2/scripted-accounts.ts';
import { anyText } from '#test/support/any-text.ts';
import { startListener, type Listener } from './listener.ts';
import { call, post, request, rpc, ways, type Reply } from './requests.ts';

const hex = 'ab'.repeat(32);
const raw = `0:${hex}`;
const accounts = scriptAccounts();
let listener: Listener;

beforeAll(async () => {
  listener = await startListener({ accounts });
});
afterAll(() => listener.close());
beforeEach(() => {
  accounts.reads.length = 0;
});

const operations = ['getAddressInformation', 'getAddressBalance', 'getAddressState'];

const friendly = Address.parse(raw).toString({ urlSafe: true });

/** One character changed, checksum not. */
const wrongChecksum = friendly.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A'));

/** A tag of neither a bounceable nor a non-bounceable address, with a right checksum over it. */
const wrongTag = retagged(0x31);

const refusals: readonly (readonly [what: string, params: Record<string, unknown>, message: string])[] = [
  ['no address', {}, 'empty address'],
  ['an empty address', { address: '' }, 'empty address'],
  ['an address of noise', { address: 'noise' }, 'failed to parse address'],
  ['bare hex', { address: hex }, 'failed to parse address'],
  ['a workchain beyond 32 bits', { address: `4294967296:${hex}` }, 'failed to parse address'],
  ['63 digits', { address: raw.slice(0, -1) }, 'failed to parse address'],
  ['a wrong checksum', { address: wrongChecksum }, 'failed to parse address'],
  ['a wrong tag', { address: wrongTag }, 'failed to parse address'],
  ['a space around', { address: ` ${raw}` }, 'failed to parse address'],
  ['a seqno of noise', { address: raw, seqno: 'x' }, 'failed to parse seqno'],
  ['a fractional seqno', { address: raw, seqno: 1.5 }, 'failed to parse seqno'],
  ['an empty seqno', { address: raw, seqno: '' }, 'failed to parse seqno'],
  ['a signed seqno', { address: raw, seqno: '+5' }, 'failed to parse seqno'],
  ['a hex seqno', { address: raw, seqno: '0x10' }, 'failed to parse seqno'],
  ['a seqno of true', { address: raw, seqno: true }, 'failed to parse seqno'],
  ['seqno 2^31', { address: raw, seqno: 2 ** 31 }, 'failed to parse seqno'],
  ['seqno 2^64', { address: raw, seqno: '18446744073709551616' }, 'failed to parse seqno'],
  ['a seqno of a thousand digits', { address: raw, seqno: '1'.repeat(1000) }, 'failed to parse seqno'],
  ['seqno 0', { address: raw, seqno: 0 }, 'seqno should be positive'],
  ['seqno -1', { address: raw, seqno: '-1' }, 'seqno should be positive'],
  ['a bad address before a bad seqno', { address: 'x', seqno: 'y' }, 'failed to parse address'],
  ['an unreadable seqno before a missing sign', { address: raw, seqno: 'y' }, 'failed to parse seqno'],
];

describe.each(ways)('%s', (way) => {
  it.each(refusals)('refuses %s', async (_what, params, message) => {
    for (const operation of operations) {
      const { status, body } = await call(listener.url, way, operation, params);
      expect([status, body['error'], body['code'], body['ok']]).toEqual([422, message, 422, false]);
      expect(body['@extra']).toMatch(/^1755516054:_:[\d.e+-]+$/);
    }
    expect(accounts.reads).toEqual([]);
  });

  it.each([
    ['the latest state', { address: raw }, undefined],
    ['a seqno', { address: raw, seqno: 5 }, 5],
    ['a seqno as text with zeros', { address: raw, seqno: '0007' }, 7],
    ['the greatest seqno', { address: raw, seqno: 2_147_483_647 }, 2_147_483_647],
    ['unknown parameters', { address: raw, archival: 'x', foo: 1 }, undefined],
    ['a raw address in capitals', { address: raw.toUpperCase() }, undefined],
  ])('reads %s', async (_what, params, seqno) => {
    const { status } = await call(listener.url, way, 'getAddressState', params);
    expect(status).toBe(200);
    expect(accounts.reads).toEqual([{ account: { workchain: 0, id: Buffer.from(hex, 'hex') }, seqno }]);
  });

  it('takes an address in every spelling that @ton/core writes', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(-1, 0),
        fc.uint8Array({ minLength: 32, maxLength: 32 }),
        fc.record({ bounceable: fc.boolean(), testOnly: fc.boolean(), urlSafe: fc.boolean() }),
        fc.boolean(),
        async (workchain, hash, style, asRaw) => {
          accounts.reads.length = 0;
          const written = new Address(workchain, Buffer.from(hash));
          const text = asRaw ? written.toRawString() : written.toString(style);
          await call(listener.url, way, 'getAddressState', { address: text });
          expect(accounts.reads).toEqual([{ account: { workchain, id: Buffer.from(hash) }, seqno: undefined }]);
        },
      ),
      { seed: 3, numRuns: 60 },
    );
  });
});

const state = (query: string) => request(`${listener.url}/api/v2/getAddressState?${query}`);

describe('GET', () => {
  it('takes the first value of a name', async () => {
    await state(`address=${raw}&seqno=3&seqno=x&address=y`);
    expect(accounts.reads[0]?.seqno).toBe(3);
  });

  it('takes an unescaped plus sign of the standard alphabet', async () => {
    const plus = new Address(0, Buffer.alloc(32, 0xfb)).toString({ urlSafe: false });
    expect(plus).toContain('+');
    expect((await state(`address=${plus}`)).status).toBe(200);
  });

  it.each(['address=%', 'address=%zz', 'address=%ff%fe', '%=1', '&&&', 'address', '=', '?', 'address=%00'])(
    'answers 422 to the query %s',
    async (query) => {
      expect((await state(query)).status).toBe(422);
    },
  );

  it('reads nothing from a body', async () => {
    expect((await state('')).body['error']).toBe('empty address');
  });
});

const url = () => `${listener.url}/api/v2/getAddressState`;

const json = JSON.stringify({ address: raw });

/** A good body of exactly so many bytes. */
const bodyOf = (bytes: number) => `${json.slice(0, -1)},"x":"${'y'.repeat(bytes - json.length - 7)}"}`;

describe('POST', () => {
  it.each([
    'application/json',
    'application/json; charset=utf-8',
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data',
    'nonsense',
    ';;;',
    '/',
    'application/json, text/plain',
  ])('reads JSON whatever the Content-Type: %s', async (contentType) => {
    expect((await post(url(), json, { 'content-type': contentType })).status).toBe(200);
  });

  it('reads JSON without a Content-Type', async () => {
    expect((await post(url(), new Blob([json]))).status).toBe(200);
  });

  it('treats an empty body as {}', async () => {
    expect((await request(url(), { method: 'POST' })).body['error']).toBe('empty address');
    const info = await request(`${listener.url}/api/v2/getMasterchainInfo`, { method: 'POST' });
    expect(info.status).toBe(200);
  });

  it('treats null as absent', async () => {
    expect((await post(url(), JSON.stringify({ address: raw, seqno: null }))).status).toBe(200);
    expect((await post(url(), JSON.stringify({ address: null }))).body['error']).toBe('empty address');
  });

  it('does not read the query string', async () => {
    expect((await post(`${url()}?address=${raw}`, '{}')).body['error']).toBe('empty address');
  });

  it.each([
    ['{', /^failed to parse request: /],
    ['nope', /^failed to parse request: /],
    ['{"a":1}}', /^failed to parse request: /],
    ['[]', /^failed to parse request: expected a JSON object$/],
    ['null', /^failed to parse request: expected a JSON object$/],
    ['"text"', /^failed to parse request: expected a JSON object$/],
    ['5', /^failed to parse request: expected a JSON object$/],
    ['{"address":5}', 'failed to parse address'],
    ['{"address":{}}', 'failed to parse address'],
    ['{"address":["0:00"]}', 'failed to parse address'],
    ['{"__proto__":{"address":"x"}}', 'empty address'],
    ['{"constructor":{"prototype":{"address":"x"}}}', 'empty address'],
    [`{"address":"${raw}","seqno":[5]}`, 'failed to parse seqno'],
    [`{"address":"${raw}","seqno":9007199254740993}`, 'failed to parse seqno'],
    [`{"address":"${raw}","seqno":${'9'.repeat(400)}}`, 'failed to parse seqno'],
    [`{"address":${'['.repeat(3000)}${']'.repeat(3000)}}`, /^failed to parse request: nested deeper than 2048$/],
  ])('answers 422 to the body %.60s', async (body, message) => {
    const { status, body: answer } = await post(url(), body);
    expect(status).toBe(422);
    expect(answer['error']).toMatch(message);
  });

  it('answers 422 to bytes that are not UTF-8', async () => {
    const { status, body } = await post(url(), new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]));
    expect([status, body['error']]).toEqual([422, 'failed to parse request: invalid UTF-8']);
  });

  it('takes a body of 1 MiB and refuses a byte more, with and without a declared length', async () => {
    expect(Buffer.byteLength(bodyOf(1_048_576))).toBe(1_048_576);
    expect((await post(url(), bodyOf(1_048_576))).status).toBe(200);
    expect((await post(url(), bodyOf(1_048_577))).body).toMatchObject({ code: 413, error: 'request body too large' });
    const stream = new Blob([bodyOf(1_048_577)]).stream();
    const streamed = await request(url(), { method: 'POST', body: stream, duplex: 'half' });
    expect(streamed.body).toMatchObject({ code: 413, error: 'request body too large' });
  });
});

describe('no input', () => {
  it('makes an operation fail with 5xx, crash or answer without an envelope', async () => {
    const text = fc.oneof(anyText({ maxLength: 60 }), fc.constantFrom(raw, friendly, '', '0', '-1'));
    const name = fc.oneof(fc.constantFrom('address', 'seqno', '__proto__', 'api_key'), fc.string({ maxLength: 8 }));
    const operation = fc.constantFrom(...operations, 'getMasterchainInfo', 'jsonRPC');
    await fc.assert(
      fc.asyncProperty(operation, fc.array(fc.tuple(name, text), { maxLength: 5 }), async (path, fields) => {
        const query = fields.map(
          ([key, value]) => `${encodeURIComponent(key.toWellFormed())}=${encodeURI(value.toWellFormed())}`,
        );
        const reply = await request(`${listener.url}/api/v2/${path}?${query.join('&')}`);
        expect(flawsOf(reply)).toEqual([]);
      }),
      { seed: 5, numRuns: 300 },
    );
  });

  it('as a body does, valid JSON or not', async () => {
    const value = fc.oneof(fc.json(), anyText({ maxLength: 200 }), rpcText());
    const operation = fc.constantFrom(...operations, 'jsonRPC', 'jsonRPC');
    await fc.assert(
      fc.asyncProperty(operation, value, async (path, body) => {
        expect(flawsOf(await post(`${listener.url}/api/v2/${path}`, body))).toEqual([]);
      }),
      { seed: 6, numRuns: 400 },
    );
    expect((await rpc(listener.url, { method: 'getMasterchainInfo' })).status).toBe(200);
  });
});

/** The friendly form with another first byte and the checksum that fits it. */
function retagged(tag: number): string {
  const bytes = Buffer.from(friendly, 'base64url');
  bytes[0] = tag;
  crc16(bytes.subarray(0, 34)).copy(bytes, 34);
  return bytes.toString('base64url');
}

/** Requests that look like JSON-RPC in most places. */
function rpcText(): fc.Arbitrary<string> {
  const one = fc.record(
    {
      id: fc.oneof(fc.integer(), fc.string(), fc.constant(null), fc.object()),
      jsonrpc: fc.anything(),
      method: fc.oneof(
        fc.constantFrom('getAddressState', 'getMasterchainInfo', 'jsonRPC', '__proto__', '../x'),
        fc.anything(),
      ),
      params: fc.oneof(fc.record({ address: fc.constantFrom(raw, 'x'), seqno: fc.anything() }), fc.anything()),
    },
    { requiredKeys: [] },
  );
  return fc.oneof(one, fc.array(one, { maxLength: 4 })).map((value) => toJson(value));
}

function toJson(value: unknown): string {
  try {
    return JSON.stringify(value) ?? 'null';
  } catch {
    return '{}';
  }
}

/** What is wrong with an answer to a caller's mistake or none. */
function flawsOf({ status, text }: Reply): string[] {
  const answers = [JSON.parse(text) as unknown].flat() as Record<string, unknown>[];
  const flawed = answers.filter((answer) => typeof answer['ok'] !== 'boolean' || typeof answer['@extra'] !== 'string');
  return [...(status < 500 ? [] : [`status ${status}`]), ...flawed.map((answer) => JSON.stringify(answer))];
}
