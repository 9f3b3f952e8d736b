import { MASTERCHAIN } from '#service/decode/block-id.ts';
import type { Devchain } from '#service/devchain/devchain.ts';
import { getAccountState, getBlockHeader, getConfigParams, lookupBlock } from '#service/liteserver/functions.ts';
import type { Pool } from '#service/pool/pool.ts';
import type { Keeps } from './forgetful.ts';
import { unchecked, within } from './network.ts';

/**
 * Draws the history of each lite server. The last one has everything, others less, states less than blocks, shards separately from the masterchain.
 */
export function drawKeeps(random: () => number, head: number, servers: number): Keeps[] {
  const upTo = (most: number): number => 1 + Math.floor(random() * most);
  return Array.from({ length: servers }, (_, index) => {
    if (index === servers - 1) return { masterchainBlock: 1, masterchainState: 1, shardBlock: 1, shardState: 1 };
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

/** Reads something old of any kind: masterchain or shard, block or state. */
export async function readOld(network: Devchain, pool: Pool, random: () => number): Promise<void> {
  const seqno = 2 + Math.floor(random() * (pool.head()!.block.seqno - 2));
  const { id, shards } = network.chain.masterchain(seqno)!;
  const shard = shards[Math.floor(random() * shards.length)]!;
  const shardId = shard.block;
  const account = { workchain: 0, id: Buffer.alloc(32, Math.floor(random() * 256)) };
  const context = within(60_000);
  const ways: (() => Promise<unknown>)[] = [
    () => pool.query(getBlockHeader, { id, mode: 0 }, context, unchecked),
    () =>
      pool.query(lookupBlock, { mode: 1, id: { workchain: MASTERCHAIN, shard: id.shard, seqno } }, context, unchecked),
    () => pool.query(getConfigParams, { mode: 0, id, paramList: [8] }, context, unchecked),
    () => pool.query(getAccountState, { id, account }, context, unchecked),
    () => pool.query(getBlockHeader, { id: shardId, mode: 0 }, context, unchecked),
    () =>
      pool.query(
        lookupBlock,
        { mode: 1, id: { workchain: 0, shard: shardId.shard, seqno: shardId.seqno } },
        context,
        unchecked,
      ),
  ];
  await ways[Math.floor(random() * ways.length)]!();
}
