import type { BitWriter } from '#service/decode/bit-writer.ts';
import type { CellStore } from '#service/decode/cell-store.ts';
import { updateHashmap } from '#service/decode/hashmap-writer.ts';
import { lookupHashmap } from '#service/decode/hashmap.ts';
import type { BlockCounter, CreatorStats } from '#service/decode/tlb/creator-stats.ts';
import { NO_BLOCKS, readCreatorStats, writeCreatorStats } from '#service/decode/tlb/creator-stats.ts';

/** Statistics older than this many of their time constants count as empty. */
const FADED_AFTER = 48;

/** Adds blocks to a counter. Earlier counts decay with time (`DiscountedCounter::increase_by`). */
function countBlocks(counter: BlockCounter, count: number, utime: number): BlockCounter {
  const scaled = BigInt(count) << 32n;
  if (counter.total === 0n) {
    return { lastUpdated: utime, total: BigInt(count), count2048: scaled, count65536: scaled };
  }
  const seconds = Math.max(0, utime - counter.lastUpdated);
  return {
    lastUpdated: utime,
    total: counter.total + BigInt(count),
    count2048: fade(counter.count2048, seconds, 2048) + scaled,
    count65536: fade(counter.count65536, seconds, 65536) + scaled,
  };
}

/** Returns `value * exp(-seconds / span)`, rounded. A JavaScript number has enough digits for both. */
function fade(value: bigint, seconds: number, span: number): bigint {
  if (seconds === 0) return value;
  if (seconds >= FADED_AFTER * span) return 0n;
  return BigInt(Math.round(Number(value) * Math.exp(-seconds / span)));
}

/**
 * Updates the statistics of block creators after a masterchain block. Included shard blocks count too. Key 0 has the total of all creators.
 */
export function updateCreatorStats(
  store: CellStore,
  root: number | undefined,
  {
    creator,
    shardCreators,
    utime,
  }: { readonly creator: Buffer; readonly shardCreators: readonly Buffer[]; readonly utime: number },
): number | undefined {
  const shardCounts = new Map<string, number>();
  for (const one of shardCreators) {
    const key = one.toString('hex');
    shardCounts.set(key, (shardCounts.get(key) ?? 0) + 1);
  }
  const keys = new Set([...shardCounts.keys(), creator.toString('hex')]);
  const changes = [...keys].map((key) => {
    const isCreator = creator.toString('hex') === key;
    return change(store, root, Buffer.from(key, 'hex'), isCreator ? 1 : 0, shardCounts.get(key) ?? 0, utime);
  });
  const all = change(store, root, Buffer.alloc(32), 1, shardCreators.length, utime);
  return updateHashmap(store, root, { bits: 256 }, [...changes, all]);
}

function change(
  store: CellStore,
  root: number | undefined,
  key: Buffer,
  masterchainBlocks: number,
  shardBlocks: number,
  utime: number,
): { key: Buffer; write: (writer: BitWriter) => void } {
  const found = lookupHashmap(store, root, 256, key);
  const { masterchain, shards }: CreatorStats = found
    ? readCreatorStats(found)
    : { masterchain: NO_BLOCKS, shards: NO_BLOCKS };
  const stats = {
    masterchain: masterchainBlocks > 0 ? countBlocks(masterchain, masterchainBlocks, utime) : masterchain,
    shards: shardBlocks > 0 ? countBlocks(shards, shardBlocks, utime) : shards,
  };
  return { key, write: (writer) => void writeCreatorStats(writer, stats) };
}
