import { Cell, beginCell } from '@ton/core';
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { formatRawAddress } from '#service/decode/address.ts';
import { accountOfKey } from '#service/store/account-key.ts';
import { startV3UnderTest, type V3UnderTest } from '#test/support/v3-service.ts';

type Json = Record<string, unknown>;

let v3: V3UnderTest;
let accounts: readonly string[];

beforeAll(async () => {
  v3 = await startV3UnderTest(import.meta.filename);
  const sql = 'SELECT account FROM latest_account_states ORDER BY balance DESC LIMIT 60';
  const rows = await v3.index.store.read<{ account: Buffer }>(sql);
  accounts = rows.map(({ account }) => formatRawAddress(accountOfKey(account), 'upper'));
});
afterAll(() => v3.close());

/** What v2 says. */
async function v2(operation: string, address: string): Promise<Json> {
  return (await v3.api.get(`${operation}?address=${address}`)).body['result'] as Json;
}

async function get(operation: string, query: Record<string, string | boolean>): Promise<Json> {
  const { status, body, flaws } = await v3.get(operation, query);
  expect([status, flaws]).toEqual([200, []]);
  return body as Json;
}

const orNull = (text: unknown): unknown => (text === '' ? null : text);
const unknown = `0:${'AB'.repeat(32)}`;
const noHash = Buffer.alloc(32).toString('base64');

describe('addressInformation', () => {
  it('is what v2 says, in the words of the index or of v2', async () => {
    for (const address of accounts) {
      const live = await v2('getAddressInformation', address);
      const { lt, hash } = live['last_transaction_id'] as Json;
      const expected = {
        balance: live['balance'],
        code: orNull(live['code']),
        data: orNull(live['data']),
        last_transaction_lt: lt,
        last_transaction_hash: hash,
        frozen_hash: null,
        status: live['state'] === 'uninitialized' ? 'uninit' : live['state'],
      };
      expect(await get('addressInformation', { address })).toEqual(expected);
      const inV2 = { ...expected, frozen_hash: orNull(live['frozen_hash']), status: live['state'] };
      expect(await get('account', { address, use_v2: true })).toEqual(inV2);
    }
  });

  it('of an account that nobody has seen is empty', async () => {
    const nothing = {
      balance: '0',
      code: null,
      data: null,
      last_transaction_lt: '0',
      last_transaction_hash: noHash,
      frozen_hash: null,
    };
    expect(await get('addressInformation', { address: unknown })).toEqual({ ...nothing, status: 'uninit' });
    expect(await get('addressInformation', { address: unknown, use_v2: 'true' })).toEqual({
      ...nothing,
      status: 'uninitialized',
    });
  });

  it('takes the last of several addresses, and names it does not know', async () => {
    const answer = await v3.get('addressInformation', { address: [unknown, accounts[0]!], include_boc: true });
    expect(answer.body).toEqual(await get('addressInformation', { address: accounts[0]! }));
  });
});

describe('walletInformation', () => {
  it('walletInformation of a wallet equals walletStates, and another contract is refused with 409', async () => {
    const { body } = await v3.get('walletStates', { address: accounts });
    const { wallets } = body as { wallets: Json[] };
    const answers: number[] = [];
    // Lite servers know nothing of one that is gone.
    for (const wallet of wallets.filter((one) => one['status'] !== 'nonexist')) {
      const answer = await v3.get('walletInformation', { address: String(wallet['address']) });
      answers.push(answer.status);
      expect(answer.flaws).toEqual([]);
      const { balance, wallet_type, seqno, wallet_id, last_transaction_lt, last_transaction_hash, status } = wallet;
      const known = { wallet_type, seqno, ...(wallet_id !== undefined && { wallet_id }) };
      const expected = {
        balance,
        ...(wallet['is_wallet'] === true && known),
        last_transaction_lt,
        last_transaction_hash,
        status,
      };
      const refused = { ok: false, code: 409, error: 'not a wallet' };
      const isRefused = wallet['is_wallet'] === false && wallet['status'] !== 'uninit';
      expect(answer.body).toEqual(isRefused ? refused : expected);
    }
    expect(new Set(answers)).toEqual(new Set([200, 409]));
  });

  it('of an account that nobody has seen has no type', async () => {
    const nothing = { balance: '0', last_transaction_lt: '0', last_transaction_hash: noHash };
    expect(await get('wallet', { address: unknown })).toEqual({ ...nothing, status: 'uninit' });
    expect(await get('walletInformation', { address: unknown, use_v2: true })).toEqual({
      ...nothing,
      status: 'uninitialized',
    });
  });
});

async function run(body: Json): Promise<Json> {
  const answer = await v3.post('runGetMethod', body);
  expect([answer.status, answer.flaws]).toEqual([200, []]);
  return answer.body as Json;
}

describe('runGetMethod', () => {
  const cell = beginCell().storeUint(5, 8).endCell().toBoc().toString('base64');

  it('gives what v2 gives, values as objects', async () => {
    const [wallet] = accounts.slice(1);
    const legacy = await v3.api.post('runGetMethod', { address: wallet, method: 'seqno', stack: [] });
    const { gas_used, exit_code, stack } = legacy.body['result'] as {
      gas_used: number;
      exit_code: number;
      stack: unknown[][];
    };
    const answer = await run({ address: wallet, method: 'seqno', stack: [] });
    expect(answer).toEqual({ gas_used, exit_code, stack: stack.map(([type, value]) => ({ type, value })) });
    expect(await run({ address: wallet, method: 'seqno' })).toEqual(answer);
  });

  it('runs at the masterchain block that seqno names', async () => {
    const [wallet] = accounts.slice(1);
    const head = await v3.api.post('getMasterchainInfo', {});
    const { seqno } = (head.body['result'] as { last: { seqno: number } }).last;
    const latest = await run({ address: wallet, method: 'seqno', stack: [] });
    expect(await run({ address: wallet, method: 'seqno', stack: [], seqno })).toEqual(latest);
    const beyondHead = { address: wallet, method: 'seqno', stack: [], seqno: seqno + 1000 };
    const [later, laterOfV2] = await Promise.all([
      v3.post('runGetMethod', beyondHead),
      v3.api.post('runGetMethod', beyondHead),
    ]);
    expect(later.status).toBeGreaterThanOrEqual(400);
    expect(later.status).toBe(laterOfV2.status);
  });

  it('hands over numbers, cells and slices, and shows what is left of them', async () => {
    const stack = [
      { type: 'num', value: '-0x12a' },
      { type: 'num', value: '0' },
      { type: 'cell', value: cell },
      { type: 'slice', value: cell },
    ];
    // A method that does not exist leaves its arguments where they were.
    const answer = await run({ address: accounts[1], method: 'seqno', stack });
    const left = (answer['stack'] as Json[]).slice(0, 4);
    expect(left.slice(0, 2)).toEqual([
      { type: 'num', value: '-0x12a' },
      { type: 'num', value: '0x0' },
    ]);
    expect(left.slice(2).map(({ type }) => type)).toEqual(['cell', 'slice']);
    for (const { value } of left.slice(2))
      expect(Cell.fromBase64(String(value)).equals(Cell.fromBase64(cell))).toBe(true);
  });

  it('of an account without code ends with -13', async () => {
    expect(await run({ address: unknown, method: 'seqno', stack: [] })).toMatchObject({ exit_code: -13 });
  });

  it.each([
    [{}, 'address is required'],
    [{ address: unknown }, 'method is required'],
    [{ address: unknown, method: '' }, 'method is required'],
    [{ address: 'x', method: 'seqno' }, 'failed to decode: schema: error converting value for "address"'],
    [{ address: unknown, method: 'seqno', stack: {} }, 'stack should be array'],
    [{ address: unknown, method: 'seqno', stack: ['num'] }, 'stack entry should have a type and a value'],
    [
      { address: unknown, method: 'seqno', stack: [{ type: 'dictionary', value: [] }] },
      'unsupported stack parameter type: dictionary',
    ],
    [{ address: unknown, method: 'seqno', stack: [{ type: 'num', value: 'x' }] }, 'Invalid number: x'],
    [
      { address: unknown, method: 'seqno', stack: [{ type: 'cell', value: 'x' }] },
      'invalid cell: base64 of a bag of cells expected',
    ],
    [
      { address: unknown, method: 'seqno', stack: [{ type: 'slice', value: 5 }] },
      'invalid slice: base64 of a bag of cells expected',
    ],
  ])('%j is refused', async (body, error) => {
    const answer = await v3.post('runGetMethod', body);
    expect([answer.status, answer.body, answer.flaws]).toEqual([422, { ok: false, code: 422, error }, []]);
  });
});

describe('estimateFee and message', () => {
  const body = beginCell().storeUint(0, 32).endCell().toBoc().toString('base64');

  it('fees are those of v2', async () => {
    for (const more of [
      {},
      { ignore_chksig: true },
      { ignore_chksig: 'true' },
      { ignore_chksig: false, init_code: '', init_data: '' },
    ]) {
      const call = { address: accounts[1], body, ...more };
      const { result } = (await v3.api.post('estimateFee', call)).body as { result: { source_fees: Json } };
      const answer = await v3.post('estimateFee', call);
      const { '@type': _, ...fees } = result.source_fees;
      expect([answer.status, answer.body, answer.flaws]).toEqual([
        200,
        { source_fees: fees, destination_fees: [] },
        [],
      ]);
    }
  });

  it.each([
    ['estimateFee', {}, 'address is required'],
    ['estimateFee', { address: unknown }, 'body is required'],
    [
      'estimateFee',
      { address: unknown, body, ignore_chksig: 'perhaps' },
      'failed to decode: schema: error converting value for "ignore_chksig"',
    ],
    ['message', {}, 'boc is required'],
    ['message', { boc: '' }, 'boc is required'],
    ['message', { boc: body }, 'Failed to unpack Message'],
  ])('%s %j is refused', async (operation, call, error) => {
    const answer = await v3.post(operation, call);
    expect([answer.status, answer.body, answer.flaws]).toEqual([422, { ok: false, code: 422, error }, []]);
  });

  it('a request that is no JSON is refused', async () => {
    const answer = await fetch(`${v3.api.api.url}/api/v3/message`, {
      method: 'POST',
      body: '{',
      headers: { 'x-api-key': v3.api.key },
    });
    expect([answer.status, await answer.json()]).toMatchObject([422, { ok: false, code: 422 }]);
  });
});

describe('any body', () => {
  const bag = beginCell().storeUint(5, 8).endCell().toBoc().toString('base64');

  it('is answered, and never by a fault of the service', async () => {
    const odd = fc.oneof(
      fc.jsonValue({ maxDepth: 3 }),
      fc.constantFrom('', 'x', bag, '0x1', 'te6c', '9'.repeat(300), 2 ** 60),
    );
    const value = (good: fc.Arbitrary<unknown>) =>
      fc.oneof({ arbitrary: good, weight: 4 }, { arbitrary: odd, weight: 1 });
    const entry = fc.record({
      type: fc.constantFrom('num', 'cell', 'slice', 'tuple', 7),
      value: value(fc.constantFrom('0x5', bag)),
    });
    const body = fc.record(
      {
        address: value(fc.nat().map((at) => accounts[at % accounts.length])),
        method: value(fc.constantFrom('seqno', 'get_wallet_data', 'get_public_key', '85143')),
        stack: value(fc.array(entry, { maxLength: 3 })),
        body: value(fc.constant(bag)),
        init_code: value(fc.constantFrom('', bag)),
        init_data: value(fc.constantFrom('', bag)),
        ignore_chksig: value(fc.boolean()),
        boc: value(fc.constant(bag)),
      },
      { requiredKeys: [] },
    );
    const seen = new Set<number>();
    await fc.assert(
      fc.asyncProperty(fc.constantFrom('runGetMethod', 'estimateFee', 'message'), body, async (operation, call) => {
        const { status, flaws } = await v3.post(operation, call);
        seen.add(status);
        expect([operation, status < 500, flaws]).toEqual([operation, true, []]);
      }),
      { seed: 5, numRuns: 300 },
    );
    expect(seen).toEqual(new Set([200, 422]));
  });
});
