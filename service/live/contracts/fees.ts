import type { SourceFees } from '#service/tvm/fees.ts';
import type { LiveAnswer, ReadContext } from '#service/contract/answer.ts';
import type { ChainSnapshots, FeesCall } from './chain-snapshot.ts';

export type { SourceFees } from '#service/tvm/fees.ts';

/**
 * Fees of external messages, by running them on the proved state of the served head.
 * Errors: TvmError, PoolError, ProofError.
 */
export type LiveFees = {
  /** In nanotons. */
  estimateFees(call: FeesCall, context: ReadContext): Promise<LiveAnswer<SourceFees>>;
};

export function createLiveFees(dependencies: { worlds: ChainSnapshots }): LiveFees {
  return {
    async estimateFees(call, context) {
      const world = await dependencies.worlds.open(undefined, context);
      return world.answer(await world.estimateFees(call));
    },
  };
}
