import { walkHashmap } from '#service/decode/hashmap.ts';
import type { ArgsOf } from '#service/liteserver/functions.ts';
import type { getValidatorStats } from '#service/liteserver/functions.ts';
import type { ValidatorStats } from '#service/liteserver/tl/lite-api.ts';
import { refusal, serverCode } from '../chain/errors.ts';
import { visitHeaderAndState } from '../chain/header-proof.ts';
import { answerBoc } from '../chain/proof-builder.ts';
import type { ChainView } from '../chain/chain-view.ts';
import { needMasterchainBlock, visitState } from '../chain/chain-view.ts';
import { openMasterchainState } from '../chain/open-as-node.ts';
import type { QueryHandlers } from './query-handlers.ts';

/** Most entries of one answer. */
const ENTRIES_MAX = 1000;

/**
 * Shows block creators in key order. Mode bits: 1 from `startAfter` on, 2 with it itself, 4 `modifiedAfter` (which the node
 * takes and does not use).
 */
function answerValidatorStats(
  view: ChainView,
  { mode, id, limit, startAfter }: ArgsOf<typeof getValidatorStats>,
): ValidatorStats {
  if (limit <= 0) throw refusal(serverCode.fatal, 'requested entry count limit must be positive');
  if ((mode & ~7) !== 0) throw refusal(serverCode.fatal, 'unknown flags set in mode');
  const block = needMasterchainBlock(view, id);
  const state = visitState(view, block);
  const { blockCreateStats } = openMasterchainState(state, state.root);
  if (blockCreateStats === undefined)
    throw refusal(serverCode.fatal, 'cannot extract block create stats from mc state');
  let count = 0;
  const complete = walkHashmap(state, blockCreateStats.root, 256, () => ++count < Math.min(limit, ENTRIES_MAX), {
    from: startAfter ?? Buffer.alloc(32),
    exclusive: (mode & 3) === 1,
  });
  return {
    mode,
    id: block.id,
    count,
    complete,
    stateProof: answerBoc(visitHeaderAndState(view, block)),
    dataProof: answerBoc(state),
  };
}

/** Handlers of statistics of validators. */
export const statisticsQueries = {
  getValidatorStats: answerValidatorStats,
} satisfies Partial<QueryHandlers>;
