import { TonplaneError } from '../error.ts';
import type { LiveBlockFiles } from '../live/blocks/block-files.ts';
import type { IndexedBlock } from '../store/indexer-state.ts';
import { IndexerError } from './errors.ts';
import { questionContext } from './lite-server-source.ts';

/** A lite server that lags usually has the block by then. */
const WAIT_MS = 5_000;

const emptyIt = 'if the network went back to an older copy, empty the index: drop its schema, then run migrate';

/**
 * Passes when the newest indexed block is of the network's chain. A network that was restored from a copy makes other blocks of the same
 * seqnos, and the index would have both.
 *
 * @param newestBlock resolves to undefined of an empty index
 * @param waitMs longest wait for lite servers that are behind the index
 * @throws IndexerError `other_chain`; rejects as `masterchainBlock` does
 */
export async function refuseOtherChain(
  newestBlock: () => Promise<IndexedBlock | undefined>,
  files: Pick<LiveBlockFiles, 'head' | 'waitHead' | 'masterchainBlock'>,
  signal: AbortSignal,
  waitMs = WAIT_MS,
): Promise<void> {
  const newest = await newestBlock();
  if (newest === undefined) return;
  const { seqno, rootHash } = newest;
  if ((files.head()?.seqno ?? 0) < seqno) await files.waitHead(seqno - 1, waitMs, signal);
  signal.throwIfAborted();
  const head = files.head()?.seqno ?? 0;
  if (head < seqno) {
    throw otherChain(
      `the index is at block ${seqno}, the network at ${head}: expected lite servers that have it`,
      seqno,
    );
  }
  try {
    const block = await files.masterchainBlock(seqno, questionContext('head', signal));
    if (block.rootHash.equals(rootHash)) return;
  } catch (error) {
    // No lite server has a block of that age: nothing to compare with.
    if (error instanceof TonplaneError && error.code === 'pruned') return;
    throw error;
  }
  throw otherChain(`block ${seqno} of the index is not block ${seqno} of the network`, seqno);
}

function otherChain(problem: string, seqno: number): IndexerError {
  return new IndexerError('other_chain', `${problem}; ${emptyIt}`, { block: `(-1,8000000000000000,${seqno})` });
}
