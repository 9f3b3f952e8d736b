import { getMethodId } from '@ton/core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import { LiveError } from '#service/live/errors.ts';
import { TvmError } from '#service/tvm/errors.ts';
import type { StackEntry } from '#service/tvm/stack.ts';
import { startListener, type Listener } from '#test/service/http/listener.ts';
import { chainOfCells, exoticBags } from '#test/service/decode/exotic-cells.ts';
import { call, type Way } from '#test/service/http/requests.ts';
import { emptyCellBoc } from './scripted-accounts.ts';
import { plainCollection, plainWallet, scriptDns, scriptFees, scriptTokens } from './scripted-contracts.ts';
import { methodRun, scriptGetMethods } from './scripted-get-methods.ts';

const address = `0:${'ab'.repeat(32)}`;
const body = emptyCellBoc.toString('base64');
const posts = ['POST', 'JSON-RPC'] as const satisfies readonly Way[];
const reads = ['GET', ...posts] as const satisfies readonly Way[];

let answer: () => ReturnType<typeof methodRun> = () => methodRun();
const getMethods = scriptGetMethods(() => answer());
const dns = scriptDns();
const fees = scriptFees();
let token: Parameters<typeof scriptTokens>[0] = () => plainCollection;
let listener: Listener;

beforeAll(async () => {
  const tokens = scriptTokens((account) => token!(account));
  listener = await startListener({ live: { getMethods, dns, fees, tokens } });
});
beforeEach(() => {
  answer = () => methodRun();
});
afterAll(() => listener.close());

describe.each(['runGetMethod', 'runGetMethodStd'])('%s', (operation) => {
  it.each([
    ['seqno', 85_143],
    ['get_jetton_data', 106_029],
    ['85143', 85_143],
    ['0x14c97', 85_143],
    ['-1', -1],
    [85_143, 85_143],
    [-2_147_483_648, -2_147_483_648],
    ['a name with spaces ✓', getMethodId('a name with spaces ✓')],
    ['1e5', getMethodId('1e5')],
  ])('method %j is %d', async (method, methodId) => {
    for (const way of posts) {
      expect((await call(listener.url, way, operation, { address, method })).status).toBe(200);
      expect(getMethods.reads.at(-1)).toMatchObject({ methodId, stack: [], seqno: undefined });
    }
  });

  it.each([
    [{ address }, 'empty method'],
    [{ address, method: '' }, 'empty method'],
    [{ address, method: null }, 'empty method'],
    [{ address, method: 2_147_483_648 }, 'failed to parse method'],
    [{ address, method: '2147483648' }, 'failed to parse method'],
    [{ address, method: 1.5 }, 'failed to parse method'],
    [{ address, method: true }, 'failed to parse method'],
    [{ address, method: {} }, 'failed to parse method'],
    [{ method: 'seqno' }, 'empty address'],
    [{ address: 'x', method: 'seqno' }, 'failed to parse address'],
    [{ address, method: 'seqno', seqno: 0 }, 'seqno should be positive'],
    [{ address, method: 'seqno', seqno: 'x' }, 'failed to parse seqno'],
    [{ address, method: 'seqno', stack: 'x' }, 'Stack should be array'],
  ])('%j is refused: %s', async (params, message) => {
    for (const way of posts) {
      const reply = await call(listener.url, way, operation, params);
      expect([reply.status, reply.body['error']]).toEqual([422, message]);
    }
  });

  it.each(exoticBags)('refuses a slice whose cell is of kind %s, and takes the cell', async (_kind, bag) => {
    const bytes = bag.toString('base64');
    const std = (type: 'cell' | 'slice') => ({
      '@type': `tvm.stackEntry${type === 'cell' ? 'Cell' : 'Slice'}`,
      [type]: { '@type': `tvm.${type}`, bytes },
    });
    const isStd = operation === 'runGetMethodStd';
    const inTuple = (type: 'cell' | 'slice') => {
      const tuple = { '@type': 'tvm.tuple', elements: [std(type)] };
      return isStd ? { '@type': 'tvm.stackEntryTuple', tuple } : ['tuple', tuple];
    };
    const entries = (type: 'cell' | 'slice') => [
      inTuple(type),
      ...(isStd
        ? [std(type)]
        : [
            [type, { bytes }],
            [`tvm.${type === 'cell' ? 'Cell' : 'Slice'}`, bytes],
          ]),
    ];
    for (const way of posts) {
      for (const entry of entries('slice')) {
        const reply = await call(listener.url, way, operation, { address, method: 1, stack: [entry] });
        expect(reply.status).toBe(422);
        expect(reply.body['error']).toMatch(/(slice|Slice), an ordinary cell expected$/);
      }
      for (const entry of entries('cell')) {
        expect((await call(listener.url, way, operation, { address, method: 1, stack: [entry] })).status).toBe(200);
      }
    }
  });

  it('takes no GET', async () => {
    expect((await call(listener.url, 'GET', operation, { address, method: 'seqno' })).status).toBe(405);
  });

  it('tells an unknown type of an argument by 542, a result that is nested too deep by 533', async () => {
    const stack = operation === 'runGetMethod' ? [['cont', '']] : [{ '@type': 'cont' }];
    const unknown = await call(listener.url, 'POST', operation, { address, method: 1, stack });
    expect([unknown.status, unknown.body['error']]).toEqual([542, 'Unsupported stack entry type: cont']);
    answer = () => {
      let entry: StackEntry = { type: 'null' };
      for (let level = 0; level < 300; level++) entry = { type: 'tuple', items: [entry] };
      return methodRun({ stack: [entry] });
    };
    const deep = await call(listener.url, 'POST', operation, { address, method: 1 });
    const limit = operation === 'runGetMethod' ? 100 : 256;
    expect([deep.status, deep.body['error']]).toEqual([533, `Result stack depth >= ${limit}`]);
  });

  it.each([
    [new LiveError('bad_stack', 'TVM stack size exceeds limit'), 422, 'TVM stack size exceeds limit'],
    [new TvmError('stack_too_deep', { detail: 'x' }), 422, 'TVM stack size exceeds limit: x'],
    [new TvmError('stack_too_big', { detail: 'x' }), 422, 'TVM stack size exceeds limit: x'],
    [new TvmError('tvm_queue_full', { detail: 'x' }), 503, 'too many contract runs wait'],
    [
      new TvmError('tvm_timeout', { detail: 'the call ran longer than 2000 ms' }),
      500,
      'the call ran longer than 2000 ms',
    ],
    [new TvmError('tvm_crashed', { detail: 'secret' }), 500, 'the virtual machine failed'],
    [new TvmError('tvm_closed', { detail: 'x' }), 503, 'the service is shutting down'],
  ])('%s is %d', async (error, status, message) => {
    answer = () => {
      throw error;
    };
    const reply = await call(listener.url, 'POST', operation, { address, method: 1 });
    expect([reply.status, reply.body['error']]).toEqual([status, message]);
    expect(reply.headers.get('retry-after')).toBe(status === 503 ? '1' : null);
  });
});

describe('estimateFee', () => {
  it('takes signatures as good and deploys nothing unless told otherwise', async () => {
    const init = { init_code: body, init_data: body };
    await call(listener.url, 'POST', 'estimateFee', { address, body });
    expect(fees.asked.at(-1)).toMatchObject({ ignoreSignature: true, initCode: null, initData: null });
    await call(listener.url, 'POST', 'estimateFee', { address, body, init_code: '', init_data: null });
    expect(fees.asked.at(-1)).toMatchObject({ initCode: null, initData: null });
    await call(listener.url, 'POST', 'estimateFee', { address, body, ...init, ignore_chksig: false });
    expect(fees.asked.at(-1)).toMatchObject({ ignoreSignature: false, initCode: emptyCellBoc, initData: emptyCellBoc });
  });

  it.each([
    [{ body }, 'empty address'],
    [{ address }, 'empty body'],
    [{ address, body: '' }, 'empty body'],
    [{ address, body: 5 }, 'failed to parse body'],
    [{ address, body: '%' }, 'invalid base64 encoded bytes: wrong character in the string'],
    [{ address, body, init_code: 5 }, 'failed to parse init_code'],
    [{ address, body, ignore_chksig: 'maybe' }, 'failed to parse ignore_chksig'],
  ])('%j is refused: %s', async (params, message) => {
    for (const way of posts) {
      const reply = await call(listener.url, way, 'estimateFee', params);
      expect([reply.status, reply.body['error']]).toEqual([422, message]);
    }
  });

  it.each(['body', 'init_code', 'init_data'])("%s that is no bag of cells is the caller's mistake", async (name) => {
    const reply = await call(listener.url, 'POST', 'estimateFee', { address, body, [name]: 'AAAA' });
    expect(reply.status).toBe(422);
    expect(reply.body['error']).toMatch(new RegExp(`^INVALID_BAG_OF_CELLS: ${name}.`));
  });

  it.each(exoticBags)(
    'a body whose root is of kind %s is refused by name, code and data are not',
    async (_kind, bag) => {
      const exotic = bag.toString('base64');
      for (const way of posts) {
        const reply = await call(listener.url, way, 'estimateFee', { address, body: exotic });
        const message = 'INVALID_BAG_OF_CELLS: bodyThe root is an exotic cell.';
        expect([reply.status, reply.body['error']]).toEqual([422, message]);
        const init = { init_code: exotic, init_data: exotic };
        expect((await call(listener.url, way, 'estimateFee', { address, body, ...init })).status).toBe(200);
      }
    },
  );

  it.each(['body', 'init_code', 'init_data'])('%s is refused when no message can carry it', async (name) => {
    const deepest = chainOfCells(510).toBoc().toString('base64');
    expect((await call(listener.url, 'POST', 'estimateFee', { address, body, [name]: deepest })).status).toBe(200);
    const deeper = chainOfCells(511).toBoc().toString('base64');
    const reply = await call(listener.url, 'POST', 'estimateFee', { address, body, [name]: deeper });
    expect([reply.status, reply.body['error']]).toEqual([
      422,
      `INVALID_BAG_OF_CELLS: ${name}Cells are deeper than 510.`,
    ]);
  });

  it('shows fees as integers', async () => {
    const { body: shown } = await call(listener.url, 'POST', 'estimateFee', { address, body });
    expect(shown['result']).toEqual({
      '@type': 'query.fees',
      source_fees: { '@type': 'fees', in_fwd_fee: 603_200, storage_fee: 130, gas_fee: 1_937_000, fwd_fee: 1_000_000 },
      destination_fees: [],
    });
  });
});

describe('dnsResolve', () => {
  it('starts at the resolver with the own name, no hops, and looks at no category', async () => {
    for (const way of reads) {
      expect((await call(listener.url, way, 'dnsResolve', { address, category: 'anything' })).status).toBe(200);
      expect(dns.asked.at(-1)).toMatchObject({ name: '', hops: 0, seqno: undefined });
    }
    await call(listener.url, 'GET', 'dnsResolve', { address, name: 'a.ton', ttl: 3, seqno: 7 });
    expect(dns.asked.at(-1)).toMatchObject({ name: 'a.ton', hops: 3, seqno: 7 });
  });

  it.each([
    [{ name: 'a.ton' }, 'empty address'],
    [{ address, ttl: 'x' }, 'failed to parse ttl'],
    [{ address, ttl: -1 }, 'ttl should be non-negative'],
    [{ address, name: 'a'.repeat(127) }, 'Name is too long'],
  ])('%j is refused: %s', async (params, message) => {
    for (const way of reads) {
      const reply = await call(listener.url, way, 'dnsResolve', params);
      expect([reply.status, reply.body['error']]).toEqual([422, message]);
    }
  });
});

describe('getTokenData', () => {
  it('leaves out who is nobody and what is not known', async () => {
    token = () => plainWallet;
    const wallet = await call(listener.url, 'GET', 'getTokenData', { address });
    expect(Object.keys(wallet.body['result'] as object)).toEqual([
      '@type',
      'address',
      'contract_type',
      'balance',
      'owner',
      'jetton',
      'jetton_wallet_code',
    ]);
    token = () => plainCollection;
    const collection = await call(listener.url, 'GET', 'getTokenData', { address });
    expect(collection.body['result']).toEqual({
      '@type': 'ext.tokens.nftCollectionData',
      address: `0:${'AB'.repeat(32)}`,
      contract_type: 'nft_collection',
      next_item_index: '-1',
      collection_content: { type: 'offchain', data: 'https://example.org/collection.json' },
    });
  });

  it('of a contract of another kind is 409', async () => {
    token = () => {
      throw new LiveError('not_a_token', 'Smart contract is not Jetton or NFT');
    };
    for (const way of reads) {
      const reply = await call(listener.url, way, 'getTokenData', { address });
      expect([reply.status, reply.body['error']]).toEqual([409, 'Smart contract is not Jetton or NFT']);
    }
  });
});
