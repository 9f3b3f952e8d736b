import { setTimeout as delay } from 'node:timers/promises';

import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';

import { FULL_SHARD, MASTERCHAIN } from '#service/decode/block-id.ts';
import type { Devchain } from '#service/devchain/devchain.ts';
import { getAccountState, getBlockHeader, lookupBlock } from '#service/liteserver/functions.ts';
import type { ReadAccess } from '#service/pool/read-access.ts';
import type { PoolLiteServer } from '#service/pool/options.ts';
import { liteServersOf, metric, openPool, patientTuning, startNetwork, unchecked, until, within } from './network.ts';
import type { PoolUnderTest } from './network.ts';
import { readHeaders, seededRandom } from './workload.ts';

const SERVERS = 4;

let network: Devchain;
let open: PoolUnderTest;

beforeAll(async () => {
  network = await startNetwork(SERVERS);
});

afterEach(() => open.close());

afterAll(() => network.close());

async function openReadyPool(uses: readonly Partial<PoolLiteServer>[], tuning = {}): Promise<PoolUnderTest> {
  open = openPool(network, { uses, tuning: { ...patientTuning, depthFirstMs: 60_000, ...tuning } });
  const { pool } = open;
  await until(() => pool.ready() && pool.status().every(({ phase }) => phase === 'in'));
  return open;
}

const count = () =>
  Promise.all(
    Array.from({ length: SERVERS }, (_, index) =>
      metric(open.register, 'ton_pool_attempts_total', { lite_server: `ls${index}` }),
    ),
  );

/** Returns the queries that each lite server got during `work`. */
async function asked(work: () => Promise<unknown>): Promise<number[]> {
  const before = await count();
  await work();
  await until(() => open.pool.status().every(({ inFlight }) => inFlight === 0));
  return (await count()).map((after, index) => after - before[index]!);
}

const block = (seqno: number) => network.chain.masterchain(seqno)!.id;

function readAt(seqno: number, access?: ReadAccess, shareAs?: string) {
  const context = { ...within(60_000), ...(access && { access }) };
  return open.pool.query(getBlockHeader, { id: block(seqno), mode: 0 }, context, {
    check: ({ id }) => id.seqno,
    ...(shareAs !== undefined && { shareAs, immutable: true }),
  });
}

describe('lite servers of several tiers', () => {
  const uses = [{ tier: 'private' }, { tier: 'shared' }, { tier: 'private' }, { tier: 'shared' }] as const;
  const shared = { archive: false, liteServerTiers: ['shared'] };
  const paid = { archive: true, liteServerTiers: ['private'] };

  test('lite servers of a tier are used only by plans that name the tier, also by many at once', async () => {
    const { pool } = await openReadyPool(uses);
    const head = pool.head()!.block.seqno;
    const many = (access: ReadAccess) => () => Promise.all(Array.from({ length: 60 }, () => readAt(head, access)));
    const byShared = await asked(many(shared));
    expect([byShared[0], byShared[2]]).toEqual([0, 0]);
    expect(byShared[1]! + byShared[3]!).toBeGreaterThanOrEqual(60);
    const byPaid = await asked(many(paid));
    expect([byPaid[1], byPaid[3]]).toEqual([0, 0]);
    const sent = await asked(async () => {
      await pool
        .broadcast(Buffer.from('b5ee9c7201010101000200000000', 'hex'), { ...within(60_000), access: shared })
        .catch(() => undefined);
    });
    expect([sent[0], sent[2]]).toEqual([0, 0]);
    expect(sent[1]! + sent[3]!).toBe(2);
  });

  test('answers of a tier are valid for all plans: a cached proved answer costs no query', async () => {
    const { pool } = await openReadyPool(uses);
    const head = pool.head()!.block.seqno;
    await readAt(head - 1, paid, 'tiers');
    expect(await asked(() => readAt(head - 1, shared, 'tiers'))).toEqual([0, 0, 0, 0]);
  });

  test('plans with different lite servers make their own queries', async () => {
    const { pool } = await openReadyPool(uses);
    const seqno = pool.head()!.block.seqno - 2;
    const counts = await asked(() =>
      Promise.all([paid, shared, paid, shared].map((access) => readAt(seqno, access, 'own'))),
    );
    expect([counts[0]! + counts[2]!, counts[1]! + counts[3]!]).toEqual([1, 1]);
  });

  test('a plan without a server of its tier in use gets 503, whatever other servers there are', async () => {
    const { pool } = await openReadyPool(uses);
    pool.reconfigure(liteServersOf(network).map((liteServer) => ({ ...liteServer, tier: 'private' })));
    await expect(readAt(pool.head()!.block.seqno, shared)).rejects.toMatchObject({ code: 'no_lite_server' });
    await readAt(pool.head()!.block.seqno, paid);
  });
});

const at = (workchain: number, shard: bigint, seqno: number) => ({ workchain, shard, seqno, utime: 0, lt: 0n });
/** Masterchain blocks 100 to 300 and nothing else; all of the masterchain and the base chain. */
const slices = [{ from: [at(MASTERCHAIN, FULL_SHARD, 100)], to: [at(MASTERCHAIN, FULL_SHARD, 300)] }];
const whole = [{ from: [at(MASTERCHAIN, FULL_SHARD, 0), at(0, FULL_SHARD, 0)], to: [] }];
const onlyMasterchain = [{ from: [at(MASTERCHAIN, FULL_SHARD, 0)], to: [] }];

describe('lite servers with slices', () => {
  test('lite servers with slices get reads of their parts only, and do not count for the head before they have the newest block', async () => {
    const { pool } = await openReadyPool([{ slices }, { slices: onlyMasterchain }, { slices: whole }]);
    const old = await asked(() => Promise.all(Array.from({ length: 200 }, () => readAt(200))));
    expect(old[0]).toBeGreaterThan(0);
    const others = await asked(() =>
      Promise.all(
        Array.from({ length: 100 }, async (_, turn) => {
          await readAt(turn % 2 === 0 ? 50 : 301);
          await pool.query(
            lookupBlock,
            { mode: 1, id: { workchain: MASTERCHAIN, shard: FULL_SHARD, seqno: 301 } },
            within(60_000),
            unchecked,
          );
        }),
      ),
    );
    expect(others[0]).toBe(0);
    const accounts = await asked(() =>
      Promise.all(
        Array.from({ length: 100 }, (_, turn) =>
          pool.query(
            getAccountState,
            { id: block(200), account: { workchain: 0, id: Buffer.alloc(32, turn) } },
            within(60_000),
            unchecked,
          ),
        ),
      ),
    );
    expect([accounts[0], accounts[1]]).toEqual([0, 0]);
  });

  test('lite servers with slices of the past alone do not make a pool ready', async () => {
    const uses = Array.from({ length: SERVERS }, () => ({ slices }));
    open = openPool(network, { uses });
    const { pool } = open;
    await until(() => pool.status().every(({ phase }) => phase === 'in'));
    await delay(100);
    expect(pool.head()).toBeUndefined();
    expect(pool.ready()).toBe(false);
  });
});

/** Fewest reads that meet a change of the configuration. */
const READS_MIN = 500;

describe('the configuration', () => {
  test('the configuration changes at random under load, every 20 ms, and no read fails', async () => {
    const { pool } = await openReadyPool([]);
    const random = seededRandom(5);
    const all = liteServersOf(network);
    let isOver = false;
    const begun = { reads: 0 };
    const reading = readHeaders(
      { pool, network, random: seededRandom(6) },
      { callers: 12, timeoutMs: 60_000, isOver: (reads) => ((begun.reads = reads), isOver) },
    );
    const changes = { removed: 0, cordoned: 0, weights: new Set<number>() };
    for (let turn = 0; turn < 120 || begun.reads < READS_MIN; turn += 1) {
      // The first one stays in use, because the score of an added server is not known at once.
      const wanted = all.flatMap((liteServer, index) => {
        if (index > 0 && random() < 0.3) {
          changes.removed += 1;
          return [];
        }
        const cordoned = index > 0 && random() < 0.3;
        const weight = 1 + Math.floor(random() * 100);
        if (cordoned) changes.cordoned += 1;
        changes.weights.add(weight);
        const maxInFlight = 16 + Math.floor(random() * 200);
        return [
          {
            ...liteServer,
            cordoned,
            weight,
            maxInFlight,
            role: random() < 0.5 ? ('archive' as const) : ('latest' as const),
          },
        ];
      });
      pool.reconfigure(wanted);
      await delay(20);
    }
    isOver = true;
    const { failed, wrong } = await reading;
    expect({ failed, wrong }).toEqual({ failed: [], wrong: 0 });
    expect(changes.removed).toBeGreaterThan(50);
    expect(changes.cordoned).toBeGreaterThan(50);
    expect(changes.weights.size).toBeGreaterThan(50);
  });
});
