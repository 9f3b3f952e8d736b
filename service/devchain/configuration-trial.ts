import { BitWriter } from '../decode/bit-writer.ts';
import { writeBocText } from '../decode/boc-writer.ts';
import type { CellStore } from '../decode/cell-store.ts';
import { createCellStore } from '../decode/cell-store.ts';
import { writeStandardAddress } from '../decode/tlb/message-address.ts';
import { writeShardAccount } from '../tvm/shard-account.ts';
import type { Chain, ChainBlock } from './chain/chain.ts';
import { readChainConfig } from './collator/chain-config.ts';
import type { Executor } from './collator/executor.ts';
import { accountAt } from './chain/snapshots.ts';
import { CONFIG_ID } from './zerostate/genesis-config.ts';

export type ConfigurationTrialDependencies = {
  readonly chain: Chain;
  readonly head: () => ChainBlock;
  /** Separate from the executor that makes blocks, because a block may be in progress. */
  readonly executor: Executor;
  /** Returns the contracts' view of earlier blocks (`BlockWorld.previousBlocks`). */
  readonly previousBlocks: () => string;
  /** Unix seconds of the network. */
  readonly utime: () => number;
  /** Account of the basechain that receives a message. */
  readonly receiver: Buffer;
};

/**
 * Makes a transaction of each chain under a configuration, and stores none of them.
 * @param root of the configuration in `states`
 * @throws Error when no block can be made with it
 */
export function tryConfiguration(
  states: CellStore,
  root: number,
  { chain, head, executor, previousBlocks, utime, receiver }: ConfigurationTrialDependencies,
): void {
  readChainConfig(states, root);
  const world = { states, config: root, libraries: undefined, utime: utime(), randSeed: Buffer.alloc(32) };
  executor.open({ ...world, previousBlocks: previousBlocks() });
  const lt = head().header.endLt;
  const trials = [
    { workchain: 0, id: receiver, message: { boc: trialMessage(receiver) } },
    { workchain: -1, id: CONFIG_ID, message: 'tock' as const },
  ];
  for (const { message, ...place } of trials) {
    const found = accountAt(chain, head(), place)!;
    const last = { hash: found.lastTransactionHash, lt: found.lastTransactionLt };
    const account = writeShardAccount({ table: chain.states, cell: found.account }, last);
    const outcome = executor.run({ account: account.toString('base64'), message, lt });
    if (outcome.kind === 'rejected') throw new Error(outcome.error);
  }
}

/** Returns a message with one TON to an account of the basechain. */
function trialMessage(id: Buffer): string {
  const store = createCellStore();
  const place = { workchain: 0, id };
  // `int_msg_info$0`, not to be bounced, from the receiver itself, without a body.
  const message = writeStandardAddress(writeStandardAddress(new BitWriter().uint(0b0100, 4), place), place);
  message.coins(1_000_000_000n).bit(false).coins(0n).coins(0n).int(1n, 64).uint(1, 32).uint(0, 2);
  return writeBocText(store, [message.finish(store)]);
}
