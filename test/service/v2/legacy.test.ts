import { beginCell, type Cell } from '@ton/core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import { startListener, type Listener } from '#test/service/http/listener.ts';
import { request, ways, type Reply } from '#test/service/http/requests.ts';
import { scriptFees } from './scripted-contracts.ts';
import { scriptLegacySend, scriptSend } from './scripted-send.ts';
import { externalTo } from './external-to.ts';
import { askEveryWay } from './three-ways.ts';

const postWays = ways.filter((way) => way !== 'GET');
const id = Buffer.alloc(32, 7);
const address = `0:${id.toString('hex')}`;

const code = beginCell().storeUint(1, 9).storeRef(beginCell().storeUint(2, 8).endCell()).endCell();
const data = beginCell().endCell();
const message = externalTo(id);

const bag = (cell: Cell): string => cell.toBoc().toString('base64');

/** As clients of the old service write a cell: whole bytes, the last one filled up with zero bits. */
function asObject(cell: Cell): object {
  const bits = cell.bits.toString();
  const b64 = cell.toBoc({ idx: false, crc32: false }).length > 0 ? bytesOf(bits, cell.bits.length) : '';
  return { data: { b64, len: cell.bits.length }, refs: cell.refs.map(asObject) };
}

function bytesOf(hex: string, bitLength: number): string {
  return Buffer.from(hex.replace('_', '').padEnd(Math.ceil(bitLength / 8) * 2, '0'), 'hex').toString('base64');
}

let listener: Listener;
let send: ReturnType<typeof scriptSend>;
let legacySend: ReturnType<typeof scriptLegacySend>;
const fees = scriptFees();

beforeAll(async () => {
  const live = {
    fees,
    send: { send: (...args: Parameters<typeof send.send>) => send.send(...args) },
    legacySend: {
      sendQuery: (...args: Parameters<typeof legacySend.sendQuery>) => legacySend.sendQuery(...args),
      sendRepeatedly: (...args: Parameters<typeof legacySend.sendRepeatedly>) => legacySend.sendRepeatedly(...args),
    },
  };
  listener = await startListener({ v2: { legacyOperations: true }, live });
});
beforeEach(() => {
  send = scriptSend();
  legacySend = scriptLegacySend();
});
afterAll(() => listener.close());

const ask = (operation: string, params: Record<string, unknown>): Promise<Reply> =>
  askEveryWay(listener.url, operation, params, postWays, operation.startsWith('est') ? 'estimateFee' : 'sendBoc');

describe.each([
  ['sendQuery', bag, ''],
  ['sendQuerySimple', asObject, {}],
])('%s', (operation, write, nothing) => {
  it.each([
    ['body alone', {}, { initCode: null, initData: null }],
    ['body, and nothing for the rest', { init_code: nothing, init_data: nothing }, { initCode: null, initData: null }],
    ['a state to deploy', { init_code: write(code), init_data: write(data) }, { initCode: code, initData: data }],
  ])('sends a message with a %s', async (_what, params, { initCode, initData }) => {
    const reply = await ask(operation, { address, body: write(code), ...params });
    expect([reply.status, reply.body['result']]).toEqual([200, { '@type': 'ok' }]);
    expect(reply.body['@extra']).toMatch(/^\d+:3,0,7:/);
    for (const query of legacySend.queries) {
      expect(query.account).toMatchObject({ workchain: 0, id });
      expect(query.body.toString('base64')).toBe(bag(code));
      expect(query.initCode?.toString('base64')).toBe(initCode === null ? undefined : bag(initCode));
      expect(query.initData?.toString('base64')).toBe(initData === null ? undefined : bag(initData));
    }
    expect(legacySend.queries).toHaveLength(postWays.length);
  });

  it.each([
    [{ body: write(code) }, 'empty address'],
    [{ address: 'x', body: write(code) }, 'failed to parse address'],
    [{ address }, 'empty body'],
  ])('refuses %j', async (params, error) => {
    const reply = await ask(operation, params);
    expect([reply.status, reply.body['error']]).toEqual([422, error]);
    expect(legacySend.queries).toEqual([]);
  });
});

/** Has status 400 among its answers. */
const noError = 'sendBocReturnHashNoError';

it.each([
  ['sendQuerySimple', { address }, 'body'],
  ['estimateFeeSimple', { address }, 'body'],
  ['estimateFeeSimple', { address, body: asObject(code) }, 'init_code'],
  ['sendCellSimple', {}, 'cell'],
])('%s refuses what is no cell with status 400', async (operation, params, name) => {
  const wrong = [
    'te6cc',
    7,
    [],
    { data: {} },
    { data: { b64: '', len: -1 } },
    { data: { b64: 'AA==', len: 9 } },
    { data: { b64: 'AA==', len: 8 }, refs: [{}] },
    { data: { b64: '*', len: 8 } },
    { data: { b64: 'AA==', len: 8 }, refs: Array.from({ length: 5 }, () => asObject(data)) },
  ];
  for (const cell of wrong) {
    const reply = await askEveryWay(listener.url, operation, { ...params, [name]: cell }, postWays, noError);
    expect([reply.status, reply.body['error'], cell]).toEqual([400, 'Error while parsing cell object', cell]);
  }
  expect([send.sent, legacySend.queries]).toEqual([[], []]);
});

describe('sendCellSimple', () => {
  it('sends the cell as the message', async () => {
    const reply = await ask('sendCellSimple', { cell: asObject(message) });
    expect([reply.status, reply.body['result']]).toEqual([200, { '@type': 'ok' }]);
    expect(send.sent.map(({ hash }) => hash)).toEqual(postWays.map(() => message.hash()));
  });

  it('refuses a cell that is no message', async () => {
    expect((await ask('sendCellSimple', { cell: asObject(code) })).status).toBe(422);
  });
});

describe('sendBocUnsafe', () => {
  it('answers at once, with no lite server', async () => {
    const reply = await ask('sendBocUnsafe', { boc: bag(message) });
    expect([reply.status, reply.body['result']]).toEqual([200, { '@type': 'ok' }]);
    expect(reply.body['@extra']).toMatch(/^\d+:_:/);
    expect(legacySend.repeated.map(({ hash }) => hash)).toEqual(postWays.map(() => message.hash()));
  });

  it.each([
    [{}, 'empty boc'],
    [{ boc: bag(code) }, 'Failed to unpack Message'],
  ])('refuses %j', async (params, error) => {
    const reply = await ask('sendBocUnsafe', params);
    expect([reply.status, reply.body['error']]).toEqual([422, error]);
  });
});

describe('estimateFeeSimple', () => {
  it('is estimateFee with cells as objects', async () => {
    const given = { address, ignore_chksig: false };
    const simple = { body: asObject(code), init_code: asObject(code), init_data: asObject(data) };
    const plain = { body: bag(code), init_code: bag(code), init_data: bag(data) };
    const [one, other] = [
      await ask('estimateFeeSimple', { ...given, ...simple }),
      await ask('estimateFee', { ...given, ...plain }),
    ];
    expect(one.body['result']).toEqual(other.body['result']);
    expect(one.status).toBe(200);
  });
});

describe('the operations of the old service', () => {
  const names = ['sendQuery', 'sendQuerySimple', 'sendCellSimple', 'estimateFeeSimple', 'sendBocUnsafe'];

  it('are in the document and take POST alone', async () => {
    const document = (await (await fetch(`${listener.url}/api/v2/openapi.json`)).json()) as { paths: object };
    for (const name of names) {
      expect(document.paths).toHaveProperty([`/api/v2/${name}`, 'post']);
      expect((await request(`${listener.url}/api/v2/${name}`)).status).toBe(405);
    }
  });

  it('are unknown unless they are asked for', async () => {
    const plain = await startListener();
    try {
      for (const name of names) {
        expect((await request(`${plain.url}/api/v2/${name}`, { method: 'POST', body: '{}' })).status).toBe(404);
        const call = { method: 'POST', body: JSON.stringify({ method: name }) };
        expect((await request(`${plain.url}/api/v2/jsonRPC`, call)).status).toBe(422);
      }
    } finally {
      await plain.close();
    }
  });
});
