import type { CellStore } from '#service/decode/cell-store.ts';
import type { MasterchainStateDetails, MasterchainStateExtra } from '#service/decode/tlb/masterchain-state-extra.ts';
import { readMasterchainStateDetails, readMasterchainStateExtra } from '#service/decode/tlb/masterchain-state-extra.ts';
import type { ListedShard } from '#service/decode/tlb/shard-descr.ts';
import { listShardsWithFunds } from '#service/decode/tlb/shard-descr.ts';
import type { ShardState, ShardStateDetails } from '#service/decode/tlb/shard-state.ts';
import { readShardState, readShardStateDetails } from '#service/decode/tlb/shard-state.ts';
import { containsPlace } from './routing.ts';
import type { Place } from './routing.ts';
import { MASTERCHAIN } from '#service/decode/block-id.ts';

/** All that blocks read of a masterchain state. */
export type MasterchainState = ShardState &
  ShardStateDetails &
  Omit<MasterchainStateExtra, 'details'> &
  MasterchainStateDetails & { readonly root: number; readonly shards: readonly ListedShard[] };

/** Opens the state of a masterchain block. */
export function openMasterchainState(states: CellStore, root: number): MasterchainState {
  const state = readShardState(states, root);
  const { details, ...extra } = readMasterchainStateExtra(states, state.custom!);
  return {
    root,
    ...state,
    ...readShardStateDetails(states, state.details),
    ...extra,
    ...readMasterchainStateDetails(states, details),
    shards: listShardsWithFunds(states, extra.shardHashes),
  };
}

/** Returns the end lt of the newest block that the state lists for a place; 0 when there is none. */
export function endLtOf({ lt, shards }: Pick<MasterchainState, 'lt' | 'shards'>, place: Place): bigint {
  if (place.workchain === MASTERCHAIN) return lt;
  return shards.find(({ block }) => containsPlace(block, place))?.endLt ?? 0n;
}
