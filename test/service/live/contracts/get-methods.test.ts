import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';

import { methodIdOf } from '#service/tvm/method-id.ts';
import type { Devchain } from '#service/devchain/devchain.ts';
import { createChainSnapshots } from '#service/live/contracts/chain-snapshot.ts';
import type { MethodCall } from '#service/live/contracts/chain-snapshot.ts';
import { createLiveGetMethods } from '#service/live/contracts/get-methods.ts';
import type { LiveGetMethods } from '#service/live/contracts/get-methods.ts';
import { createLiveTokens } from '#service/live/tokens/tokens.ts';
import { encodeStack } from '#service/tvm/stack-writer.ts';
import type { GetMethodRequest, Tvm } from '#service/tvm/tvm.ts';
import { startTvm } from '#test/service/tvm/recorded-world.ts';
import { metric, openPool, patientTuning, startNetwork, until, within } from '#test/service/pool/network.ts';
import type { Faults, PoolUnderTest } from '#test/service/pool/network.ts';

/** The elector, which reads the configuration, and a method of it. */
const elector = { workchain: -1, id: Buffer.alloc(32, 0x33) };
const call: MethodCall = { account: elector, methodId: methodIdOf('active_election_id'), stack: [] };

let network: Devchain;
let tvm: Tvm;
const opened: PoolUnderTest[] = [];

beforeAll(async () => {
  network = await startNetwork(3);
  ({ tvm } = startTvm());
});

afterEach(async () => {
  await Promise.all(opened.splice(0).map((one) => one.close()));
  await Promise.all(network.liteServers.map((liteServer) => liteServer.setFaults({})));
});

afterAll(async () => {
  await tvm.close();
  await network.close();
});

function open(options: Parameters<typeof openPool>[1] = {}): PoolUnderTest {
  const one = openPool(network, { tuning: patientTuning, ...options });
  opened.push(one);
  return one;
}

function over({ pool }: PoolUnderTest, runner: Tvm = tvm): LiveGetMethods {
  const worlds = createChainSnapshots({ trust: 'verified' }, { pool, tvm: runner, now: () => performance.now() });
  return createLiveGetMethods({ worlds });
}

/** A TVM that counts what it is asked. */
function counting(): Tvm & { readonly requests: GetMethodRequest[] } {
  const requests: GetMethodRequest[] = [];
  return {
    ...tvm,
    requests,
    runGetMethod: (request) => {
      requests.push(request);
      return tvm.runGetMethod(request);
    },
  };
}

const functions = ['getAccountState', 'getConfigAll', 'getConfigParams', 'lookupBlock'] as const;
const ways: readonly (readonly [string, Faults])[] = [
  ['answers about another block', { wrongId: true }],
  ['proofs of something else', { proof: 'wrongHash' }],
  ['a forged stored hash', { proof: 'storedHash' }],
  ['a missing cell', { proof: 'missingCell' }],
];

describe('a run is right with two of three lite servers forging', () => {
  const forgeries = functions.flatMap((name) =>
    ways.map(([way, faults]) => ({ name, way, faults: { ...faults, only: [name] } })),
  );

  test.each(forgeries)('$name: $way', async ({ faults }) => {
    const honest = open({ use: [2] });
    await until(() => honest.pool.ready());
    await Promise.all([0, 1].map((index) => network.liteServers[index]!.setFaults(faults)));
    const mixed = open();
    await until(() => mixed.pool.ready());
    const [one, other] = [over(mixed), over(honest)];
    for (const seqno of [undefined, 250]) {
      const { value } = await one.runMethod(call, seqno, within(60_000));
      const right = await other.runMethod(call, seqno ?? value.masterchainBlock.seqno, within(60_000));
      expect(value).toEqual(right.value);
      expect(value.exitCode).toBe(0);
    }
    expect(mixed.pool.status()[2]).toMatchObject({ phase: 'in', misbehaviours: 0 });
  });
});

test('the terms of a plan bound each run, and name who pays', async () => {
  const under = open();
  await until(() => under.pool.ready());
  const runner = counting();
  const methods = over(under, runner);
  const getMethods = { payer: 'key a', gas: 1000, wallMs: 70 };
  const bounded = await methods.runMethod(call, 250, { ...within(60_000), getMethods });
  const free = await methods.runMethod(call, 250, { ...within(60_000), caller: 'key b' });
  expect([bounded.value.exitCode, free.value.exitCode]).toEqual([-14, 0]);
  expect(runner.requests).toMatchObject([
    { payer: 'key a', gasLimit: 1000, wallMs: 70 },
    { caller: 'key b', gasLimit: 4_000_000 },
  ]);
});

test('with every lite server forging nothing is run', async () => {
  const { pool, register } = open();
  await until(() => pool.ready() && pool.status().every(({ phase }) => phase === 'in'));
  await Promise.all(network.liteServers.map((one) => one.setFaults({ only: ['getConfigAll'], proof: 'wrongHash' })));
  const runner = counting();
  const run = over({ pool } as PoolUnderTest, runner).runMethod(call, undefined, within(60_000));
  await expect(run).rejects.toMatchObject({ name: 'ProofError' });
  expect(runner.requests).toEqual([]);
  expect(await metric(register, 'ton_pool_misbehaviours_total')).toBe(3);
});

test('a missing library is one only when it is proved not to be there', async () => {
  const under = open();
  await until(() => under.pool.ready() && under.pool.status().every(({ phase }) => phase === 'in'));
  const asking: Tvm = {
    ...tvm,
    runGetMethod: async ({ fetchLibrary }) => {
      const library = await fetchLibrary!(Buffer.alloc(32, 0x77));
      return { exitCode: library === undefined ? 9 : 0, gasUsed: 1n, stack: [], missingLibraries: [] };
    },
  };
  const { value } = await over(under, asking).runMethod(call, undefined, within(60_000));
  expect(value.exitCode).toBe(9);
  await Promise.all(
    network.liteServers.map((one) => one.setFaults({ only: ['getLibrariesWithProof'], proof: 'wrongHash' })),
  );
  const forged = over(under, asking).runMethod(call, undefined, within(60_000));
  await expect(forged).rejects.toMatchObject({ name: 'ProofError' });
});

describe('runs at one block', () => {
  test('are done once for all who ask, and then come from what is kept', async () => {
    const under = open();
    await until(() => under.pool.ready());
    const runner = counting();
    const live = over(under, runner);
    const answers = await Promise.all([1, 2, 3].map(() => live.runMethod(call, undefined, within(60_000))));
    expect(runner.requests).toHaveLength(1);
    for (const answer of answers) expect(answer).toMatchObject({ cached: false, value: answers[0]!.value });
    const again = await live.runMethod(call, undefined, within(60_000));
    expect(again).toEqual({ value: answers[0]!.value, liteServers: [], cached: true });
    expect(runner.requests).toHaveLength(1);
    await live.runMethod({ ...call, stack: [{ type: 'null' }] }, undefined, within(60_000));
    await live.runMethod({ ...call, methodId: methodIdOf('participant_list_extended') }, undefined, within(60_000));
    await live.runMethod({ ...call, account: { ...elector, id: Buffer.alloc(32, 0x55) } }, undefined, within(60_000));
    await live.runMethod(call, 250, within(60_000));
    expect(runner.requests).toHaveLength(5);
  });

  test('have their arguments written once, for the key and for the TVM', async () => {
    const under = open();
    await until(() => under.pool.ready());
    const runner = counting();
    const stack = [{ type: 'tuple', items: Array.from({ length: 255 }, () => ({ type: 'null' }) as const) }] as const;
    await over(under, runner).runMethod({ ...call, stack }, undefined, within(60_000));
    await over(under, runner).runMethod(call, undefined, within(60_000));
    expect(runner.requests.map(({ written }) => written)).toEqual([encodeStack(stack), undefined]);
  });

  test('share the configuration of their key block and the blocks before', async () => {
    const under = open();
    await until(() => under.pool.ready());
    const runner = counting();
    const live = over(under, runner);
    await live.runMethod(call, undefined, within(60_000));
    await live.runMethod({ ...call, methodId: 1 }, undefined, within(60_000));
    const [first, second] = runner.requests;
    expect(first!.config).toBe(second!.config);
    expect(first!.previousBlocks).toBe(second!.previousBlocks);
    expect(first!.previousBlocks!.last[0]).toEqual(network.head().id);
    expect(first!.utime).toBe(network.head().header.utime);
    expect(first!.randSeed).toEqual(Buffer.alloc(32));
  });

  test('that wait for one run end with their own deadline, and the run goes on for others', async () => {
    const under = open();
    await until(() => under.pool.ready());
    const { promise: permission, resolve: finish } = Promise.withResolvers<void>();
    const slow: Tvm = { ...tvm, runGetMethod: (request) => permission.then(() => tvm.runGetMethod(request)) };
    const live = over(under, slow);
    const impatient = live.runMethod(call, undefined, within(300));
    const patient = live.runMethod(call, undefined, within(60_000));
    await expect(impatient).rejects.toMatchObject({ code: 'deadline' });
    finish();
    expect((await patient).value.exitCode).toBe(0);
  });
});

describe('an account without code', () => {
  test.each([
    ['in a workchain with shards', 0],
    ['in a workchain without', 7],
  ])('%s gives -13, the arguments and the id of the method', async (_name, workchain) => {
    const under = open();
    await until(() => under.pool.ready());
    const account = { workchain, id: Buffer.alloc(32, 0x99) };
    const { value } = await over(under).runMethod(
      { account, methodId: 85143, stack: [{ type: 'null' }] },
      undefined,
      within(60_000),
    );
    expect(value).toMatchObject({
      exitCode: -13,
      gasUsed: 0n,
      stack: [{ type: 'null' }, { type: 'int', value: 85143n }],
      lastTransaction: { lt: 0n, hash: Buffer.alloc(32) },
    });
  });
});

test.each([
  [
    'too many entries',
    Array.from({ length: 8001 }, () => ({ type: 'null' }) as const),
    'TVM stack size exceeds limit: the stack has more than 8000 entries',
  ],
  [
    'too deep',
    Array.from({ length: 1025 }, () => ({ type: 'null' }) as const),
    'TVM stack size exceeds limit: the stack is deeper than 1024 cells',
  ],
  [
    'a tuple of more items than the VM has',
    [{ type: 'tuple', items: Array.from({ length: 256 }, () => ({ type: 'null' }) as const) } as const],
    'a tuple has at most 255 items',
  ],
])("arguments that are no stack are the caller's mistake: %s", async (_name, stack, message) => {
  const under = open();
  await until(() => under.pool.ready());
  const run = over(under).runMethod({ ...call, stack }, undefined, within(60_000));
  await expect(run).rejects.toMatchObject({ code: 'bad_stack', message });
});

test('a full queue and a closed TVM are told as such, by tokens too', async () => {
  const under = open();
  await until(() => under.pool.ready());
  const { tvm: closed } = startTvm();
  await closed.close();
  await expect(over(under, closed).runMethod(call, undefined, within(60_000))).rejects.toMatchObject({
    code: 'tvm_closed',
  });
  const worlds = createChainSnapshots(
    { trust: 'verified' },
    { pool: under.pool, tvm: closed, now: () => performance.now() },
  );
  const token = createLiveTokens({ network: 'custom' }, { worlds }).readToken(elector, undefined, within(60_000));
  await expect(token).rejects.toMatchObject({ code: 'tvm_closed' });
  const { tvm: narrow } = startTvm({ queueMax: 1, workers: 1 });
  const live = over(under, narrow);
  const runs = await Promise.allSettled(
    Array.from({ length: 8 }, (_, index) => live.runMethod({ ...call, methodId: index }, undefined, within(60_000))),
  );
  const refused = runs
    .filter((run) => run.status === 'rejected')
    .map(({ reason }) => (reason as { code: string }).code);
  expect(refused.length).toBeGreaterThan(0);
  expect(new Set(refused)).toEqual(new Set(['tvm_queue_full']));
  await narrow.close();
});
