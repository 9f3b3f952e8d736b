import type { BlockId } from '#service/decode/block-id.ts';
import { readBlock } from '#service/decode/tlb/block.ts';
import { walkShardAccounts } from '#service/decode/tlb/shard-account.ts';
import { readAccount } from '#service/decode/tlb/account.ts';
import { readShardState, readShardStateDetails } from '#service/decode/tlb/shard-state.ts';
import type { ValueFlow } from '#service/decode/tlb/value-flow.ts';
import { readValueFlow } from '#service/decode/tlb/value-flow.ts';
import type { Chain, ChainBlock } from '#service/devchain/chain/chain.ts';
import { stateOf } from '#service/devchain/chain/chain.ts';

/** Nanotons of a whole network at one masterchain block. */
export type Money = {
  readonly seqno: number;
  /** Of the zerostates, and created and minted since, less what was burned. */
  readonly due: bigint;
  /** On accounts, on the way between chains, and owed to validators. */
  readonly found: bigint;
};

/** Follows every nanoton from the zerostates on: by the flows of all blocks, and by the accounts of all newest states. */
export function followMoney(chain: Chain): Money[] {
  const zero = chain.zeroStates.reduce((sum, { state }) => sum + onAccounts(chain, state), 0n);
  let [due, onTheWay] = [zero, 0n];
  return Array.from({ length: chain.lastSeqno }, (_, index) => {
    const top = chain.masterchain(index + 1)!;
    for (const block of blocksTakenBy(chain, top)) {
      const flow = flowOf(chain, block);
      due += flow.created.grams + flow.minted.grams - (flow.burned?.grams ?? 0n);
      onTheWay += flow.exported.grams - flow.imported.grams;
    }
    const states = [top.state, ...top.shards.map(({ block }) => stateOf(chain, block)!)];
    const held = states.reduce((sum, state) => sum + onAccounts(chain, state), 0n);
    const { states: table } = chain;
    const { totalValidatorFees } = readShardStateDetails(table, readShardState(table, top.state).details);
    return { seqno: top.id.seqno, due, found: held + onTheWay + totalValidatorFees.grams };
  });
}

/** A masterchain block and the shard blocks that came into its history with it. */
export function blocksTakenBy(chain: Chain, top: ChainBlock): ChainBlock[] {
  const taken: ChainBlock[] = [];
  const add = (id: BlockId): void => {
    const block = chain.find(id);
    if (block === undefined || block.masterchainSeqno !== top.id.seqno || taken.includes(block)) return;
    taken.push(block);
    block.previous.forEach(add);
  };
  top.shards.forEach(({ block }) => add(block));
  return [top, ...taken];
}

export function flowOf(chain: Chain, block: ChainBlock): ValueFlow {
  const boc = chain.parse(block);
  return readValueFlow(boc, readBlock(boc, boc.roots[0]!).valueFlow);
}

function onAccounts({ states }: Chain, state: number): bigint {
  let sum = 0n;
  walkShardAccounts(states, readShardState(states, state).accounts, (_, { account }) => {
    sum += readAccount(states, account)!.balance.grams;
  });
  return sum;
}
