import type { BlockId } from '../decode/block-id.ts';
import { sameBlock } from '../decode/block-id.ts';
import type { CellTable } from '../decode/cell-table.ts';
import type { BlockInfo } from '../decode/tlb/block-info.ts';
import type { ProvedHeader } from './header-proof.ts';

/** List of shards in a masterchain state, as far as a proof shows it. */
export type KnownShards = {
  readonly masterchain: ProvedHeader;
  readonly table: CellTable;
  readonly shardHashes: number | undefined;
};

/** Header of a block, and the hash of the state after it. */
export type KnownState = { readonly info: BlockInfo; readonly stateHash: Buffer };

/**
 * Cache of facts about blocks from checks of accounts. The next account of the same blocks then needs only its own path proved. All facts follow from
 * a block's id, so they never expire.
 */
export type ProvedBlockCache = {
  /** Returns the facts shown by these very bytes, given as the proof of a shard of the block. */
  shards(block: BlockId, proof: Buffer, read: () => KnownShards): KnownShards;
  /** Returns undefined for an unknown block. */
  state(block: BlockId): KnownState | undefined;
  noteState(block: BlockId, state: KnownState): void;
};

/** Most cached proofs of shards: one for each shard of each masterchain block that is read, of some kilobytes. */
const SHARDS_MAX = 64;

/** Most cached states: one for each shard of each masterchain block that is read. */
const STATES_MAX = 1_024;

type Entry<T> = { readonly block: BlockId; readonly value: T };

export function createProvedBlockCache(): ProvedBlockCache {
  const shardProofs = new Map<string, Entry<KnownShards> & { readonly proof: Buffer }>();
  const states = new Map<string, Entry<KnownState>>();

  return {
    shards(block, proof, read) {
      const end = proof.length;
      // Proofs of a block differ by the shard that they show. Their length and last hash distinguish most of them, and their bytes all.
      const key = `${nameOf(block)} ${end} ${proof.toString('latin1', Math.max(0, end - 36))}`;
      const known = shardProofs.get(key);
      if (known !== undefined && sameBlock(known.block, block) && known.proof.equals(proof)) return known.value;
      const value = read();
      keep(shardProofs, key, { block, proof, value }, SHARDS_MAX);
      return value;
    },
    state(block) {
      const known = states.get(nameOf(block));
      return known !== undefined && sameBlock(known.block, block) ? known.value : undefined;
    },
    noteState: (block, value) => keep(states, nameOf(block), { block, value }, STATES_MAX),
  };
}

function nameOf({ rootHash }: BlockId): string {
  return rootHash.toString('latin1');
}

/** Adds an entry; the oldest is evicted. */
function keep<T>(entries: Map<string, T>, key: string, entry: T, max: number): void {
  entries.delete(key);
  entries.set(key, entry);
  const [oldest] = entries.keys();
  if (entries.size > max && oldest !== undefined) entries.delete(oldest);
}
