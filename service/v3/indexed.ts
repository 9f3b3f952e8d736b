import { hasMasterchainBlock } from '../store/queries/blocks.ts';
import type { StoreReader } from '../store/queries/reader.ts';
import { notIndexed } from './errors.ts';

/** What is asked of a masterchain block that is not indexed is not known. @throws V3Error 404 */
export async function expectIndexed(store: StoreReader, mcSeqno: number): Promise<void> {
  if (await hasMasterchainBlock(store, mcSeqno)) return;
  throw notIndexed(`masterchain block ${mcSeqno} not found`);
}
