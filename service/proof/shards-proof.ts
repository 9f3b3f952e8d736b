import type { BlockId } from '../decode/block-id.ts';
import type { MasterchainBlockExtra } from '../decode/tlb/masterchain-block-extra.ts';
import type { ShardDescr } from '../decode/tlb/shard-descr.ts';
import { CellSlice } from '../decode/cell-slice.ts';
import { readBlock } from '../decode/tlb/block.ts';
import { readBlockExtra } from '../decode/tlb/block-extra.ts';
import { readMasterchainBlockExtra } from '../decode/tlb/masterchain-block-extra.ts';
import { listShards } from '../decode/tlb/shard-descr.ts';
import type { AllShardsInfoAnswer } from './answers.ts';
import { ProofError } from './errors.ts';
import { requireBlock } from './header-proof.ts';
import type { ProvedCell } from './proof-cells.ts';
import { openProof, openRoot, proving, requireHash } from './proof-cells.ts';

/**
 * Checks an answer of `getAllShardsInfo`: the list of shards is that of the masterchain block (service/proof/README.md#shard-list).
 * @returns all shards, by workchain and prefix
 * @throws ProofError
 */
export function checkAllShards(
  expected: { readonly block: BlockId },
  answer: AllShardsInfoAnswer,
): readonly ShardDescr[] {
  const subject = 'allShardsInfo';
  requireBlock(subject, expected.block, answer.id);
  return proving(subject, () => {
    const block = openProof(`${subject}.proof`, answer.proof);
    const proved = readShardsOfBlock(`${subject}.proof`, block, expected.block).shardHashes;
    const { table, cell } = openRoot(`${subject}.data`, answer.data);
    const slice = new CellSlice(table, cell);
    const given = slice.maybeRef();
    if (slice.remainingBits > 0 || slice.remainingRefs > 0) {
      throw new ProofError('malformed', { subject: `${subject}.data`, expected: 'a dictionary and nothing else' });
    }
    if (given === undefined || proved === undefined) {
      if (given !== proved) throw new ProofError('hash_mismatch', { subject: `${subject}.data` });
      return [];
    }
    requireHash(`${subject}.data`, { table, cell: given }, block.table.hash(proved, 0));
    return listShards(table, given);
  });
}

/** Reads a masterchain block's facts about shards; its header need not be shown. */
export function readShardsOfBlock(subject: string, { table, cell }: ProvedCell, id: BlockId): MasterchainBlockExtra {
  requireHash(subject, { table, cell }, id.rootHash);
  const { custom } = readBlockExtra(table, readBlock(table, cell).extra);
  if (custom === undefined) throw new ProofError('malformed', { subject, expected: 'a masterchain block' });
  return readMasterchainBlockExtra(table, custom);
}
