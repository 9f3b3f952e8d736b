import { createHiddenProperty } from '#service/runtime/hidden-property.ts';
import type { BlockId } from '#service/decode/block-id.ts';
import type { LiveAnswer, ReadContext } from '#service/contract/answer.ts';
import type { ChainSnapshots, MethodCall, MethodRun } from './chain-snapshot.ts';
import type { StackEntry } from '#service/tvm/stack.ts';

/** How a get-method ended on the state of an account in one masterchain block. */
export type LiveMethodRun = {
  /** 0 and 1 are success; -13 for an account without code, -14 out of gas, else what the contract threw. */
  readonly exitCode: number;
  readonly gasUsed: bigint;
  /** The last entry is on top. */
  readonly stack: readonly StackEntry[];
  /** The masterchain block that the run is pinned to. */
  readonly masterchainBlock: BlockId;
  /** The account's; lt 0 and a zero hash when there was none. */
  readonly lastTransaction: { readonly lt: bigint; readonly hash: Buffer };
};

/**
 * Get-methods, run here on proved states. They use the configuration, the libraries and the earlier blocks of the pinned masterchain block.
 * The time is of the shard block with the account. The random seed is zeros.
 * Errors: LiveError `bad_stack`, TvmError, PoolError, ProofError.
 */
export type LiveGetMethods = {
  /** @param seqno masterchain seqno to run at, 1..2^31-1; the served head when absent */
  runMethod(call: MethodCall, seqno: number | undefined, context: ReadContext): Promise<LiveAnswer<LiveMethodRun>>;
};

export function createLiveGetMethods(dependencies: { worlds: ChainSnapshots }): LiveGetMethods {
  /** Values attached to the stack of a run. The same run gives the same value, so results derived from it can be cached too. */
  const made = createHiddenProperty<readonly StackEntry[], LiveMethodRun>();

  return {
    async runMethod(call, seqno, context) {
      const world = await dependencies.worlds.open(seqno, context);
      const run = await world.runMethod(call);
      const before = made.of(run.stack);
      if (before !== undefined) return world.answer(before);
      const value = describeRun(run);
      made.attach(run.stack, value);
      return world.answer(value);
    },
  };
}

function describeRun({
  exitCode,
  gasUsed,
  stack,
  account: { masterchainBlock, lastTransaction },
}: MethodRun): LiveMethodRun {
  const { lt, hash } = lastTransaction;
  // A copy: the hash is a view of the whole answer that the account came in.
  return { exitCode, gasUsed, stack, masterchainBlock, lastTransaction: { lt, hash: Buffer.from(hash) } };
}
