import type { BlockId } from '../decode/block-id.ts';
import { blockText, sameBlock } from '../decode/block-id.ts';
import { shardContainsPrefix } from '../decode/shard.ts';
import type { BlockHeaderAnswer, LookupBlockAnswer } from './answers.ts';
import { ProofError } from './errors.ts';
import type { ProvedHeader } from './header-proof.ts';
import { readHeader, readPreviousBlocks } from './header-proof.ts';
import { openProof, proving, requireField } from './proof-cells.ts';
import { requireShardLinks } from './shard-links.ts';
import { readSplitStateProof, requireListedBlock } from './state-proof.ts';

/** Search for a block: of this seqno, or the first block whose `end_lt` or `gen_utime` (unix seconds) reaches a value. */
export type BlockSearch =
  | { readonly by: 'seqno'; readonly seqno: number }
  | { readonly by: 'lt'; readonly lt: bigint }
  | { readonly by: 'utime'; readonly utime: number };

export type LookupExpectation = {
  readonly workchain: number;
  /** Shard, or any prefix inside of it. */
  readonly shard: bigint;
  readonly search: BlockSearch;
};

/**
 * Checks an answer of `lookupBlock`: the header belongs to its id, is in the requested shard, and fits the search. The check does not prove that the
 * block is of the network or the first match; see {@link checkLookupWithProof}.
 * @throws ProofError
 */
export function checkLookup(expected: LookupExpectation, answer: BlockHeaderAnswer): ProvedHeader {
  return proving('lookupBlock', () => readFound('lookupBlock', expected, answer.id, answer.headerProof));
}

/**
 * Checks an answer of `lookupBlockWithProof` (service/proof/README.md#shard-block-chain). The proof leads from a trusted masterchain block to the
 * masterchain block with the found block in its history. From there it leads to the found block. It also shows the previous block, which does not fit
 * the search.
 * @param expected `masterchainBlock`: the trusted block of the request
 * @throws ProofError
 */
export function checkLookupWithProof(
  expected: LookupExpectation & { readonly masterchainBlock: BlockId },
  answer: LookupBlockAnswer,
): ProvedHeader {
  const subject = 'lookupBlockWithProof';
  return proving(subject, () => {
    requireOlderBlock(subject, expected.masterchainBlock, answer);
    requireShardLinks(subject, answer.mcBlockId, answer.shardLinks, answer.id);
    const header = readFound(subject, expected, answer.id, answer.header);
    if (expected.search.by !== 'seqno') requirePreviousMisses(subject, expected, expected.search, header, answer);
    return header;
  });
}

/** Proves that `mcBlockId` is the trusted block or in its list of earlier blocks. */
function requireOlderBlock(subject: string, trusted: BlockId, answer: LookupBlockAnswer): void {
  const { mcBlockId, clientMcStateProof, mcBlockProof } = answer;
  if (sameBlock(mcBlockId, trusted)) {
    requireField(`${subject} bytes of proofs`, 0, clientMcStateProof.length + mcBlockProof.length);
    return;
  }
  const { cell } = readSplitStateProof(`${subject}.mcBlockProof`, clientMcStateProof, mcBlockProof, trusted);
  requireListedBlock(`${subject}.mcBlockProof`, cell, mcBlockId);
}

function readFound(
  subject: string,
  { workchain, shard, search }: LookupExpectation,
  id: BlockId,
  proof: Buffer,
): ProvedHeader {
  if (id.workchain !== workchain || !shardContainsPrefix(id.shard, shard)) {
    const expected = `a block of ${workchain}:${shard.toString(16)}`;
    throw new ProofError('wrong_id', { subject: `${subject}.id`, expected, found: blockText(id) });
  }
  const header = readHeader(`${subject}.header`, openProof(`${subject}.header`, proof), id);
  if (search.by === 'seqno') requireField(`${subject}.id seqno`, search.seqno, id.seqno);
  else if (!reaches(search, header)) throw misses(subject, search, header);
  return header;
}

function reaches(search: Exclude<BlockSearch, { by: 'seqno' }>, { info }: ProvedHeader): boolean {
  return search.by === 'lt' ? info.endLt >= search.lt : info.utime >= search.utime;
}

/**
 * Proves that the previous block ends at or before the value. The first block has none but the zero state. A merge has two previous blocks; the block
 * that covers the position must be shown.
 */
function requirePreviousMisses(
  subject: string,
  { shard }: LookupExpectation,
  search: Exclude<BlockSearch, { by: 'seqno' }>,
  header: ProvedHeader,
  { prevHeader }: LookupBlockAnswer,
): void {
  const previous = readPreviousBlocks(`${subject}.header`, header);
  if (header.info.seqno === 1) return;
  const where = `${subject}.prevHeader`;
  const shown = openProof(where, prevHeader);
  // The previous blocks cover the shard of the found block, which contains the position.
  const id = previous.find((block) => shardContainsPrefix(block.shard, shard))!;
  const { info } = readHeader(where, shown, id);
  const before = search.by === 'lt' ? info.endLt <= search.lt : info.utime <= search.utime;
  if (!before) throw misses(where, search, header);
}

function misses(subject: string, search: BlockSearch, { id }: ProvedHeader): ProofError {
  return new ProofError('wrong_field', { subject, expected: `the first block by ${search.by}`, found: blockText(id) });
}
