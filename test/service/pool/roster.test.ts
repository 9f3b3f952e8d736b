import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';

import type { Devchain } from '#service/devchain/devchain.ts';
import { getBlockHeader } from '#service/liteserver/functions.ts';
import { liteServersOf, metric, openPool, patientTuning, startNetwork, unchecked, until, within } from './network.ts';
import type { PoolUnderTest } from './network.ts';
import { readHeaders, seededRandom, spoil } from './workload.ts';

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

async function openReadyPool(use: readonly number[]): Promise<PoolUnderTest> {
  open = openPool(network, { use, tuning: patientTuning });
  const { pool } = open;
  await until(() => pool.ready() && pool.status().every(({ phase }) => phase === 'in'));
  return open;
}

const read = ({ pool }: PoolUnderTest) =>
  pool.query(getBlockHeader, { id: pool.head()!.block, mode: 0 }, within(60_000), unchecked);

const attemptsAt = ({ register }: PoolUnderTest, name: string): Promise<number> =>
  metric(register, 'ton_pool_attempts_total', { lite_server: name });

describe('the lite servers in use', () => {
  test('all lite servers can be replaced while reads are in progress, and none fails', async () => {
    const scene = await openReadyPool([0]);
    const { pool } = scene;
    const [first, second, third] = liteServersOf(network);
    let isOver = false;
    const reading = readHeaders(
      { pool, network, random: seededRandom(1) },
      { callers: 4, timeoutMs: 60_000, pauseMs: 2, isOver: () => isOver },
    );
    pool.reconfigure([first!, second!, third!]);
    await until(() => pool.status().length === 3 && pool.status().every(({ phase }) => phase === 'in'));
    pool.reconfigure([second!, third!]);
    expect(pool.status().map(({ name }) => name)).toEqual(['ls1', 'ls2']);
    const left = await attemptsAt(scene, 'ls0');
    await until(() => pool.status().some(({ inFlight }) => inFlight > 0));
    isOver = true;
    const { failed, wrong } = await reading;
    expect({ failed, wrong }).toEqual({ failed: [], wrong: 0 });
    expect((await attemptsAt(scene, 'ls0')) - left).toBeLessThanOrEqual(4);
    expect(await metric(scene.register, 'ton_pool_lag_blocks', { lite_server: 'ls0' })).toBe(0);
  });

  test('removed lite servers still answer their reads', async () => {
    const scene = await openReadyPool([0]);
    const { pool } = scene;
    await spoil(network, 0, { transport: { delayMs: 150 } });
    const reading = read(scene);
    const before = pool.status()[0]!.index;
    await until(() => pool.status()[0]!.inFlight === 1);
    pool.reconfigure([liteServersOf(network)[1]!]);
    expect((await reading).liteServers).toEqual([before]);
    await until(() => pool.ready());
    expect((await read(scene)).liteServers).toEqual([before + 1]);
  });

  test('measurements of lite servers stay when only their use changes, and a cordoned one gets no reads and no blame', async () => {
    const scene = await openReadyPool([0, 1]);
    const { pool } = scene;
    const [first, second] = liteServersOf(network);
    pool.reconfigure([
      { ...first!, cordoned: true },
      { ...second!, weight: 3 },
    ]);
    expect(pool.status()).toMatchObject([
      { index: 0, phase: 'in', cordoned: true },
      { index: 1, phase: 'in', cordoned: false },
    ]);
    const before = await attemptsAt(scene, 'ls0');
    for (let turn = 0; turn < 20; turn += 1) await read(scene);
    expect((await attemptsAt(scene, 'ls0')) - before).toBe(0);
    pool.reconfigure([first!, { ...second!, cordoned: true }]);
    for (let turn = 0; turn < 20; turn += 1) expect((await read(scene)).liteServers).toEqual([0]);
    expect(pool.ready()).toBe(true);
    pool.reconfigure([
      { ...first!, cordoned: true },
      { ...second!, cordoned: true },
    ]);
    expect(pool.ready()).toBe(false);
    await expect(read(scene)).rejects.toMatchObject({ code: 'no_lite_server' });
  });
});
