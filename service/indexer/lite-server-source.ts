import type { ReadContext } from '../contract/answer.ts';
import type { LiveBlockFiles } from '../live/blocks/block-files.ts';
import type { Stream } from './metrics.ts';
import { createSemaphore } from '../runtime/semaphore.ts';
import { createShardWalk } from './shard-walk.ts';
import type { HeadSource } from './source.ts';

/** Time limit of a question, over all attempts of the pool. A block of 2 MB takes 2 s on a line of 10 Mbit/s. */
const QUESTION_MS = 15_000;

/** Questions of a stream at a time. The pool spreads them over its lite servers, and leaves slots to callers of the API. */
const QUESTIONS_MAX = 32;

/**
 * Blocks from lite servers, read through the pool.
 * @param options.stream caller id. Each stream has its turn in the queue of reads, so that the past does not delay the head
 */
export function createLiteServerSource(
  { stream }: { readonly stream: Stream },
  { files }: { readonly files: LiveBlockFiles },
): HeadSource {
  const places = createSemaphore(QUESTIONS_MAX);
  const { read } = createShardWalk({
    masterchainBlock: (seqno, signal) =>
      places.run(signal, () => files.masterchainBlock(seqno, questionContext(stream, signal))),
    readFile: (block, _, signal) => places.run(signal, () => files.readFile(block, questionContext(stream, signal))),
    readZeroState: (block, signal) =>
      places.run(signal, () => files.readZeroState(block, questionContext(stream, signal))),
    readGlobalVersion: (keyBlockSeqno, signal) =>
      places.run(signal, () => files.readGlobalVersion(keyBlockSeqno, questionContext(stream, signal))),
  });
  return { read, head: () => files.head(), waitHead: files.waitHead };
}

/** Bounds of a question to lite servers. */
export function questionContext(stream: Stream, signal: AbortSignal): ReadContext {
  return { deadlineMs: performance.now() + QUESTION_MS, signal, caller: `index ${stream}` };
}
