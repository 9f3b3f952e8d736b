import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';

import { FULL_SHARD, MASTERCHAIN } from '#service/decode/block-id.ts';
import { readShardState } from '#service/decode/tlb/shard-state.ts';
import { walkShardAccounts } from '#service/decode/tlb/shard-account.ts';
import type { ShardAccount } from '#service/decode/tlb/shard-account.ts';
import type { Devchain } from '#service/devchain/devchain.ts';
import { getAccountState } from '#service/liteserver/functions.ts';
import type { PoolTuning } from '#service/pool/options.ts';
import type { Pool } from '#service/pool/pool.ts';
import { checkAccountState } from '#service/proof/account-proof.ts';
import type { ProvedAccount } from '#service/proof/account-proof.ts';
import { runningMs } from '#test/support/running-time.ts';
import { metric, openPool, patientTuning, startNetwork, sturdyTuning, until, within } from './network.ts';
import type { Faults, PoolUnderTest } from './network.ts';

/** Fault of a lite server, and the errors that a caller may see when every lite server has it. */
type Fault = {
  readonly name: string;
  readonly faults: Faults;
  readonly errors: readonly string[];
  readonly lies?: true;
};

const unusable = ['no_lite_server', 'deadline'];

const faults: readonly Fault[] = [
  { name: 'refuses connections', faults: { transport: { refuse: true } }, errors: ['no_lite_server'] },
  { name: 'is silent from the handshake on', faults: { transport: { silent: 'handshake' } }, errors: unusable },
  { name: 'is silent to queries', faults: { transport: { silent: 'answers' } }, errors: unusable },
  { name: 'never answers, as one that is not synchronized', faults: { silent: true }, errors: unusable },
  { name: 'is slower than any deadline', faults: { transport: { delayMs: 5_000 } }, errors: unusable },
  { name: 'closes in the middle of a frame', faults: { transport: { halfFrame: true } }, errors: ['no_lite_server'] },
  { name: 'sends frames with a wrong hash', faults: { transport: { badFrameHash: true } }, errors: ['no_lite_server'] },
  { name: 'sends garbage', faults: { transport: { garbage: true } }, errors: ['no_lite_server', 'deadline'] },
  {
    name: 'announces frames of a wrong length',
    faults: { transport: { frameLength: 2 ** 25 } },
    errors: ['no_lite_server'],
  },
  { name: 'closes after the first frame', faults: { transport: { closeAfterFrames: 1 } }, errors: unusable },
  { name: 'is overloaded', faults: { overloadedAfterMs: 20 }, errors: unusable },
  {
    name: 'says 429',
    faults: { refuse: { code: 429, text: 'too many requests' } },
    errors: ['overloaded', 'no_lite_server'],
  },
  { name: 'says that the block is not there yet', faults: { notReady: 'lagging' }, errors: ['lagging', ...unusable] },
  { name: 'says that the block is gone', faults: { notReady: 'pruned' }, errors: ['pruned', ...unusable] },
  {
    name: 'answers about another block',
    faults: { only: ['getAccountState'], wrongId: true },
    errors: ['wrong_id'],
    lies: true,
  },
  {
    name: 'proves something else',
    faults: { only: ['getAccountState'], proof: 'wrongHash' },
    errors: ['hash_mismatch'],
    lies: true,
  },
  {
    name: 'forges the hash that a proof stores',
    faults: { only: ['getAccountState'], proof: 'storedHash' },
    errors: ['bad_merkle_proof'],
    lies: true,
  },
  {
    name: 'leaves a cell out of a proof',
    faults: { only: ['getAccountState'], proof: 'missingCell' },
    errors: ['incomplete_proof'],
    lies: true,
  },
];

const servers = 3;
const readTimeoutMs = 3_500;
let network: Devchain;
let open: PoolUnderTest | undefined;

beforeAll(async () => {
  network = await startNetwork(servers);
});

afterEach(async () => {
  await open?.close();
  open = undefined;
  await Promise.all(network.liteServers.map((liteServer) => liteServer.setFaults({})));
});

afterAll(() => network.close());

/** Opens a pool that has its first head and a report of every lite server. */
async function openReadyPool(tuning: Partial<PoolTuning> = sturdyTuning): Promise<PoolUnderTest> {
  open = openPool(network, { tuning });
  const { pool } = open;
  await until(() => pool.ready() && pool.status().every(({ phase }) => phase === 'in'));
  return open;
}

async function spoil(indexes: readonly number[], fault: Faults): Promise<void> {
  for (const index of indexes) {
    const liteServer = network.liteServers[index]!;
    await liteServer.setFaults(fault);
    if (fault.transport?.refuse || fault.transport?.closeAfterFrames) liteServer.resetConnections();
  }
}

/** Returns the first account of the newest block of the first shard, as in the recorded state. */
function knownAccount(pool: Pool): { id: Buffer; entry: ShardAccount } {
  const { chain } = network;
  const shard = chain.find(chain.masterchain(pool.head()!.block.seqno)!.shards[0]!.block)!;
  let first: { id: Buffer; entry: ShardAccount } | undefined;
  walkShardAccounts(chain.states, readShardState(chain.states, shard.state).accounts, (id, entry) => {
    first = { id, entry };
    return false;
  });
  return first!;
}

/** Reads the account, verified. Reads with different `salt` do not share. */
async function readAccount(pool: Pool, salt: number, timeoutMs = readTimeoutMs): Promise<ProvedAccount> {
  const { block } = pool.head()!;
  const account = { workchain: 0, id: knownAccount(pool).id };
  const { value } = await pool.query(getAccountState, { id: block, account }, within(timeoutMs), {
    shareAs: `test ${salt}`,
    masterchainSeqno: block.seqno,
    check: (answer) => checkAccountState({ block, workchain: account.workchain, account: account.id }, answer),
  });
  return value;
}

/** Reports whether the account is exactly as in the recorded state. */
function isRight(pool: Pool, { account }: ProvedAccount): boolean {
  const { entry } = knownAccount(pool);
  return (
    account?.lastTransactionLt === entry.lastTransactionLt &&
    account.lastTransactionHash.equals(entry.lastTransactionHash) &&
    account.table.hash(account.cell).equals(network.chain.states.hash(entry.account))
  );
}

describe('with one good lite server left, every read is right, when every other one', () => {
  test.each(faults)(
    'with one good lite server, every read is right when every other one $name',
    async ({ faults: fault, lies }) => {
      const { pool, register } = await openReadyPool();
      await spoil([0, 1], fault);
      for (let salt = 0; salt < 12; salt += 1) expect(isRight(pool, await readAccount(pool, salt))).toBe(true);
      const together = await Promise.all(Array.from({ length: 24 }, (_, salt) => readAccount(pool, 100 + salt)));
      expect(together.every((account) => isRight(pool, account))).toBe(true);
      expect(pool.status()[2]).toMatchObject({ phase: 'in', misbehaviours: 0 });
      const misbehaviours = await metric(register, 'ton_pool_misbehaviours_total');
      expect(misbehaviours > 0).toBe(lies === true);
    },
  );
});

describe('where the budget of retries is spent', () => {
  test.each(['lagging', 'pruned'] as const)(
    'a caller never sees that a block is %s while one lite server has it',
    async (notReady) => {
      open = openPool(network, { tuning: { ...sturdyTuning, retryBudget: { perRead: 0, perSecond: 0, burst: 0 } } });
      const { pool, register } = open;
      await until(() => pool.ready() && pool.status().every(({ phase }) => phase === 'in'));
      await spoil([0, 1], { only: ['getAccountState'], notReady });
      for (let salt = 0; salt < 30; salt += 1) expect(isRight(pool, await readAccount(pool, salt))).toBe(true);
      expect(await metric(register, 'ton_pool_retries_total', { event: 'made' })).toBe(0);
      // No server is left, except for errors that are no such refusal.
      await spoil([0, 1, 2], { only: ['getAccountState'], refuse: { code: 228, text: 'no' } });
      await expect(readAccount(pool, 99)).rejects.toThrow('no');
      expect(await metric(register, 'ton_pool_retries_total', { event: 'denied' })).toBeGreaterThan(0);
    },
  );
});

describe('with no good lite server left, a read ends in time with the right class of error, when every one', () => {
  test.each(faults)(
    'without a good lite server, a read ends in time with the right error when every one $name',
    async ({ faults: fault, errors }) => {
      const { pool } = await openReadyPool();
      await spoil([0, 1, 2], fault);
      let outcomes: PromiseSettledResult<unknown>[] = [];
      const tookMs = await runningMs(async () => {
        outcomes = await Promise.allSettled([0, 1, 2].map((salt) => readAccount(pool, salt, 1_000)));
      });
      expect(tookMs).toBeLessThan(1_500);
      for (const outcome of outcomes) {
        expect(outcome.status).toBe('rejected');
        expect(errors).toContain(((outcome as PromiseRejectedResult).reason as { code: string }).code);
      }
    },
  );
});

describe('from the start, with one good lite server of three, the head is right and served, when the others', () => {
  const fromTheStart: readonly Fault[] = [
    ...faults,
    { name: 'serve another network', faults: { otherZeroState: true }, errors: [] },
    { name: 'announce a far future', faults: { tip: { kind: 'future', blocks: 1_000_000 } }, errors: [] },
    { name: 'prove headers of something else', faults: { only: ['getBlockHeader'], proof: 'wrongHash' }, errors: [] },
    {
      name: 'prove block chains of something else',
      faults: { only: ['getBlockProof'], proof: 'wrongHash' },
      errors: [],
    },
    { name: 'forge hashes in block chains', faults: { only: ['getBlockProof'], proof: 'storedHash' }, errors: [] },
    { name: 'stay behind', faults: { tip: { kind: 'behind', blocks: 5 } }, errors: [] },
  ];

  test.each(fromTheStart)(
    'from the start, the head is right and served with one good lite server when the others $name',
    async ({ faults: fault }) => {
      await spoil([0, 1], fault);
      open = openPool(network, { tuning: sturdyTuning });
      const { pool } = open;
      await until(() => pool.ready());
      const head = pool.head()!.block;
      const real = network.chain.masterchain(head.seqno)!.id;
      expect(head).toEqual({ ...real, workchain: MASTERCHAIN, shard: FULL_SHARD });
      expect(isRight(pool, await readAccount(pool, 1))).toBe(true);
    },
  );
});

test('a lite server of another network is rejected for good, and logged as an error', async () => {
  await spoil([1], { otherZeroState: true });
  open = openPool(network, { tuning: sturdyTuning });
  const { pool, register, log } = open;
  await until(() => pool.ready() && pool.status()[1]!.phase === 'rejected');
  await spoil([1], {});
  expect(await metric(register, 'ton_pool_rejected_lite_servers')).toBe(1);
  const ejection = { lite_server: 'ls1', cause: 'other_network' };
  expect(await metric(register, 'ton_pool_ejections_total', ejection)).toBe(1);
  expect(log.filter(({ level, liteServer }) => level === 50 && liteServer === 'ls1')).toHaveLength(1);
  for (let salt = 0; salt < 20; salt += 1) await readAccount(pool, salt);
  expect(await metric(register, 'ton_pool_attempts_total', { lite_server: 'ls1' })).toBe(0);
  expect(pool.status()[1]).toMatchObject({ phase: 'rejected', cause: 'other_network' });
});

test('a lite server that recovers is used again', async () => {
  const { pool } = await openReadyPool();
  await spoil([0, 1, 2], { transport: { silent: 'answers' } });
  await until(() => pool.status().every(({ phase }) => phase === 'out'));
  expect(pool.ready()).toBe(false);
  await spoil([2], {});
  await until(() => pool.ready());
  expect(isRight(pool, await readAccount(pool, 1))).toBe(true);
});

test('no lite server is at fault when the process stands still while reads are in flight', async () => {
  const overdueMs = 2_000;
  const { pool } = await openReadyPool({ ...patientTuning, overdueMs });
  const reads = Array.from({ length: 24 }, (_, salt) => readAccount(pool, salt, 60_000));
  await until(() => pool.status().some(({ inFlight }) => inFlight > 0));
  const endMs = performance.now() + overdueMs + 500;
  while (performance.now() < endMs);
  for (const account of await Promise.all(reads)) expect(isRight(pool, account)).toBe(true);
  expect(pool.status().flatMap(({ recentErrors }) => recentErrors)).toEqual([]);
});
