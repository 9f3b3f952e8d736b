import { setTimeout as delay } from 'node:timers/promises';

import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';

import type { Devchain } from '#service/devchain/devchain.ts';
import { getBlock } from '#service/liteserver/functions.ts';
import type { PoolTuning } from '#service/pool/options.ts';
import { checkBlockData } from '#service/proof/block-data-proof.ts';
import { openPool, patientTuning, startNetwork, sturdyTuning, until, within } from './network.ts';
import type { PoolUnderTest } from './network.ts';
import { badWays, forgeries, readHeaders, seededRandom, spoil } from './workload.ts';
import { someOf } from '#test/support/volume.ts';

const servers = 5;

/** Fewest reads of a seed. */
const READS_MIN = 50;

let network: Devchain;
let open: PoolUnderTest | undefined;

beforeAll(async () => {
  network = await startNetwork(servers, { startBehindBlocks: 600 });
});

afterEach(async () => {
  await open?.close();
  open = undefined;
  await Promise.all(network.liteServers.map((liteServer) => liteServer.setFaults({})));
});

afterAll(() => network.close());

async function openReadyPool(tuning: Partial<PoolTuning>): Promise<PoolUnderTest> {
  open = openPool(network, { tuning });
  const { pool } = open;
  await until(() => pool.ready() && pool.status().every(({ phase }) => phase === 'in'));
  return open;
}

describe('while lite servers fail and recover by chance and one of five stays good', () => {
  test.each(someOf([1, 2, 3], 1))(
    'while four of five lite servers fail and recover at random, no read fails or is wrong, and no caller sees time run backwards (seed %d)',
    async (seed) => {
      const random = seededRandom(seed);
      const { pool } = await openReadyPool(sturdyTuning);
      const good = Math.floor(random() * servers);
      let isOver = false;
      const begun = { reads: 0 };
      const reading = readHeaders(
        { pool, network, random: seededRandom(seed + 1_000) },
        { callers: 4, timeoutMs: 4_000, pauseMs: 5, isOver: (reads) => ((begun.reads = reads), isOver) },
      );
      for (let turn = 0; turn < 24 || begun.reads < READS_MIN; turn += 1) {
        const index = Math.floor(random() * servers);
        const faults = random() < 0.3 ? {} : badWays[Math.floor(random() * badWays.length)]!;
        if (index !== good) await spoil(network, index, faults);
        if (turn % 3 === 0) network.moveHead(network.head().id.seqno + 1);
        await delay(120);
      }
      isOver = true;
      const { failed, wrong, regressions } = await reading;
      expect({ failed, wrong, regressions }).toEqual({ failed: [], wrong: 0, regressions: 0 });
    },
  );
});

test('no forgery is accepted while four of five forge, each in another way', async () => {
  const { pool } = await openReadyPool(patientTuning);
  for (const [index, forgery] of forgeries.entries()) await spoil(network, index, forgery);
  const { failed, wrong } = await readHeaders(
    { pool, network, random: seededRandom(4) },
    { callers: 4, timeoutMs: 60_000, isOver: (reads) => reads >= 200 },
  );
  expect({ failed, wrong }).toEqual({ failed: [], wrong: 0 });
  const caught = pool.status().filter(({ cause }) => cause === 'misbehaviour');
  expect(caught.length).toBeGreaterThan(0);
  expect(caught.every(({ misbehaviours }) => misbehaviours === 1)).toBe(true);
  expect(pool.status()[4]).toMatchObject({ phase: 'in', misbehaviours: 0 });
});

test('a block is read right while four of five send 10 MB of garbage', async () => {
  const { pool } = await openReadyPool(patientTuning);
  for (let index = 0; index < 4; index += 1) await spoil(network, index, { blockBytes: 10_000_000 });
  const block = network.head();
  for (let turn = 0; turn < 4; turn += 1) {
    const { value, liteServers } = await pool.query(getBlock, { id: block.id }, within(60_000), {
      check: (answer) => {
        const root = checkBlockData({ block: block.id }, answer);
        return root.table.hash(root.cell);
      },
    });
    expect(value).toEqual(block.id.rootHash);
    expect(liteServers).toEqual([4]);
  }
});
