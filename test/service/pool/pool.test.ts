import { trace } from '@opentelemetry/api';
import type { Context, SpanOptions, Tracer } from '@opentelemetry/api';
import { Address } from '@ton/core';
import { LiteClient } from 'ton-lite-client';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';

import { FULL_SHARD, MASTERCHAIN } from '#service/decode/block-id.ts';
import type { Devchain } from '#service/devchain/devchain.ts';
import * as functions from '#service/liteserver/functions.ts';
import { createLiteEngine } from '#service/liteserver/lite-engine.ts';
import type { LiteServer } from '#service/liteserver/liteserver.ts';
import type { Pool } from '#service/pool/pool.ts';
import type { PoolContext } from '#service/pool/reads.ts';
import { checkAccountState } from '#service/proof/account-proof.ts';
import { runningMs } from '#test/support/running-time.ts';
import { metric, openPool, patientTuning, startNetwork, unchecked, until, within } from './network.ts';
import type { PoolUnderTest } from './network.ts';

const SERVERS = 3;

let network: Devchain;
let open: PoolUnderTest | undefined;

beforeAll(async () => {
  network = await startNetwork(SERVERS, { startBehindBlocks: 400 });
});

afterEach(async () => {
  await open?.close();
  open = undefined;
  await Promise.all(network.liteServers.map((liteServer) => liteServer.setFaults({})));
});

afterAll(() => network.close());

async function openReadyPool(...[options]: [Parameters<typeof openPool>[1]?]): Promise<PoolUnderTest> {
  open = openPool(network, options);
  const { pool } = open;
  await until(() => pool.ready() && pool.status().every(({ phase }) => phase === 'in'));
  return open;
}

const elector = { workchain: MASTERCHAIN, id: Buffer.alloc(32, 0x33) };

function readElector(pool: Pool, context: PoolContext, block = pool.head()!.block) {
  return pool.query(functions.getAccountState, { id: block, account: elector }, context, {
    shareAs: 'elector',
    immutable: true,
    masterchainSeqno: block.seqno,
    check: (answer) => checkAccountState({ block, workchain: elector.workchain, account: elector.id }, answer),
  });
}

describe('the served head', () => {
  test('the served head is the real block with the real state hash, times and key block', async () => {
    const { pool } = await openReadyPool();
    const { block, stateRootHash, utime, endLt, keyBlockSeqno, init } = pool.head()!;
    const real = network.head();
    expect(block).toEqual(real.id);
    expect(stateRootHash).toEqual(network.chain.states.hash(real.state));
    expect([utime, endLt]).toEqual([real.header.utime, real.header.endLt]);
    expect(keyBlockSeqno).toBe(network.chain.keyBlocks.findLast((seqno) => seqno <= block.seqno) ?? 0);
    expect(init.rootHash).toEqual(network.chain.zeroStates[0]!.id.rootHash);
  });

  test('the served head follows every new block soon, with one wait for each lite server', async () => {
    // Neither a poll nor the end of a wait comes within the test.
    const waited: (number | undefined)[] = [];
    const wrap = (server: LiteServer): LiteServer => ({
      ...server,
      query: (fn, args, options) => {
        if (fn.name === functions.getMasterchainInfo.name) waited.push(options.waitMasterchain?.seqno);
        return server.query(fn, args, options);
      },
    });
    const { pool } = await openReadyPool({ tuning: { ...patientTuning, waitMs: 10_000 }, wrap });
    await until(() => waited.filter((seqno) => seqno !== undefined).length === SERVERS);
    waited.length = 0;
    const first = pool.head()!.block.seqno;
    const took: number[] = [];
    const blocks = Array.from({ length: 10 }, (_, index) => first + 1 + index);
    for (const next of blocks) {
      network.moveHead(next);
      took.push(await runningMs(() => until(() => pool.head()!.block.seqno === next)));
      await until(() => waited.filter((seqno) => seqno === next + 1).length === SERVERS);
    }
    expect(waited).toEqual(blocks.flatMap((seqno) => Array(SERVERS).fill(seqno + 1)));
    expect(took.toSorted((a, b) => a - b)[5]).toBeLessThan(150);
  });

  test('the served head never goes back, whatever lite servers report, and moves on with the honest ones', async () => {
    const { pool } = await openReadyPool();
    const [first, second] = network.liteServers;
    const tips = [
      { kind: 'stale', seqno: 300 },
      { kind: 'behind', blocks: 7 },
      { kind: 'backwards', blocks: 20 },
      { kind: 'future', blocks: 3_000_000 },
    ] as const;
    let before = pool.head()!.block.seqno;
    const watch = setInterval(() => {
      const { seqno } = pool.head()!.block;
      if (seqno < before) throw new Error(`the head went back from ${before} to ${seqno}`);
      before = seqno;
    }, 1);
    for (const tip of tips) {
      await first!.setFaults({ tip });
      await second!.setFaults({ tip: tips[(tips.indexOf(tip) + 1) % tips.length]! });
      for (let i = 0; i < 3; i += 1) {
        network.moveHead(network.head().id.seqno + 1);
        await new Promise((resolve) => setTimeout(resolve, 60));
        const { block } = pool.head()!;
        expect(block).toEqual(network.chain.masterchain(block.seqno)!.id);
      }
      await Promise.all([first!.setFaults({}), second!.setFaults({})]);
    }
    network.moveHead(network.head().id.seqno + 1);
    await until(() => pool.head()!.block.seqno === network.head().id.seqno);
    clearInterval(watch);
  });

  test('the served head is not moved by a single far future, even without proofs', async () => {
    await network.liteServers[1]!.setFaults({ tip: { kind: 'future', blocks: 3_000_000 } });
    const { pool } = await openReadyPool({ trust: 'none', use: [0, 1] });
    const { block } = pool.head()!;
    expect(block).toEqual(network.chain.masterchain(block.seqno)!.id);
  });
});

describe('reads', () => {
  test('identical concurrent reads are one upstream query, and later reads come from the cache', async () => {
    const { pool, register } = await openReadyPool({ tuning: patientTuning });
    const asked = (): Promise<number> => metric(register, 'ton_pool_attempts_total');
    const before = await asked();
    const answers = await Promise.all(Array.from({ length: 100 }, () => readElector(pool, within(60_000))));
    expect((await asked()) - before).toBe(1);
    expect(answers.every(({ cached, liteServers }) => !cached && liteServers.length === 1)).toBe(true);
    const again = await readElector(pool, within(60_000));
    expect(again).toEqual({ value: answers[0]!.value, liteServers: [], cached: true });
    expect((await asked()) - before).toBe(1);
    expect(await metric(register, 'ton_pool_reads_total', { source: 'joined' })).toBe(99);
    expect(await metric(register, 'ton_pool_reads_total', { source: 'cache' })).toBe(1);
  });

  test("an error of a caller's own making is not repeated at another lite server", async () => {
    const { pool, register } = await openReadyPool({ tuning: patientTuning });
    const before = await metric(register, 'ton_pool_attempts_total');
    const block = { ...pool.head()!.block, shard: 0n };
    await expect(
      pool.query(functions.getBlockHeader, { id: block, mode: 0 }, within(60_000), unchecked),
    ).rejects.toMatchObject({
      code: 'client',
    });
    expect((await metric(register, 'ton_pool_attempts_total')) - before).toBe(1);
    expect(pool.status().every(({ phase }) => phase === 'in')).toBe(true);
  });

  test('the deadline holds, and an abort ends the wait at once', async () => {
    const { pool } = await openReadyPool({ tuning: patientTuning });
    await Promise.all(
      network.liteServers.map((liteServer) => liteServer.setFaults({ only: ['getAccountState'], silent: true })),
    );
    const tookMs = await runningMs(async () => {
      await expect(readElector(pool, within(120))).rejects.toMatchObject({ code: 'deadline' });
      const leaving = new AbortController();
      const left = readElector(pool, within(60_000, leaving.signal));
      leaving.abort();
      await expect(left).rejects.toMatchObject({ code: 'aborted' });
    });
    expect(tookMs).toBeLessThan(400);
  });

  test('a lite server that is one block behind may wait for it', async () => {
    const { pool } = await openReadyPool({ use: [0] });
    const next = network.chain.masterchain(network.head().id.seqno + 1)!.id;
    const reading = readElector(pool, within(60_000), next);
    network.moveHead(next.seqno);
    expect((await reading).value.account).toBeDefined();
  });

  test('a silent lite server among three is out after a few reads and costs later ones nothing', async () => {
    const { pool } = await openReadyPool();
    await network.liteServers[0]!.setFaults({ only: ['getAccountState'], silent: true });
    const { block } = pool.head()!;
    const took: number[] = [];
    for (let i = 0; i < 40; i += 1) {
      const account = { workchain: MASTERCHAIN, id: Buffer.alloc(32, i) };
      const reads = (): Promise<unknown> =>
        Promise.all(
          [0, 1, 2].map((salt) =>
            pool.query(functions.getAccountState, { id: block, account }, within(60_000), {
              shareAs: `${salt}`,
              ...unchecked,
            }),
          ),
        );
      took.push(await runningMs(reads));
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    expect(took.toSorted((a, b) => a - b)[30]).toBeLessThan(60);
  });
});

test('every attempt is a span below the span of the read, with its lite server and outcome', async () => {
  const spans: { name: string; parent: string | undefined; attributes: Record<string, unknown>; ended: boolean }[] = [];
  const tracer = {
    startSpan(name: string, { attributes = {} }: SpanOptions, parent: Context) {
      const span = {
        name,
        parent: trace.getSpan(parent)?.spanContext().spanId,
        attributes: { ...attributes },
        ended: false,
      };
      spans.push(span);
      return {
        setAttribute: (key: string, value: unknown) => void (span.attributes[key] = value),
        setStatus: () => undefined,
        end: () => void (span.ended = true),
        spanContext: () => ({ traceId: '1'.repeat(32), spanId: '2'.repeat(16), traceFlags: 0 }),
      };
    },
  } as unknown as Tracer;
  const { pool } = await openReadyPool({ tracer, use: [0, 1] });
  const span = trace.wrapSpanContext({ traceId: '1'.repeat(32), spanId: '3'.repeat(16), traceFlags: 1 });
  await Promise.all(
    [0, 1].map((index) => network.liteServers[index]!.setFaults(index === 0 ? {} : { proof: 'wrongHash' })),
  );
  for (let salt = 0; salt < 6; salt += 1) {
    const { block } = pool.head()!;
    await pool.query(
      functions.getAccountState,
      { id: block, account: elector },
      { ...within(60_000), span },
      {
        shareAs: `${salt}`,
        check: (answer) => checkAccountState({ block, workchain: elector.workchain, account: elector.id }, answer),
      },
    );
  }
  const attempts = spans.filter(({ parent }) => parent === '3'.repeat(16));
  expect(attempts.length).toBeGreaterThanOrEqual(6);
  expect(attempts.every(({ name, ended }) => name === 'pool.attempt' && ended)).toBe(true);
  expect(attempts.map(({ attributes }) => attributes['ton.function'])).toEqual(attempts.map(() => 'getAccountState'));
  const outcomes = attempts.map(
    ({ attributes }) => `${String(attributes['ton.lite_server'])} ${String(attributes['ton.outcome'])}`,
  );
  expect(new Set(outcomes).has('ls0 ok')).toBe(true);
  expect(
    outcomes.filter((outcome) => outcome.startsWith('ls1')).every((outcome) => outcome === 'ls1 misbehaving'),
  ).toBe(true);
});

test("ton-lite-client's LiteClient runs on the pool", async () => {
  const { pool } = await openReadyPool();
  await network.liteServers[0]!.setFaults({ silent: true });
  const client = new LiteClient({
    engine: createLiteEngine({
      queryBytes: (...query) => pool.queryBytes(...query),
      isReady: () => pool.ready(),
    }),
  });
  const { last } = await client.getMasterchainInfo();
  expect(last.seqno).toBe(network.head().id.seqno);
  const address = new Address(MASTERCHAIN, elector.id);
  const state = await client.getAccountState(address, last);
  const proved = await readElector(pool, within(60_000), network.head().id);
  expect(state.lastTx?.lt.toString()).toBe(proved.value.account!.lastTransactionLt.toString());
  const header = await client.lookupBlockByID({ seqno: 5, shard: '-9223372036854775808', workchain: MASTERCHAIN });
  expect(header.id.seqno).toBe(5);
  expect(network.chain.masterchain(5)!.id).toMatchObject({
    shard: FULL_SHARD,
    rootHash: Buffer.from(header.id.rootHash),
  });
});

const resources = (): string[] =>
  process.getActiveResourcesInfo().filter((kind) => kind === 'TCPSocketWrap' || kind === 'TCPServerWrap');

test('closing settles work in progress, soon, and leaves no handle', async () => {
  const listening = resources().length;
  await Promise.all(
    network.liteServers.map((liteServer) => liteServer.setFaults({ only: ['getAccountState'], silent: true })),
  );
  const { pool } = await openReadyPool();
  const reads = [1, 2, 3].map(() => readElector(pool, within(10_000)));
  const settled = Promise.allSettled(reads);
  const tookMs = await runningMs(async () => {
    await open!.close();
    for (const outcome of await settled)
      expect(outcome).toMatchObject({ status: 'rejected', reason: { code: 'closed' } });
  });
  expect(tookMs).toBeLessThan(1_000);
  expect(pool.ready()).toBe(false);
  await expect(readElector(pool, within(1_000))).rejects.toMatchObject({ code: 'closed' });
  await expect(pool.accept(pool.head()!.block, within(1_000))).rejects.toMatchObject({ code: 'closed' });
  await until(() => resources().length <= listening);
});
