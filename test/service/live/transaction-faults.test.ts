import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';

import type { Devchain } from '#service/devchain/devchain.ts';
import type { LiveTransactions } from '#service/live/transactions/transactions.ts';
import type { PoolTuning } from '#service/pool/options.ts';
import type { ReadContext } from '#service/contract/answer.ts';
import { openPool, patientTuning, startNetwork, until, within } from '../pool/network.ts';
import type { Faults } from '../pool/network.ts';
import { makeTransactions } from './recorded-transactions.ts';

/** Each function that reads of transactions are made of, forged in each way that its answers can be. */
const ways: readonly (readonly [string, Faults])[] = [
  ['answers about another block', { wrongId: true }],
  ['proofs of something else', { proof: 'wrongHash' }],
  ['a forged stored hash', { proof: 'storedHash' }],
  ['a missing cell', { proof: 'missingCell' }],
];
const functions = [
  'getAccountState',
  'lookupBlockWithProof',
  'listBlockTransactions',
  'listBlockTransactionsExt',
] as const;
const forgeries = functions.flatMap((name) =>
  ways.map(([way, faults]) => ({ name, way, faults: { ...faults, only: [name] } })),
);

const elector = { workchain: -1, id: Buffer.alloc(32, 0x33) };
const block = { workchain: -1, shard: 0x8000000000000000n, seqno: 300 };

let network: Devchain;
let cleanups: (() => Promise<void>)[] = [];

beforeAll(async () => {
  network = await startNetwork(3);
});

afterEach(async () => {
  for (const cleanUp of cleanups.toReversed()) await cleanUp();
  cleanups = [];
  await Promise.all(network.liteServers.map((liteServer) => liteServer.setFaults({})));
});

afterAll(() => network.close());

async function open(options: Parameters<typeof openPool>[1] = {}) {
  const pool = openPool(network, { tuning: patientTuning, ...options });
  const made = makeTransactions(pool.pool);
  cleanups.push(() => pool.close(), made.close);
  await until(() => pool.pool.ready());
  return { live: made.live, pool: pool.pool };
}

/** A read of each kind, as plain values. */
async function readAll(live: LiveTransactions, context: () => ReadContext): Promise<unknown> {
  const history = await live.readTransactions(elector, { limit: 40, toLt: 0n }, context());
  const names = await live.listBlock(block, { count: 5 }, context());
  const whole = await live.readBlockTransactions(block, { count: 5 }, context());
  return {
    history: history.value.transactions.map(({ table, transaction }) => table.hash(transaction.cell).toString('hex')),
    names: names.value,
    whole: whole.value.transactions.map(({ table, transaction }) => table.hash(transaction.cell).toString('hex')),
  };
}

describe('transactions are right with two of three lite servers', () => {
  test.each(forgeries)('forging $name: $way', async ({ faults }) => {
    const honest = await open({ use: [2] });
    const expected = await readAll(honest.live, () => within(60_000));
    await Promise.all([0, 1].map((index) => network.liteServers[index]!.setFaults(faults)));
    const { live, pool } = await open();
    expect(await readAll(live, () => within(60_000))).toEqual(expected);
    expect(pool.status()[2]).toMatchObject({ phase: 'in', misbehaviours: 0 });
  });

  test.each<[string, Faults, Partial<PoolTuning>?]>([
    ['without the history', { notReady: 'pruned', only: ['getTransactions', 'listBlockTransactions'] }],
    ['behind', { notReady: 'lagging', only: ['getTransactions', 'lookupBlockWithProof'] }],
    ['refusing', { refuse: { code: 228, text: 'ratelimit' }, only: ['getTransactions'] }],
    [
      'silent',
      { silent: true, only: ['getTransactions', 'listBlockTransactionsExt'] },
      { ...patientTuning, slowAfterMs: 60 },
    ],
  ])('%s', async (_way, faults, tuning = patientTuning) => {
    const honest = await open({ use: [2] });
    const expected = await readAll(honest.live, () => within(60_000));
    await Promise.all([0, 1].map((index) => network.liteServers[index]!.setFaults(faults)));
    const { live } = await open({ tuning });
    expect(await readAll(live, () => within(60_000))).toEqual(expected);
  });
});

test('a history that no lite server has is their error, told as it is', async () => {
  const faults: Faults = {
    refuse: { code: -400, text: 'cannot compute block with specified transaction: lt not in db' },
  };
  const { live } = await open();
  await Promise.all(network.liteServers.map((one) => one.setFaults({ ...faults, only: ['getTransactions'] })));
  const asked = live.readTransactions(elector, { limit: 40, toLt: 0n }, within(60_000));
  await expect(asked).rejects.toMatchObject({ code: 'pruned', data: { serverCode: -400 } });
});
