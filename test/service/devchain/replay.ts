import type { BlockId } from '#service/decode/block-id.ts';
import { MASTERCHAIN } from '#service/decode/block-id.ts';
import { writeBoc } from '#service/decode/boc-writer.ts';
import { CellSlice } from '#service/decode/cell-slice.ts';
import { addSplitState } from '#service/decode/tlb/shard-state.ts';
import { applyMerkleUpdate } from '#service/decode/merkle.ts';
import { readBlockTransactions } from '#service/decode/tlb/account-blocks.ts';
import { readBlock } from '#service/decode/tlb/block.ts';
import { readBlockExtra } from '#service/decode/tlb/block-extra.ts';
import { addCurrencies, moveCurrencies } from '#service/decode/tlb/currency-collection.ts';
import { readExtBlockRef } from '#service/decode/tlb/ext-block-ref.ts';
import type { Transaction } from '#service/decode/tlb/transaction.ts';
import { readValueFlow } from '#service/decode/tlb/value-flow.ts';
import type { ChainBlock, GrowingChain } from '#service/devchain/chain.ts';
import { createChain, stateOf } from '#service/devchain/chain.ts';
import { readChainConfig } from '#service/devchain/collator/chain-config.ts';
import type { BlockTip, CollateRequest, CollateWorld, Collated } from '#service/devchain/collator/collate.ts';
import { collate } from '#service/devchain/collator/collate.ts';
import { createExecutor } from '#service/devchain/collator/executor.ts';
import type { Executor } from '#service/devchain/collator/executor.ts';
import type { ExternalMessage } from '#service/devchain/collator/external-message.ts';
import type { ShardTop } from '#service/devchain/collator/shard-list.ts';
import type { Tape, TapeBlock } from '#service/devchain/tape.ts';
import { createEmulator, compileEmulator } from '#service/tvm/emulator.ts';
import { previousBlocksTuple } from '#service/tvm/previous-blocks.ts';
import { encodeStackEntry } from '#service/tvm/stack-writer.ts';
import { previousBlocksOf } from '#test/service/tvm/recorded-world.ts';

/** A recorded block, and the block that our collator made of the same things. */
export type Replayed = {
  readonly chain: GrowingChain;
  readonly block: ChainBlock;
  /** Or why there is none. */
  readonly made: Collated | Error;
};

/**
 * Makes every block of a recording again: on the recorded states, from the messages from outside that it took, with its time, seed,
 * maker and plans to split and merge.
 */
export async function* replay(tape: Tape): AsyncGenerator<Replayed> {
  const chain = createChain([tape.masterchainZeroState, tape.basechainZeroState]);
  const executor = createExecutor(await createEmulator(await compileEmulator()));
  const makers = new Map<BlockId, ChainBlock>();
  try {
    for (const recorded of tape.blocks) yield await replayOne(chain, executor, recorded);
  } finally {
    executor.close();
  }
  void makers;
}

async function replayOne(chain: GrowingChain, executor: Executor, recorded: TapeBlock): Promise<Replayed> {
  const { states } = chain;
  // The block is looked at in a chain of its own before it is known: `add` wants the state after it.
  const request = requestOf(chain, recorded);
  const world: CollateWorld = {
    states,
    executor,
    configOf: (root) => readChainConfig(states, root),
    previousBlocks: ({ id }) => encodeStackEntry(previousBlocksTuple(previousBlocksOf(chain, id.seqno))).toString('base64'),
    masterchainState: (seqno) => stateOf(chain, masterchainId(chain, seqno))!,
    stateOf: (id) => stateOf(chain, id)!,
    rest: () => undefined,
  };
  const made = await collate(request.request, world).catch((error: Error) => error);
  const state = stateAfter(chain, recorded, request.request.previous);
  const block = chain.add(recorded, state);
  return { chain, block, made };
}
