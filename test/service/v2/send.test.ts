import { Address, beginCell, external, internal, storeMessage, storeMessageRelaxed, type Cell } from '@ton/core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import { answeredError } from '#service/liteserver/errors.ts';
import { PoolError } from '#service/pool/errors.ts';
import { readExternalMessage } from '#service/live/send/external-message.ts';
import { startListener, type Listener } from '#test/service/http/listener.ts';
import { request, ways, type Reply } from '#test/service/http/requests.ts';
import { askEveryWay } from './three-ways.ts';
import { scriptSend } from './scripted-send.ts';

const operations = ['sendBoc', 'sendBocReturnHash', 'sendBocReturnHashNoError'] as const;

/** All but GET: a message is not sent by following a link. */
const sendWays = ways.filter((way) => way !== 'GET');

const to = new Address(0, Buffer.alloc(32, 7));
const body = beginCell().storeUint(1, 8).endCell();
const cell = beginCell()
  .store(storeMessage(external({ to, body })))
  .endCell();
const boc = cell.toBoc().toString('base64');

const emptyCell = beginCell().endCell().toBoc().toString('base64');
const internalMessage = beginCell()
  .store(storeMessageRelaxed(internal({ to, value: 1n, body })))
  .endCell()
  .toBoc()
  .toString('base64');
const deepBody = Array.from({ length: 600 }).reduce<Cell>((inner) => beginCell().storeRef(inner).endCell(), body);
const tooDeep = beginCell()
  .store(storeMessage(external({ to, body: deepBody })))
  .endCell()
  .toBoc()
  .toString('base64');

let listener: Listener;
let refusal: Error | undefined;
let sent: string[] = [];

beforeAll(async () => {
  listener = await startListener({
    live: {
      send: {
        async send(bytes, context) {
          const scripted = scriptSend(refusal);
          const answer = await scripted.send(bytes, context);
          sent.push(...scripted.sent.map((message) => message.hash.toString('hex')));
          return answer;
        },
      },
    },
  });
});
beforeEach(() => {
  refusal = undefined;
  sent = [];
});
afterAll(() => listener.close());

function ask(operation: string, params: Record<string, unknown>): Promise<Reply> {
  return askEveryWay(listener.url, operation, params, sendWays);
}

describe('a message that the network takes', () => {
  const hashes = {
    '@type': 'raw.extMessageInfo',
    hash: cell.hash().toString('base64'),
    hash_norm: readExternalMessage(cell.toBoc()).normalizedHash.toString('base64'),
  };

  it.each([
    ['sendBoc', { '@type': 'ok' }],
    ['sendBocReturnHash', hashes],
    ['sendBocReturnHashNoError', hashes],
  ])('is answered by %s, with the lite servers that were sent it', async (operation, result) => {
    const reply = await ask(operation, { boc });
    expect(reply.status).toBe(200);
    expect(JSON.stringify(reply.body['result'])).toBe(JSON.stringify(result));
    expect(reply.body['@extra']).toMatch(/^\d+:3,0,7:[\d.e-]+$/);
    expect(sent).toEqual(sendWays.map(() => cell.hash().toString('hex')));
  });

  it.each([
    ['base64url', cell.toBoc().toString('base64url')],
    ['no padding', boc.replaceAll('=', '')],
    ['an index', cell.toBoc({ idx: true }).toString('base64')],
    ['no checksum', cell.toBoc({ crc32: false }).toString('base64')],
  ])('may be spelled with %s', async (_what, spelling) => {
    expect((await ask('sendBocReturnHash', { boc: spelling })).body['result']).toEqual(hashes);
  });
});

describe.each(operations)('%s', (operation) => {
  it.each([
    [{}, 'empty boc'],
    [{ boc: '' }, 'empty boc'],
    [{ boc: null }, 'empty boc'],
    [{ boc: 5 }, 'failed to parse boc'],
    [{ boc: 'te6cc*' }, 'invalid base64 encoded bytes: wrong character in the string'],
    [{ boc: 'te6cc' }, 'invalid base64 encoded bytes: wrong string length'],
    [{ boc: 'te6c===' }, 'invalid base64 encoded bytes: wrong character in the string'],
    [{ boc: 'te6cc==' }, 'invalid base64 encoded bytes: wrong string length'],
    [{ boc: 'te6ccg=' }, 'invalid base64 encoded bytes: wrong padding length'],
  ])('refuses %j: %s', async (params, error) => {
    const reply = await ask(operation, params);
    expect({ status: reply.status, error: reply.body['error'] }).toEqual({ status: 422, error });
    expect(sent).toEqual([]);
  });

  const [mistakeStatus, refusedStatus] = operation === 'sendBocReturnHashNoError' ? [400, 400] : [422, 500];

  it.each([
    ['AAAA', 'INVALID_BAG_OF_CELLS: bodycannot deserialize bag-of-cells: not enough bytes (3 present, 10 required)'],
    [emptyCell, 'Failed to unpack Message'],
    [internalMessage, 'CommonMsgInfo tag is not ext_in_msg_info'],
    [tooDeep, 'LITE_SERVER_UNKNOWN: cannot apply external message to current state : external message is too deep'],
  ])(`answers ${mistakeStatus} to what is no message for the network`, async (bad, error) => {
    const reply = await ask(operation, { boc: bad });
    expect([reply.status, reply.body['error'], reply.body['code']]).toEqual([mistakeStatus, error, mistakeStatus]);
    expect(sent).toEqual([]);
  });

  it(`answers ${refusedStatus} with the words of the network that rejects a message`, async () => {
    const text = 'cannot apply external message to current state : External message was not accepted';
    refusal = answeredError('sendMessage', 0, text);
    const reply = await ask(operation, { boc });
    expect([reply.status, reply.body['error']]).toEqual([refusedStatus, `LITE_SERVER_UNKNOWN: ${text}`]);
    expect(reply.body['@extra']).toMatch(/^\d+:3,0,7:[\d.e-]+$/);
  });

  it('tells that nobody can be reached, and that nobody answered, as it is', async () => {
    refusal = new PoolError('no_lite_server');
    expect((await ask(operation, { boc })).status).toBe(503);
    refusal = new PoolError('deadline');
    expect((await ask(operation, { boc })).status).toBe(504);
  });

  it('sendBoc is not served by GET', async () => {
    const reply = await request(`${listener.url}/api/v2/${operation}?boc=${encodeURIComponent(boc)}`);
    expect([reply.status, reply.headers.get('allow')]).toEqual([405, expect.stringContaining('POST')]);
    expect(sent).toEqual([]);
  });
});
