import { Address } from '@ton/core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import type { LiveTransactions } from '#service/live/transactions/transactions.ts';
import { startListener, type Listener } from '#test/service/http/listener.ts';
import { post, ways, type Reply } from '#test/service/http/requests.ts';
import { askEveryWay } from './three-ways.ts';
import { scriptTransactions, type TransactionQuestion } from './scripted-transactions.ts';

let listener: Listener;
let live: LiveTransactions & { readonly asked: TransactionQuestion[] };

beforeAll(async () => {
  live = scriptTransactions();
  listener = await startListener({ live: { transactions: live } });
});
beforeEach(() => void live.asked.splice(0));
afterAll(() => listener.close());

/** Asks each way; all must say the same, and ask the live layer the same. */
async function ask(operation: string, params: Record<string, unknown>): Promise<Reply> {
  const reply = await askEveryWay(listener.url, operation, params);
  for (const question of live.asked) expect(question).toEqual(live.asked[0]);
  return reply;
}

async function refusalOf(operation: string, params: Record<string, unknown>): Promise<unknown> {
  const { status, body } = await ask(operation, params);
  expect(live.asked).toEqual([]);
  return { status, error: body['error'] };
}

const id = Buffer.alloc(32, 0xab);
const address = `0:${id.toString('hex')}`;
const hash = Buffer.alloc(32, 0xcd);

describe.each(['getTransactions', 'getTransactionsStd'])('%s', (operation) => {
  it.each([
    [{}, { from: undefined, limit: 10, toLt: 0n }],
    [{ limit: 1000 }, { from: undefined, limit: 1000, toLt: 0n }],
    [{ limit: '0042' }, { from: undefined, limit: 42, toLt: 0n }],
    [
      { lt: '5', hash: hash.toString('hex') },
      { from: { lt: 5n, hash }, limit: 10, toLt: 0n },
    ],
    [
      { lt: 5, hash: hash.toString('base64') },
      { from: { lt: 5n, hash }, limit: 10, toLt: 0n },
    ],
    [
      { lt: '9223372036854775807', hash: hash.toString('base64url') },
      { from: { lt: 2n ** 63n - 1n, hash }, limit: 10, toLt: 0n },
    ],
    [
      { to_lt: '77', archival: 'true' },
      { from: undefined, limit: 10, toLt: 77n, archival: true },
    ],
    [
      { to_lt: -1, archival: false },
      { from: undefined, limit: 10, toLt: 0n },
    ],
    [
      { hash: '', archival: '' },
      { from: undefined, limit: 10, toLt: 0n },
    ],
  ])('with %j asks so', async (params, range) => {
    expect((await ask(operation, { address, ...params })).status).toBe(200);
    expect(live.asked[0]).toEqual({ account: { workchain: 0, id }, range });
    expect(live.asked).toHaveLength(ways.length);
  });

  it.each([
    [{ address: '' }, 'empty address'],
    [{ address: 'x' }, 'failed to parse address'],
    [{ limit: 'ten' }, 'failed to parse limit'],
    [{ limit: 1.5 }, 'failed to parse limit'],
    [{ limit: 0 }, 'limit should be positive'],
    [{ limit: -3 }, 'limit should be positive'],
    [{ limit: 1001 }, 'limit should be less or equal 1000'],
    [{ limit: '99999999999999999999' }, 'failed to parse limit'],
    [{ lt: 'x', hash: hash.toString('hex') }, 'failed to parse lt'],
    [{ lt: '9223372036854775808', hash: hash.toString('hex') }, 'failed to parse lt'],
    [{ lt: -1, hash: hash.toString('hex') }, 'lt should be non-negative'],
    [{ lt: 5, hash: 'x' }, 'failed to parse hash'],
    [{ lt: 5 }, 'lt and hash should be used together'],
    [{ hash: hash.toString('hex') }, 'lt and hash should be used together'],
    [{ to_lt: 'x' }, 'failed to parse to_lt'],
    [{ archival: 'maybe' }, 'failed to parse archival'],
  ])('refuses %j: %s', async (params, error) => {
    expect(await refusalOf(operation, { address, ...params })).toEqual({ status: 422, error });
  });
});

describe('lt 0', () => {
  it('is none for getTransactions, so that a hash beside it stands alone', async () => {
    expect((await ask('getTransactions', { address, lt: 0 })).status).toBe(200);
    expect(live.asked[0]).toMatchObject({ range: { from: undefined } });
    live.asked.splice(0);
    const error = 'lt and hash should be used together';
    const params = { address, lt: 0, hash: hash.toString('hex') };
    expect(await refusalOf('getTransactions', params)).toEqual({ status: 422, error });
  });

  it('is the place before the first transaction for getTransactionsStd', async () => {
    const { body } = await ask('getTransactionsStd', { address, lt: 0, hash: hash.toString('hex') });
    expect(live.asked[0]).toMatchObject({ range: { from: { lt: 0n, hash } } });
    expect(body['result']).toEqual({
      '@type': 'raw.transactions',
      transactions: [],
      previous_transaction_id: {
        '@type': 'internal.transactionId',
        lt: '0',
        hash: 'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=',
      },
    });
    live.asked.splice(0);
    const error = 'lt and hash should be used together';
    expect(await refusalOf('getTransactionsStd', { address, lt: 0 })).toEqual({ status: 422, error });
  });
});

describe.each(['getBlockTransactions', 'getBlockTransactionsExt'])('%s', (operation) => {
  const block = { workchain: -1, shard: '-9223372036854775808', seqno: 7 };
  const name = { workchain: -1, shard: 2n ** 63n, seqno: 7, hashes: undefined };
  const first = { count: 40, after: undefined };

  it.each([
    [{}, { block: name, range: first }],
    [{ seqno: '7' }, { block: name, range: first }],
    [{ shard: '4611686018427387904' }, { block: { ...name, shard: 2n ** 62n }, range: first }],
    [{ root_hash: hash.toString('hex') }, { block: name, range: first }],
    [
      { root_hash: hash.toString('hex'), file_hash: hash.toString('base64') },
      { block: { ...name, hashes: { rootHash: hash, fileHash: hash } }, range: first },
    ],
    [{ count: '10000' }, { block: name, range: { ...first, count: 10_000 } }],
    [
      { after_lt: '9', after_hash: address },
      { block: name, range: { ...first, after: { account: id, lt: 9n } } },
    ],
    [
      { after_lt: 9, after_hash: new Address(0, id).toString() },
      { block: name, range: { ...first, after: { account: id, lt: 9n } } },
    ],
    [
      { after_lt: 9, after_hash: id.toString('hex') },
      { block: name, range: { ...first, after: { account: id, lt: 9n } } },
    ],
    [
      { after_lt: 0, after_hash: id.toString('base64url') },
      { block: name, range: { ...first, after: { account: id, lt: 0n } } },
    ],
  ])('with %j asks so', async (params, question) => {
    const { status, body } = await ask(operation, { ...block, ...params });
    expect(status).toBe(200);
    expect(body['result']).toMatchObject({ req_count: question.range.count, incomplete: false, transactions: [] });
    expect(live.asked[0]).toEqual(question);
  });

  it.each([
    [{ workchain: null }, 'workchain required'],
    [{ workchain: 'x' }, 'failed to parse workchain'],
    [{ workchain: 2147483648 }, 'failed to parse workchain'],
    [{ shard: null }, 'shard required'],
    [{ shard: '8000000000000000a' }, 'failed to parse shard'],
    [{ shard: '9223372036854775808' }, 'failed to parse shard'],
    [{ seqno: null }, 'seqno required'],
    [{ seqno: 'x' }, 'failed to parse seqno'],
    [{ seqno: 0 }, 'seqno should be positive'],
    [{ root_hash: 'x' }, 'failed to parse root_hash'],
    [{ file_hash: 'x' }, 'failed to parse file_hash'],
    [{ after_lt: 'x', after_hash: address }, 'failed to parse after_lt'],
    [{ after_lt: -1, after_hash: address }, 'after_lt should be non-negative'],
    [{ after_lt: 1, after_hash: 'x' }, 'failed to parse after_hash'],
    [{ after_lt: 1 }, 'after_lt and after_hash should be used together'],
    [{ after_hash: address }, 'after_lt and after_hash should be used together'],
    [{ count: 'x' }, 'failed to parse count'],
    [{ count: 0 }, 'count should be positive'],
    [{ count: 10001 }, 'count should be less or equal 10000'],
  ])('refuses %j: %s', async (params, error) => {
    const given = Object.entries({ ...block, ...params }).filter(([, value]) => value !== null);
    expect(await refusalOf(operation, Object.fromEntries(given))).toEqual({ status: 422, error });
  });
});

it.each([
  ['-9223372036854775808', 2n ** 63n],
  ['-9223372036854776000', 2n ** 63n],
  ['4611686018427387904', 2n ** 62n],
  ['4611686018427388000', 2n ** 62n],
])('takes a shard that is the JSON integer %s, as written by JavaScript or by others', async (written, shard) => {
  const body = `{"workchain":-1,"shard":${written},"seqno":7}`;
  const reply = await post(`${listener.url}/api/v2/getBlockTransactions`, body);
  expect(reply.status).toBe(200);
  expect(live.asked[0]).toMatchObject({ block: { shard } });
});

describe.each([
  ['tryLocateTx', 'receiver'],
  ['tryLocateResultTx', 'receiver'],
  ['tryLocateSourceTx', 'sender'],
])('%s', (operation, end) => {
  const source = `-1:${hash.toString('hex')}`;
  const message = { source, destination: address, created_lt: '123' };

  it(`asks for the ${end}, and answers 404 when there is none`, async () => {
    const { status, body } = await ask(operation, message);
    expect([status, body['error'], body['code']]).toEqual([404, 'transaction not found', 404]);
    const name = { source: { workchain: -1, id: hash }, destination: { workchain: 0, id }, createdLt: 123n };
    expect(live.asked[0]).toEqual({ message: name, end });
  });

  it.each([
    [{ source: undefined }, 'empty source address'],
    [{ source: '' }, 'empty source address'],
    [{ source: 'x' }, 'failed to parse source address'],
    [{ destination: undefined }, 'empty destination address'],
    [{ destination: 'x' }, 'failed to parse destination address'],
    [{ created_lt: undefined }, 'failed to parse created_lt'],
    [{ created_lt: 'x' }, 'failed to parse created_lt'],
    [{ created_lt: -1 }, 'created_lt should be non-negative'],
  ])('refuses %j: %s', async (params, error) => {
    const given = Object.entries({ ...message, ...params }).filter(([, value]) => value !== undefined);
    expect(await refusalOf(operation, Object.fromEntries(given))).toEqual({ status: 422, error });
  });
});
