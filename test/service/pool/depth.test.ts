import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { FULL_SHARD, MASTERCHAIN } from '#service/decode/block-id.ts';
import type { Devchain } from '#service/devchain/devchain.ts';
import { getBlockHeader, lookupBlock } from '#service/liteserver/functions.ts';
import { findEdge, reachesDepth } from '#service/pool/depth.ts';
import { forgetful } from './forgetful.ts';
import type { Keeps } from './forgetful.ts';
import { metric, openPool, patientTuning, startNetwork, unchecked, until, within } from './network.ts';

describe('the edge of what a lite server has', () => {
  const place = fc.record({
    newest: fc.integer({ min: 1, max: 50_000_000 }),
    part: fc.double({ min: 0, max: 1, noNaN: true }),
  });

  test('the edge is found in few queries, also after it moved', async () => {
    await fc.assert(
      fc.asyncProperty(place, fc.integer({ min: -300, max: 300 }), async ({ newest, part }, moved) => {
        const edge = Math.max(1, Math.round(newest * part));
        let asked = 0;
        const hasFrom = (from: number) => async (seqno: number) => {
          asked += 1;
          expect(seqno).toBeGreaterThanOrEqual(1);
          expect(seqno).toBeLessThanOrEqual(newest);
          return seqno >= from;
        };
        expect(await findEdge(newest, undefined, hasFrom(edge))).toBe(edge);
        expect(asked).toBeLessThanOrEqual(60);
        asked = 0;
        const later = Math.min(newest, Math.max(1, edge + moved));
        expect(await findEdge(newest, edge, hasFrom(later))).toBe(later);
        expect(asked).toBeLessThanOrEqual(moved === 0 ? 2 : 25);
      }),
      { seed: 11, numRuns: 300 },
    );
  });

  test('the edge is unknown when not even the newest block is there', async () => {
    expect(await findEdge(100, undefined, async () => false)).toBeUndefined();
    expect(await findEdge(100, 7, async () => false)).toBeUndefined();
  });
});

describe('the depth of a lite server', () => {
  test('a need is compared with the edge of its kind, and unmeasured data count as present', () => {
    const depth = { shardBlock: { masterchain: 100, shard: 50 } };
    const at = (chain: 'masterchain' | 'shard', seqno: number) =>
      reachesDepth(depth, { kind: 'shardBlock', chain, seqno });
    expect([at('shard', 49), at('shard', 50), at('masterchain', 99), at('masterchain', 100)]).toEqual([
      false,
      true,
      false,
      true,
    ]);
    expect(reachesDepth(depth, { kind: 'shardState', chain: 'shard', seqno: 1 })).toBe(true);
    expect(reachesDepth(depth, undefined)).toBe(true);
  });
});

describe('lite servers with history of different lengths', () => {
  let network: Devchain;
  beforeAll(async () => {
    network = await startNetwork(3);
  });
  afterAll(() => network.close());

  test('the depths of lite servers are measured, old reads go to a server with the data at the first try, and 651 never appears', async () => {
    const keepsOf = (name: string): Keeps => ({
      get masterchainBlock() {
        return keeps[name]!.blocks;
      },
      get masterchainState() {
        return keeps[name]!.states;
      },
      get shardBlock() {
        return keeps[name]!.blocks;
      },
      get shardState() {
        return keeps[name]!.states;
      },
    });
    const keeps: Record<string, { blocks: number; states: number }> = {
      ls0: { blocks: 400, states: 600 },
      ls1: { blocks: 150, states: 300 },
      ls2: { blocks: 1, states: 1 },
    };
    const tuning = { ...patientTuning, depthFirstMs: 50, depthMs: 1_200 };
    const open = openPool(network, {
      tuning,
      wrap: (server) => forgetful(network, server, keepsOf(server.name)),
    });
    const { pool, register } = open;
    try {
      await until(() => pool.status().every(({ depth }) => Object.keys(depth).length === 4));
      const edges = pool
        .status()
        .map(({ depth }) => [
          depth.masterchainBlock!.masterchain,
          depth.masterchainState!.masterchain,
          depth.shardState!.masterchain,
        ]);
      expect(edges).toEqual([
        [400, 600, 600],
        [150, 300, 300],
        // Masterchain block 1 refers to no shard block except the zero state.
        [1, 1, expect.toBeOneOf([1, 2])],
      ]);
      const before = await metric(register, 'ton_pool_attempts_total');
      const head = pool.head()!.block.seqno;
      const reads = 100;
      for (let turn = 0; turn < reads; turn += 1) {
        const seqno = 1 + ((turn * 7_919) % (head - 1));
        const { id } = network.chain.masterchain(seqno)!;
        if (turn % 2 === 0) {
          const place = { workchain: MASTERCHAIN, shard: FULL_SHARD, seqno };
          await pool.query(lookupBlock, { mode: 1, id: place }, within(60_000), unchecked);
        } else await pool.query(getBlockHeader, { id, mode: 0 }, within(60_000), unchecked);
      }
      const asked = (await metric(register, 'ton_pool_attempts_total')) - before;
      expect(asked).toBeLessThanOrEqual(reads * 1.01);

      // The edge of the server with the longest history moves. The next read finds another server, and the move is noticed soon.
      Object.assign(keeps['ls2']!, { blocks: 500, states: 700 });
      const place = { workchain: MASTERCHAIN, shard: FULL_SHARD, seqno: 200 };
      for (let turn = 0; turn < 20; turn += 1)
        await pool.query(lookupBlock, { mode: 1, id: place }, within(60_000), unchecked);
      await until(() => pool.status()[2]!.depth.masterchainBlock!.masterchain === 500);
      await expect(
        pool.query(lookupBlock, { mode: 1, id: { ...place, seqno: 100 } }, within(60_000), unchecked),
      ).rejects.toMatchObject({ code: 'pruned' });
    } finally {
      await open.close();
    }
  });
});
