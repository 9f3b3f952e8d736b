import type { BlockId } from '../decode/block-id.ts';
import { blockText, FULL_SHARD, MASTERCHAIN, sameBlock } from '../decode/block-id.ts';
import { shardPrefixBits } from '../decode/shard.ts';
import type { ShardBlockLink, ShardBlockProofAnswer } from './answers.ts';
import { ProofError } from './errors.ts';
import { readHeader, readPreviousBlocks } from './header-proof.ts';
import { openProof, proving } from './proof-cells.ts';
import { findListedShard } from './shard-proof.ts';
import { readShardsOfBlock } from './shards-proof.ts';

/** Most links, above the node's 8. A shard makes a few blocks between two masterchain blocks. */
const LINKS_MAX = 64;

/**
 * Checks an answer of `getShardBlockProof`: links from a masterchain block down to the shard block (service/proof/README.md#shard-block-chain).
 * @returns the masterchain block chosen by the lite server, which the caller must still accept as trusted
 * @throws ProofError
 */
export function checkShardBlockProof(expected: { readonly block: BlockId }, answer: ShardBlockProofAnswer): BlockId {
  const { masterchainId, links } = answer;
  proving('shardBlockProof', () => requireShardLinks('shardBlockProof', masterchainId, links, expected.block));
  return masterchainId;
}

/**
 * Checks the links. The first link leads from a masterchain block to a shard block that it lists. Each further link leads to a previous block, and
 * the last one ends at `target`. Without links the masterchain block itself is the target.
 */
export function requireShardLinks(
  subject: string,
  masterchainBlock: BlockId,
  links: readonly ShardBlockLink[],
  target: BlockId,
): void {
  if (masterchainBlock.workchain !== MASTERCHAIN || masterchainBlock.shard !== FULL_SHARD || links.length > LINKS_MAX) {
    throw new ProofError('malformed', { subject, expected: 'a masterchain block and few links' });
  }
  let at = masterchainBlock;
  for (const { id, proof } of links) {
    if (at.workchain === MASTERCHAIN) requireListed(subject, at, id, proof);
    else requirePrevious(subject, at, id, proof);
    at = id;
  }
  if (!sameBlock(at, target)) {
    throw new ProofError('chain_gap', { subject, expected: blockText(target), found: blockText(at) });
  }
}

function requireListed(subject: string, masterchainBlock: BlockId, block: BlockId, proof: Buffer): void {
  const shown = openProof(`${subject}.link`, proof);
  const { shardHashes } = readShardsOfBlock(`${subject}.link`, shown, masterchainBlock);
  const bits = shardPrefixBits(block.shard);
  const { shard } = findListedShard(shown.table, shardHashes, block.workchain, block.shard, bits);
  if (shard === undefined || !sameBlock(shard.block, block)) throw notContained(subject, block);
}

function requirePrevious(subject: string, block: BlockId, previous: BlockId, proof: Buffer): void {
  const header = readHeader(`${subject}.link`, openProof(`${subject}.link`, proof), block);
  const listed = readPreviousBlocks(`${subject}.link`, header);
  if (!listed.some((candidate) => sameBlock(candidate, previous))) throw notContained(subject, previous);
}

function notContained(subject: string, block: BlockId): ProofError {
  return new ProofError('not_contained', { subject: `${subject}.link`, expected: blockText(block) });
}
