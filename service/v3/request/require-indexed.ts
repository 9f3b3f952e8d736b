import { hasMasterchainBlock } from '#service/store/queries/blocks.ts';
import type { StoreReader } from '#service/store/queries/reader.ts';
import { notIndexed } from './errors.ts';

/** Refuses requests about a masterchain block outside of the index. @throws V3Error 404 */
export async function requireIndexed(store: StoreReader, mcSeqno: number): Promise<void> {
  if (await hasMasterchainBlock(store, mcSeqno)) return;
  throw notIndexed(`masterchain block ${mcSeqno} not found`);
}
