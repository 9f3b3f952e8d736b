import type { BlockId } from '#service/decode/block-id.ts';
import { MASTERCHAIN } from '#service/decode/block-id.ts';
import { shardContainsPrefix } from '#service/decode/shard.ts';
import type { ShardAccount } from '#service/decode/tlb/shard-account.ts';
import { findShardAccount, walkShardAccounts } from '#service/decode/tlb/shard-account.ts';
import { readShardState } from '#service/decode/tlb/shard-state.ts';
import type { Chain, ChainBlock } from './chain.ts';
import { stateOf } from './chain.ts';
import { openPreviousState } from '../collator/previous-state.ts';
import type { AccountEdit } from '../collator/state-edits.ts';

/** Returns an account at a masterchain block; undefined when it does not exist. */
export function accountAt(
  chain: Chain,
  top: ChainBlock,
  { workchain, id }: { readonly workchain: number; readonly id: Buffer },
): ShardAccount | undefined {
  const home = statesAt(chain, top).find(
    (one) => one.workchain === workchain && shardContainsPrefix(one.shard, id.readBigUInt64BE(0)),
  );
  return home && findShardAccount(chain.states, readShardState(chain.states, home.state).accounts, id);
}

/** True when a masterchain block's state has a message in transit or in the dispatch queue. The states of its listed shards count too. */
export function hasMessagesOnTheWay(chain: Chain, top: ChainBlock): boolean {
  return statesAt(chain, top).some(({ state }) => {
    const { queue, dispatch } = openPreviousState(chain.states, state);
    return queue !== undefined || dispatch !== undefined;
  });
}

/**
 * Returns edits that restore every account to its state after an earlier masterchain block. TON cannot go back, so this is a normal block
 * whose state has the old accounts again.
 * @param originals accounts fetched since from a forked network (`ForkedAccounts.originals`). The earlier block lacks them although they
 * existed, so their original state is restored.
 */
export function editsBackTo(
  chain: Chain,
  top: ChainBlock,
  earlier: ChainBlock,
  originals: readonly Required<AccountEdit>[] = [],
): AccountEdit[] {
  const now = listAccounts(chain, top);
  const then = new Map([...listOriginals(chain, originals), ...listAccounts(chain, earlier)]);
  const edits: AccountEdit[] = [];
  for (const [key, { workchain, id }] of new Map([...now, ...then])) {
    const [current, old] = [now.get(key)?.account, then.get(key)?.account];
    if (current !== undefined && old !== undefined && isSame(current, old)) continue;
    edits.push({ workchain, id, edit: () => old?.account, ...(old !== undefined && { last: old }) });
  }
  return edits;
}

type Listed = { readonly workchain: number; readonly id: Buffer; readonly account: ShardAccount };

/** All accounts of all chains as a masterchain block has them, by workchain and id. */
export function listAccounts(chain: Chain, top: ChainBlock): Map<string, Listed> {
  const { states } = chain;
  const found = new Map<string, Listed>();
  for (const { workchain, state } of statesAt(chain, top)) {
    walkShardAccounts(states, readShardState(states, state).accounts, (id, account) => {
      found.set(keyOf(workchain, id), { workchain, id: Buffer.from(id), account });
    });
  }
  return found;
}

function listOriginals(chain: Chain, originals: readonly Required<AccountEdit>[]): Map<string, Listed> {
  return new Map(
    originals.map(({ workchain, id, edit, last }) => [
      keyOf(workchain, id),
      { workchain, id, account: { account: edit(chain.states, undefined)!, ...last } },
    ]),
  );
}

function keyOf(workchain: number, id: Buffer): string {
  return `${workchain}:${id.toString('latin1')}`;
}

function isSame(one: ShardAccount, other: ShardAccount): boolean {
  return one.account === other.account && one.lastTransactionHash.equals(other.lastTransactionHash);
}

/** Returns the states of all chains in a masterchain block, its own first. */
function statesAt(
  chain: Chain,
  { id, state, shards }: ChainBlock,
): (Pick<BlockId, 'workchain' | 'shard'> & { readonly state: number })[] {
  return [
    { workchain: MASTERCHAIN, shard: id.shard, state },
    ...shards.map(({ block }) => ({
      workchain: block.workchain,
      shard: block.shard,
      state: stateOf(chain, block)!,
    })),
  ];
}
