import { shardsIntersect } from '#service/decode/shard.ts';
import type { ArgsOf, getPendingShardBlocks } from '#service/liteserver/functions.ts';
import type { PendingShardBlocks } from '#service/liteserver/tl/lite-api.ts';
import type { ChainView } from '../chain/chain-view.ts';
import { refusal, serverCode } from '../chain/errors.ts';
import type { QueryHandlers } from './query-handlers.ts';

/** Refused where a node runs without `--nonfinal-ls`. Each block of this network is signed, so it has no mere candidates. */
function answerPending(
  { signed }: ChainView,
  { workchain, shard }: ArgsOf<typeof getPendingShardBlocks>,
): PendingShardBlocks {
  if (signed === undefined) throw refusal(serverCode.generic, 'query is not allowed');
  const isAsked = ({ id }: (typeof signed)[number]): boolean =>
    workchain === undefined ||
    (id.workchain === workchain && (shard === undefined || shardsIntersect(id.shard, shard)));
  return { signedBlocks: signed.filter(isAsked).map(({ id }) => id), candidates: [] };
}

/** Handlers about blocks that are not final. */
export const nonFinalQueries = { getPendingShardBlocks: answerPending } satisfies Partial<QueryHandlers>;
