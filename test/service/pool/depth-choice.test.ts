import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { MASTERCHAIN } from '#service/decode/block-id.ts';
import type { Devchain } from '#service/devchain/devchain.ts';
import { getAccountState, getBlockHeader, getConfigParams, lookupBlock } from '#service/liteserver/functions.ts';
import { depthKinds } from '#service/pool/depth.ts';
import type { Pool } from '#service/pool/pool.ts';
import { forgetful } from './forgetful.ts';
import type { Keeps } from './forgetful.ts';
import { metric, openPool, startNetwork, until, within } from './network.ts';
import { seededRandom } from './workload.ts';

const SERVERS = 5;

let network: Devchain;
beforeAll(async () => {
  network = await startNetwork(SERVERS);
}, 60_000);
afterAll(() => network.close());

/** What each lite server keeps: the last one everything, the others less, states less than blocks, shards apart from the masterchain. */
function drawKeeps(random: () => number, head: number): Keeps[] {
  const upTo = (most: number): number => 1 + Math.floor(random() * most);
  return Array.from({ length: SERVERS }, (_, index) => {
    if (index === SERVERS - 1) return { masterchainBlock: 1, masterchainState: 1, shardBlock: 1, shardState: 1 };
    const masterchainBlock = upTo(head * 0.6);
    const shardBlock = Math.min(head - 20, masterchainBlock + upTo(60));
    const masterchainState = Math.min(head - 20, shardBlock + upTo(head * 0.3));
    return {
      masterchainBlock,
      shardBlock,
      masterchainState,
      shardState: Math.min(head - 10, masterchainState + upTo(40)),
    };
  });
}

/** One read of something old, of any kind: masterchain or shard, block or state. */
async function readOld(pool: Pool, random: () => number): Promise<void> {
  const seqno = 2 + Math.floor(random() * (pool.head()!.block.seqno - 2));
  const { id, shards } = network.chain.masterchain(seqno)!;
  const shard = shards[Math.floor(random() * shards.length)]!;
  const shardId = shard.block;
  const account = { workchain: 0, id: Buffer.alloc(32, Math.floor(random() * 256)) };
  const context = within(5_000);
  const ways: (() => Promise<unknown>)[] = [
    () => pool.query(getBlockHeader, { id, mode: 0 }, context),
    () => pool.query(lookupBlock, { mode: 1, id: { workchain: MASTERCHAIN, shard: id.shard, seqno } }, context),
    () => pool.query(getConfigParams, { mode: 0, id, paramList: [8] }, context),
    () => pool.query(getAccountState, { id, account }, context),
    () => pool.query(getBlockHeader, { id: shardId, mode: 0 }, context),
    () =>
      pool.query(lookupBlock, { mode: 1, id: { workchain: 0, shard: shardId.shard, seqno: shardId.seqno } }, context),
  ];
  await ways[Math.floor(random() * ways.length)]!();
}

describe('reads of old blocks and states, of the masterchain and of shards', () => {
  test.each([1, 2, 3])(
    'go first to a lite server that has it, at least 99 of 100, and none fails: seed %i',
    { timeout: 240_000 },
    async (seed) => {
      const random = seededRandom(seed);
      const keeps = drawKeeps(random, network.head().id.seqno);
      const open = openPool(network, {
        tuning: { slowAfterMs: 5_000, overdueMs: 5_000, depthFirstMs: 10, depthMs: 60_000 },
        wrap: (server) => forgetful(network, server, keeps[Number(server.name.slice(2))]!),
      });
      const { pool, register } = open;
      try {
        await until(
          () => pool.status().every(({ depth }) => depthKinds.every((kind) => depth[kind] !== undefined)),
          30_000,
        );
        const count = () => metric(register, 'ton_pool_attempts_total');
        const before = await count();
        const reads = 1_000;
        for (let turn = 0; turn < reads; turn += 1) await readOld(pool, random);
        expect((await count()) - before).toBeLessThanOrEqual(reads * 1.01);
      } finally {
        await open.close();
      }
    },
  );
});
