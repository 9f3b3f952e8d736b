import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import type { Infer } from '#service/contract/shape.ts';
import type { block } from '#service/v3/views/block-views.ts';
import type { MessageView } from '#service/v3/views/message-views.ts';
import type { TransactionView } from '#service/v3/views/transaction-views.ts';
import { startApiUnderTest } from '#test/support/api.ts';
import { createMigratedStore } from '#test/support/templates.ts';
import { startV3UnderTest, type Query, type V3Answer, type V3UnderTest } from '#test/support/v3-service.ts';

type BlockView = Infer<typeof block>;
type Json = Record<string, unknown>;

let service: V3UnderTest;
let scene: {
  readonly transaction: TransactionView;
  readonly message: MessageView;
  readonly external: MessageView;
  readonly block: BlockView;
};

/** An answer that must be good: by the published document, and as the transport has it. */
async function good(operation: string, query: Query = {}): Promise<Json> {
  const answer = await service.get(operation, query);
  expect({ operation, query, status: answer.status, flaws: answer.flaws }).toEqual({
    operation,
    query,
    status: 200,
    flaws: [],
  });
  expect(answer.headers.get('content-type')).toBe('application/json');
  return answer.body as Json;
}

async function list(operation: string, query: Query = {}): Promise<unknown[]> {
  const answer = await good(operation, query);
  return (answer['transactions'] ?? answer['messages'] ?? answer['blocks']) as unknown[];
}

const blocks = async (query: Query): Promise<BlockView[]> => (await list('blocks', query)) as BlockView[];
const messages = async (query: Query): Promise<MessageView[]> => (await list('messages', query)) as MessageView[];
const transactions = async (operation: string, query: Query): Promise<TransactionView[]> =>
  (await list(operation, query)) as TransactionView[];

function told({ status, body, flaws }: V3Answer): unknown[] {
  const { ok, code, error } = body as Json;
  return [status, ok, code, error, flaws];
}

const hashesOf = (items: readonly { readonly hash: string }[]): string[] => items.map(({ hash }) => hash);

const by = async (query: Query) => hashesOf(await transactions('transactionsByMessage', query)).toSorted();

describe('the ledger over HTTP', () => {
  beforeAll(async () => {
    service = await startV3UnderTest(import.meta.filename);
    const sent = await messages({ limit: 200, exclude_externals: true });
    const fromOutside = await messages({ limit: 200, only_externals: true });
    scene = {
      transaction: (await transactions('transactions', { limit: 200, workchain: 0 })).find(
        ({ out_msgs: out }) => out.length > 0,
      )!,
      message: sent.find(
        ({ value, in_msg_tx_hash: taken, out_msg_tx_hash: sender }) => value !== null && taken && sender,
      )!,
      external: fromOutside.find(({ hash_norm: normalized }) => normalized !== undefined)!,
      block: (await blocks({ workchain: 0, limit: 1 }))[0]!,
    };
  });
  afterAll(() => service.close());

  it('masterchainInfo has the first and the last block of the index', async () => {
    const { first, last } = (await good('masterchainInfo')) as { first: Json; last: Json };
    expect([first['seqno'], first['workchain'], last['workchain']]).toEqual([1, -1, -1]);
    expect(last['seqno']).toBe(service.api.network.chain.lastSeqno);
  });

  it.each([
    ['workchain', ({ workchain }: BlockView) => ({ workchain })],
    ['shard', ({ shard }: BlockView) => ({ shard })],
    ['id', ({ workchain, shard, seqno }: BlockView) => ({ workchain, shard, seqno })],
    ['hashes', ({ root_hash, file_hash }: BlockView) => ({ root_hash, file_hash })],
    ['masterchain block', ({ masterchain_block_ref: ref }: BlockView) => ({ mc_seqno: ref.seqno })],
    ['time', ({ gen_utime: at }: BlockView) => ({ start_utime: at, end_utime: at })],
    ['lt', ({ start_lt: at }: BlockView) => ({ start_lt: at, end_lt: at })],
  ])('shows blocks by %s', async (_what, queryOf) => {
    const found = await list('blocks', queryOf(scene.block));
    expect(found).toContainEqual(scene.block);
  });

  it('shows the blocks that belong to a masterchain block', async () => {
    const { seqno } = scene.block.masterchain_block_ref;
    const [tops, brought] = [
      (await list('masterchainBlockShardState', { seqno })) as BlockView[],
      (await list('masterchainBlockShards', { seqno, sort: 'asc' })) as BlockView[],
    ];
    const idsOf = (found: readonly BlockView[]) => found.map(({ workchain, seqno: at }) => [workchain, at]);
    expect(idsOf(tops)).toContainEqual([-1, seqno]);
    expect(idsOf(brought)).toContainEqual([-1, seqno]);
    expect(brought).toContainEqual(scene.block);
    expect(brought.every(({ masterchain_block_ref: ref }) => ref.seqno === seqno)).toBe(true);
  });

  it.each([
    ['account', ({ account }: TransactionView) => ({ account })],
    [
      'two accounts, separated by a comma',
      ({ account }: TransactionView) => ({ account: `${account},-1:${'33'.repeat(32)}` }),
    ],
    ['hash', ({ hash }: TransactionView) => ({ hash })],
    ['hash in hex', ({ hash }: TransactionView) => ({ hash: Buffer.from(hash, 'base64').toString('hex') })],
    ['lt', ({ lt }: TransactionView) => ({ lt })],
    ['block', ({ block_ref: { workchain, shard, seqno } }: TransactionView) => ({ workchain, shard, seqno })],
    ['masterchain block', ({ mc_block_seqno: seqno }: TransactionView) => ({ mc_seqno: seqno })],
    ['time', ({ now }: TransactionView) => ({ start_utime: now, end_utime: now })],
    ['lts', ({ lt }: TransactionView) => ({ start_lt: lt, end_lt: lt })],
    [
      'everything at once',
      ({ account, hash, lt, now }: TransactionView) => ({ account, hash, lt, start_utime: now, end_lt: lt }),
    ],
  ])('shows transactions by %s', async (_what, queryOf) => {
    expect(await list('transactions', queryOf(scene.transaction))).toContainEqual(scene.transaction);
  });

  it('sends a long answer whole, and serves on when a caller leaves one', async () => {
    const { api, key } = service.api;
    const long = `${api.url}/api/v3/transactions?limit=1000`;
    const headers = { 'x-api-key': key };
    const left = new AbortController();
    const begun = await fetch(long, { headers, signal: left.signal });
    left.abort();
    await expect(begun.text()).rejects.toThrow(/abort/);
    const response = await fetch(long, { headers });
    const bytes = Buffer.from(await response.arrayBuffer());
    expect(response.headers.get('content-length')).toBe(`${bytes.length}`);
    expect(bytes.length).toBeGreaterThan(1_000_000);
    expect((JSON.parse(bytes.toString()) as { transactions: unknown[] }).transactions).toHaveLength(1000);
  });

  it('leaves out the transactions of accounts that are excluded', async () => {
    const { account } = scene.transaction;
    const found = await transactions('transactions', { exclude_account: [account], limit: 1000 });
    expect(found.filter((one) => one.account === account)).toEqual([]);
    expect(found.length).toBeGreaterThan(0);
  });

  it('shows the transactions of a masterchain block', async () => {
    const { mc_block_seqno: seqno } = scene.transaction;
    const found = await transactions('transactionsByMasterchainBlock', { seqno, sort: 'asc', limit: 1000 });
    expect(found).toContainEqual(scene.transaction);
    expect(found.every((one) => one.mc_block_seqno === seqno)).toBe(true);
  });

  it('shows the transactions that took and sent a message', async () => {
    const { hash, in_msg_tx_hash: taken, out_msg_tx_hash: sent, opcode } = scene.message;
    expect(await by({ msg_hash: hash })).toEqual([taken!, sent!].toSorted());
    expect(await by({ msg_hash: hash, direction: 'in' })).toEqual([taken]);
    expect(await by({ msg_hash: hash, direction: 'out' })).toEqual([sent]);
    const { hash: body } = scene.message.message_content!;
    expect(await by({ body_hash: body!, limit: 1000 })).toEqual(expect.arrayContaining([taken, sent]));
    expect(await by({ opcode: opcode ?? '0x00000000', msg_hash: hash })).toEqual(opcode === null ? [] : [taken]);
    const { hash_norm: normalized, in_msg_tx_hash: consumer } = scene.external;
    expect(await by({ msg_hash: normalized! })).toContain(consumer);
  });

  it('shows the transactions before and after one', async () => {
    const { in_msg_tx_hash: taken, out_msg_tx_hash: sent } = scene.message;
    const [before, after] = [
      await transactions('adjacentTransactions', { hash: taken!, direction: 'in' }),
      await transactions('adjacentTransactions', { hash: sent!, direction: 'out' }),
    ];
    expect(hashesOf(before)).toEqual([sent]);
    expect(hashesOf(after)).toContain(taken);
    const both = hashesOf(await transactions('adjacentTransactions', { hash: taken! }));
    expect(both[0]).toBe(sent);
  });

  it.each([
    ['hash', ({ hash }: MessageView) => ({ msg_hash: hash })],
    ['hash by its old name', ({ hash }: MessageView) => ({ hash })],
    ['ends', ({ source, destination }: MessageView) => ({ source: source!, destination: destination! })],
    ['body', ({ message_content: content }: MessageView) => ({ body_hash: content!.hash! })],
    ['time', ({ created_at: at }: MessageView) => ({ start_utime: at!, end_utime: at! })],
    ['lt', ({ created_lt: at }: MessageView) => ({ start_lt: at!, end_lt: at! })],
    ['direction', ({ hash }: MessageView) => ({ direction: 'in', msg_hash: hash })],
  ])('shows messages by %s', async (_what, queryOf) => {
    expect(await list('messages', { limit: 1000, ...queryOf(scene.message) })).toContainEqual(scene.message);
  });

  it('tells messages from outside, to outside and between accounts apart', async () => {
    const all = { limit: 100 };
    const kindsOf = async (query: Query) =>
      new Set((await messages({ ...all, ...query })).map(({ source, destination }) => `${!source}${!destination}`));
    expect(await kindsOf({ source: 'null' })).toEqual(new Set(['truefalse']));
    expect(await kindsOf({ only_externals: true })).toEqual(new Set(['truefalse']));
    expect([...(await kindsOf({ exclude_externals: true }))]).not.toContain('truefalse');
    expect(await kindsOf({ exclude_externals: true, only_externals: true })).toEqual(new Set());
    const logs = await messages({ destination: 'null' });
    expect(logs.every(({ destination }) => destination === null)).toBe(true);
  });

  it('ignores the old name of the hash beside the new one', async () => {
    const { message, external } = scene;
    expect(message.hash).not.toBe(external.hash);
    expect(hashesOf(await messages({ msg_hash: message.hash, hash: external.hash }))).toEqual([message.hash]);
  });

  it('finds a message by its normalized hash', async () => {
    const { hash, hash_norm: normalized } = scene.external;
    expect(hashesOf(await messages({ msg_hash: normalized! }))).toContain(hash);
  });

  it.each(['transactions', 'messages', 'blocks'])('pages through %s without a gap or a double', async (operation) => {
    for (const sort of ['asc', 'desc']) {
      const whole = await list(operation, { limit: 90, sort });
      const pages = [];
      for (const offset of [0, 30, 60]) pages.push(...(await list(operation, { limit: 30, offset, sort })));
      expect(pages).toEqual(whole);
    }
    expect(await list(operation, { offset: 1_000_000 })).toEqual([]);
  });

  it.each(['transactions', 'transactionsByMessage', 'messages'])(
    '%s: leaves out books that nobody wants',
    async (operation) => {
      const { hash } = scene.message;
      const query = { msg_hash: hash, limit: 2 };
      expect(Object.keys((await good(operation, query))['address_book'] as Json).length).toBeGreaterThan(0);
      const bare = await service.get(operation, query, { 'X-No-Address-Book': 'true', 'X-No-Metadata': 'true' });
      expect(bare.flaws).toEqual([]);
      expect((bare.body as Json)['address_book']).toEqual({});
    },
  );

  const someHash = Buffer.alloc(32, 7).toString('base64');

  it.each([
    ['masterchainBlockShardState', {}, 404, 'blocks not found'],
    ['masterchainBlockShardState', { seqno: 'last' }, 404, 'blocks not found'],
    ['masterchainBlockShards', { seqno: 2_000_000_000 }, 404, 'blocks not found'],
    ['masterchainBlockShards', { seqno: 'last' }, 404, 'blocks not found'],
    ['transactions', { mc_seqno: 2_000_000_000 }, 404, 'masterchain block 2000000000 not found'],
    ['transactionsByMasterchainBlock', {}, 404, 'masterchain block 0 not found'],
    ['transactionsByMasterchainBlock', { seqno: 'x' }, 404, 'masterchain block 0 not found'],
    ['transactionsByMessage', {}, 422, 'at least one of msg_hash, body_hash, opcode should be specified'],
    ['transactionsByMessage', { opcode: 1, direction: 'up' }, 422, 'direction should be one of: in, out'],
    ['adjacentTransactions', { hash: someHash }, 404, 'adjacent transactions not found'],
    ['adjacentTransactions', { hash: someHash, direction: 'up' }, 422, 'direction should be one of: in, out'],
    ['adjacentTransactions', {}, 422, 'hash is required'],
    [
      'transactions',
      { account: ['x'] },
      422,
      'failed to decode: schema: error converting value for index 0 of "account"',
    ],
    ['transactions', { lt: 'x' }, 422, 'failed to decode: schema: error converting value for "lt"'],
    ['blocks', { shard: 'x' }, 422, 'failed to decode: schema: error converting value for "shard"'],
    ['messages', { opcode: 'x' }, 422, 'failed to decode: schema: error converting value for "opcode"'],
    ['messages', { source: 'nobody' }, 422, 'failed to decode: schema: error converting value for "source"'],
    ['messages', { limit: 1001 }, 422, 'limit is not allowed: 1001 > 1000'],
    ['blocks', { sort: 'up' }, 422, 'wrong value for sort parameter'],
  ])('%s refuses %j with %d', async (operation, query, status, error) => {
    expect(told(await service.get(operation, query as Query))).toEqual([status, false, status, error, []]);
  });

  it.each([
    ['transactions', { account: [`0:${'00'.repeat(32)}`] }],
    ['transactions', { hash: [someHash] }],
    ['transactions', { workchain: 7 }],
    ['transactions', { lt: '18446744073709551615' }],
    ['blocks', { root_hash: someHash }],
    ['blocks', { start_utime: 4_000_000_000 }],
    ['messages', { msg_hash: [someHash] }],
    ['transactionsByMessage', { body_hash: someHash }],
  ])('%s answers what it does not know with an empty list: %j', async (operation, query) => {
    expect(await list(operation, query as Query)).toEqual([]);
  });

  it('refuses an unknown key as every operation does', async () => {
    for (const operation of ['masterchainInfo', 'blocks', 'transactions', 'messages']) {
      const answer = await service.get(operation, {}, { 'x-api-key': 'nobody' });
      expect(told(answer)).toEqual([401, false, 401, 'API key does not exist', []]);
    }
  });

  it('ends a query at the time that the caller gives it', async () => {
    const blocker = await service.index.store.connect();
    await blocker.query('BEGIN; LOCK TABLE blocks IN ACCESS EXCLUSIVE MODE');
    const answer = await service.get('blocks', { x_timeout: 100 });
    await blocker.query('ROLLBACK');
    await blocker.end();
    expect(told(answer)).toEqual([504, false, 504, 'timeout of the query', []]);
    expect((await list('blocks')).length).toBeGreaterThan(0);
  });
});

describe('an index that has nothing yet', () => {
  it('has no ends, and lists without anything', async () => {
    const empty = await createMigratedStore(import.meta.filename);
    const api = await startApiUnderTest({ behindBlocks: 0, postgresUrl: empty.url });
    const ask = async (operation: string): Promise<[number, unknown]> => {
      const response = await fetch(`${api.api.url}/api/v3/${operation}`, { headers: { 'x-api-key': api.key } });
      return [response.status, await response.json()];
    };
    const none = { ok: false, code: 503, error: 'no block is indexed yet' };
    expect(await ask('masterchainInfo')).toEqual([503, none]);
    expect(await ask('blocks')).toEqual([200, { blocks: [] }]);
    expect(await ask('transactions?start_utime=1')).toEqual([200, { transactions: [], address_book: {} }]);
    expect(await ask('transactions?workchain=0&shard=8000000000000000')).toMatchObject([200, { transactions: [] }]);
    expect(await ask('messages')).toEqual([200, { messages: [], address_book: {}, metadata: {} }]);
    await api.close();
    await empty.close();
  });
});
