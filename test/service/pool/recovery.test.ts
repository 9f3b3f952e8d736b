import { setTimeout as delay } from 'node:timers/promises';

import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';

import { MASTERCHAIN } from '#service/decode/block-id.ts';
import type { Devchain } from '#service/devchain/devchain.ts';
import { getAccountState } from '#service/liteserver/functions.ts';
import { tuningDefaults } from '#service/pool/options.ts';
import { runningMs } from '#test/support/running-time.ts';
import type { Pool } from '#service/pool/pool.ts';
import { openPool, startNetwork, unchecked, until, within } from './network.ts';
import type { Faults, PoolUnderTest } from './network.ts';

/** Times of the real service, because its promises are tested here. */
const tuning = tuningDefaults;

let network: Devchain;
let open: PoolUnderTest | undefined;

beforeAll(async () => {
  network = await startNetwork(3);
});

afterEach(async () => {
  await open?.close();
  open = undefined;
  await Promise.all(network.liteServers.map((liteServer) => liteServer.setFaults({})));
});

afterAll(() => network.close());

async function openReadyPool(): Promise<PoolUnderTest> {
  open = openPool(network, { tuning });
  const { pool } = open;
  await until(() => pool.ready() && pool.status().every(({ phase }) => phase === 'in'));
  return open;
}

async function spoil(indexes: readonly number[], fault: Faults): Promise<void> {
  for (const index of indexes) {
    const liteServer = network.liteServers[index]!;
    await liteServer.setFaults(fault);
    if (fault.transport?.refuse) liteServer.resetConnections();
  }
}

let salt = 0;

/** Measures one read, in milliseconds in which this process could run. */
async function timeRead(pool: Pool): Promise<number> {
  const { block } = pool.head()!;
  const account = { workchain: MASTERCHAIN, id: Buffer.alloc(32, ++salt) };
  return runningMs(() => pool.query(getAccountState, { id: block, account }, within(60_000), unchecked));
}

const phaseOf = (pool: Pool, index: number): string => pool.status()[index]!.phase;

const phaseChanges = ({ log }: PoolUnderTest, name: string): number =>
  log.filter(({ msg, liteServer }) => msg === 'lite server changed phase' && liteServer === name).length;

describe('a lite server that swallows everything', () => {
  test('a lite server that swallows everything is out in 2 s without any read, stays out, and is back in 10 s', async () => {
    const scene = await openReadyPool();
    const { pool } = scene;
    await spoil([1], { transport: { silent: 'answers' } });
    await until(() => phaseOf(pool, 1) === 'out', 2_000);
    for (let round = 0; round < 30; round += 1) {
      await delay(100);
      expect(phaseOf(pool, 1)).toBe('out');
    }
    expect(phaseChanges(scene, 'ls1')).toBe(1);
    await spoil([1], {});
    await until(() => phaseOf(pool, 1) === 'in', 10_000);
  });
});

describe('a lite server that reports its head and swallows reads', () => {
  test('a lite server that reports its head and swallows reads comes back only by a read that it answers', async () => {
    const scene = await openReadyPool();
    const { pool } = scene;
    await spoil([2], { only: ['getAccountState'], silent: true });
    const took: number[] = [];
    const endMs = performance.now() + 60_000;
    while (phaseOf(pool, 2) === 'in' && performance.now() < endMs) {
      took.push(...(await Promise.all([timeRead(pool), timeRead(pool), timeRead(pool)])));
      await delay(40);
    }
    expect(phaseOf(pool, 2)).toBe('out');
    expect(Math.max(...took)).toBeLessThan(tuning.overdueMs);
    const watchedMs = 4_000;
    for (let waitedMs = 0; waitedMs < watchedMs; waitedMs += 100) {
      await delay(100);
      expect(phaseOf(pool, 2)).toBe('out');
    }
    expect(phaseChanges(scene, 'ls2')).toBe(1);
    await spoil([2], {});
    await until(() => phaseOf(pool, 2) === 'in', 10_000);
  });
});

test('reads are served again after all servers were absent and the first is back', async () => {
  const { pool } = await openReadyPool();
  await spoil([0, 1, 2], { transport: { refuse: true } });
  await until(() => !pool.ready());
  await delay(4_000);
  await spoil([1], {});
  let servedMs: number | undefined;
  const serve = async (): Promise<void> => {
    await until(() => pool.ready(), 2_000);
    servedMs = await timeRead(pool);
  };
  const serving = serve();
  await until(() => servedMs !== undefined, 2_000);
  await serving;
  expect(servedMs).toBeDefined();
});
