import type { BlockId } from '#service/decode/block-id.ts';
import { FULL_SHARD, MASTERCHAIN } from '#service/decode/block-id.ts';
import { getBlockOutMsgQueueSize, getOutMsgQueueSizes } from '#service/liteserver/functions.ts';
import type { Pool } from '#service/pool/pool.ts';
import { ProofError } from '#service/proof/errors.ts';
import { checkQueueSize } from '#service/proof/queue-size-proof.ts';
import { joinAnswers } from '#service/contract/answer.ts';
import type { LiveAnswer, ReadContext } from '#service/contract/answer.ts';
import type { LiveQueueSizes } from './blocks.ts';

type QueueSize = LiveQueueSizes['shards'][number];

/** Queues asked for at a time: a network has a few shards, seldom more than this. */
const QUERIES_MAX = 16;

/** Bit of getBlockOutMsgQueueSize and getOutMsgQueueSizes: with proof; only one shard. */
const WITH_PROOF = 1;
const ONE_SHARD = 1;

/** Lengths of the queues after the given blocks, in their order. Rejects as `Pool.query` does. */
export async function readQueueSizes(
  pool: Pool,
  blocks: readonly BlockId[],
  context: ReadContext,
): Promise<LiveAnswer<readonly QueueSize[]>> {
  const answers: LiveAnswer<QueueSize>[] = [];
  for (let start = 0; start < blocks.length; start += QUERIES_MAX) {
    const part = blocks.slice(start, start + QUERIES_MAX);
    answers.push(...(await Promise.all(part.map((block) => readQueueSize(pool, block, context)))));
  }
  return joinAnswers(
    answers.map(({ value }) => value),
    answers,
  );
}

function readQueueSize(pool: Pool, block: BlockId, context: ReadContext): Promise<LiveAnswer<QueueSize>> {
  return pool.query(getBlockOutMsgQueueSize, { mode: WITH_PROOF, id: block }, context, {
    shareAs: 'queue size',
    immutable: true,
    check: (answer) => ({ id: block, size: checkQueueSize({ block }, answer) }),
  });
}

/** Queue length above which the node refuses external messages. It is the node's own unproved setting, read once for each head. */
export function createExternalsLimit({ pool }: { pool: Pool }) {
  let cached: { readonly head: BlockId; readonly limit: number } | undefined;

  return async (head: BlockId, context: ReadContext): Promise<LiveAnswer<number>> => {
    if (cached?.head === head) return { value: cached.limit, liteServers: [], cached: true };
    // The masterchain alone: the answer's sizes are not used.
    const args = { mode: ONE_SHARD, workchain: MASTERCHAIN, shard: FULL_SHARD };
    const answer = await pool.query(getOutMsgQueueSizes, args, context, {
      shareAs: 'externals limit',
      check: ({ extMsgQueueSizeLimit }) => requireCount(extMsgQueueSizeLimit),
    });
    cached = { head, limit: answer.value };
    return answer;
  };
}

/** @throws ProofError `wrong_field` */
function requireCount(limit: number): number {
  if (limit >= 0) return limit;
  const subject = 'outMsgQueueSizes.extMsgQueueSizeLimit';
  throw new ProofError('wrong_field', { subject, expected: 'a count', found: String(limit) });
}
