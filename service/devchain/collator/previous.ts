import type { CellStore } from '#service/decode/cell-store.ts';
import type { ShardIdent } from '#service/decode/tlb/shard-ident.ts';
import type { Before } from './before.ts';
import { openBefore } from './before.ts';

/** What a chain stood at before its next block. */
export function openPrevious(
  states: CellStore,
  shard: ShardIdent,
  previous: readonly { readonly state: number }[],
): Before {
  const [first] = previous.map(({ state }) => openBefore(states, state));
  if (first!.shard !== shard.shard) throw new Error('the state is of another shard');
  return first!;
}
