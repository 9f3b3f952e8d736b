import { setTimeout as delay } from 'node:timers/promises';

import { beginCell, Address, external, storeMessage } from '@ton/core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';

import type { Devchain } from '#service/devchain/devchain.ts';
import { failureOf } from '#service/http/error-status.ts';
import { getBlockHeader } from '#service/liteserver/functions.ts';
import { PoolError } from '#service/pool/errors.ts';
import { tuningDefaults } from '#service/pool/options.ts';
import { metric, openPool, patientTuning, startNetwork, unchecked, until, within } from './network.ts';
import type { PoolUnderTest } from './network.ts';
import { spoil } from './workload.ts';

const SERVERS = 2;
const maxInFlight = 8;

/** Number of slots that reads may use in all. */
const places = SERVERS * (maxInFlight - 1);

/** Milliseconds of each answer, so that `places` reads take it. */
const answerMs = 80;

let network: Devchain;
let open: PoolUnderTest;

beforeAll(async () => {
  network = await startNetwork(SERVERS);
});

afterEach(() => open.close());

afterAll(() => network.close());

async function openSlowPool(tuning = {}): Promise<PoolUnderTest> {
  for (let index = 0; index < SERVERS; index += 1) await spoil(network, index, {});
  open = openPool(network, {
    uses: Array.from({ length: SERVERS }, () => ({ maxInFlight })),
    tuning: { ...tuningDefaults, ...patientTuning, depthFirstMs: 60_000, ...tuning },
  });
  const { pool } = open;
  await until(() => pool.ready() && pool.status().every(({ phase }) => phase === 'in'));
  for (let index = 0; index < SERVERS; index += 1) await spoil(network, index, { transport: { delayMs: answerMs } });
  return open;
}

const read = (signal?: AbortSignal, timeoutMs = 60_000) =>
  open.pool.query(getBlockHeader, { id: open.pool.head()!.block, mode: 0 }, within(timeoutMs, signal), unchecked);

type Ended = { code: string; retryAfterSeconds: number | undefined; tookMs: number };

async function outcomeOf(reading: Promise<unknown>): Promise<Ended> {
  const startedMs = performance.now();
  const end = (error?: unknown): Ended => ({
    code: error === undefined ? 'ok' : error instanceof PoolError ? error.code : 'another error',
    retryAfterSeconds: error instanceof PoolError ? error.data.retryAfterSeconds : undefined,
    tookMs: performance.now() - startedMs,
  });
  return reading.then(() => end(), end);
}

const timers = (): number => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;

describe('more reads than the lite servers bear', () => {
  test('excess reads wait their turn, and no lite server gets more than its limit', async () => {
    const { pool, register } = await openSlowPool();
    const reads = Array.from({ length: places * 4 }, () => outcomeOf(read()));
    let most = 0;
    const watching = setInterval(() => {
      for (const { inFlight } of pool.status()) most = Math.max(most, inFlight);
    }, 5);
    const ended = await Promise.all(reads);
    clearInterval(watching);
    expect(new Set(ended.map(({ code }) => code))).toEqual(new Set(['ok']));
    expect(most).toBeGreaterThan(1);
    expect(most).toBeLessThan(maxInFlight);
    expect(await metric(register, 'ton_pool_wait_seconds')).toBeGreaterThan(0);
    expect(await metric(register, 'ton_pool_waiters')).toBe(0);
    expect(await metric(register, 'ton_pool_shed_total')).toBe(0);
  });

  test('excess reads are refused at once when the line is full, as 503 with Retry-After', async () => {
    const waitersMax = 10;
    const { register } = await openSlowPool({ waitersMax });
    const ended = await Promise.all(Array.from({ length: places + waitersMax + 25 }, () => outcomeOf(read())));
    const refused = ended.filter(({ code }) => code === 'saturated');
    expect(refused).toHaveLength(25);
    const answered = ended.filter(({ code }) => code === 'ok');
    expect(answered).toHaveLength(places + waitersMax);
    const firstAnswerMs = Math.min(...answered.map(({ tookMs }) => tookMs));
    for (const { retryAfterSeconds, tookMs } of refused) {
      expect(retryAfterSeconds).toBeGreaterThanOrEqual(1);
      expect(tookMs).toBeLessThan(firstAnswerMs);
    }
    expect(await metric(register, 'ton_pool_shed_total', { reason: 'full' })).toBe(25);
    expect(failureOf(new PoolError('saturated', { attempts: 0, retryAfterSeconds: 7 }))).toMatchObject({
      status: 503,
      retryAfterSeconds: 7,
    });
  });

  test('excess reads are refused when no room comes in time', async () => {
    await openSlowPool({ waiterMsMax: answerMs / 2 });
    const ended = await Promise.all(Array.from({ length: places + 5 }, () => outcomeOf(read())));
    expect(ended.filter(({ code }) => code === 'saturated')).toHaveLength(5);
  });

  test('waiting reads leave the line at once when their callers leave or run out of time, and leave no timer', async () => {
    const { register } = await openSlowPool();
    await delay(50);
    const before = timers();
    const running = Array.from({ length: places }, () => outcomeOf(read()));
    await until(() => open.pool.status().every(({ inFlight }) => inFlight === maxInFlight - 1));
    const gone = new AbortController();
    const waiting = Array.from({ length: 20 }, () => outcomeOf(read(gone.signal)));
    const hasty = Array.from({ length: 5 }, () => outcomeOf(read(undefined, 20)));
    expect(await metric(register, 'ton_pool_waiters')).toBe(25);
    gone.abort();
    // No timer comes between: the hasty ones still wait.
    expect((await Promise.all(waiting)).map(({ code }) => code)).toEqual(Array(20).fill('aborted'));
    expect(await metric(register, 'ton_pool_waiters')).toBe(5);
    expect((await Promise.all(hasty)).map(({ code }) => code)).toEqual(Array(5).fill('deadline'));
    expect(await metric(register, 'ton_pool_waiters')).toBe(0);
    expect((await Promise.all(running)).map(({ code }) => code)).toEqual(Array(places).fill('ok'));
    expect(timers() - before).toBeLessThanOrEqual(2);
  });

  test('excess reads delay neither the head nor messages', async () => {
    const { pool } = await openSlowPool({ waitersMax: 500, waiterMsMax: 60_000 });
    const over = new AbortController();
    const rounds = 20;
    let answered = 0;
    const callers = Array.from({ length: places * rounds }, async () => {
      while (!over.signal.aborted) {
        const { code } = await outcomeOf(read(over.signal, 60_000));
        answered += Number(code === 'ok');
      }
    });
    /** Rounds of answers to reads during a work. Whatever waits behind the excess reads takes all rounds. */
    const roundsDuring = async (work: () => Promise<unknown>): Promise<number> => {
      const before = answered;
      await work();
      return (answered - before) / places;
    };
    try {
      await until(() => pool.status().every(({ inFlight }) => inFlight >= maxInFlight - 1));
      const next = pool.head()!.block.seqno + 1;
      network.moveHead(next);
      expect(await roundsDuring(() => until(() => pool.head()!.block.seqno === next))).toBeLessThan(rounds / 2);
      const body = beginCell().storeUint(77, 64).endCell();
      const message = beginCell()
        .store(storeMessage(external({ to: new Address(-1, Buffer.alloc(32, 0x55)), body })))
        .endCell()
        .toBoc();
      const send = async (): Promise<void> => {
        expect((await pool.broadcast(message, within(60_000))).liteServers.length).toBeGreaterThan(0);
      };
      expect(await roundsDuring(send)).toBeLessThan(rounds / 2);
    } finally {
      over.abort();
    }
    await Promise.all(callers);
  });
});
