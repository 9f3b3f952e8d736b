import { walkHashmap } from '../decode/hashmap.ts';
import type { ArgsOf } from '../liteserver/functions.ts';
import type { getValidatorStats } from '../liteserver/functions.ts';
import type { ValidatorStats } from '../liteserver/tl/lite-api.ts';
import { refusal, serverCode } from './errors.ts';
import { visitHeaderAndState } from './header-proof.ts';
import { answerBoc } from './proof-builder.ts';
import type { View } from './view.ts';
import { needMasterchainBlock, visitState } from './view.ts';
import { openMasterchainState } from './walk.ts';

/** Most entries of one answer. */
const ENTRIES_MAX = 1000;

/**
 * Shows block creators in key order. Mode bits: 1 from `startAfter` on, 2 with it itself, 4 `modifiedAfter` (which the node
 * takes and does not use).
 */
export function answerValidatorStats(
  view: View,
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
