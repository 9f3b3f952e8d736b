import { walkShardAccounts } from '#service/decode/tlb/shard-account.ts';
import type { ShardAccount } from '#service/decode/tlb/shard-account.ts';
import { readShardState } from '#service/decode/tlb/shard-state.ts';
import type { BlockReader } from './block-reader.ts';

export type ChangedAccount = { readonly id: Buffer; readonly account: ShardAccount };

/** The accounts that the new side of the Merkle update of the shard's state shows, by id. */
export function changedAccounts({ table, stateUpdate }: Pick<BlockReader, 'table' | 'stateUpdate'>): ChangedAccount[] {
  const changed: ChangedAccount[] = [];
  const { accounts } = readShardState(table, table.ref(stateUpdate, 1));
  // The block wrote only to addresses without an account.
  if (table.kind(accounts) === 'pruned') return changed;
  walkShardAccounts(table, accounts, (id, account) => void changed.push({ id, account }), { skipPruned: true });
  return changed;
}
