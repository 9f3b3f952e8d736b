import { Cell, convertToMerkleProof } from '@ton/core';
import { describe, expect, it } from 'vitest';

import type { ShardBlockLink } from '#service/proof/answers.ts';
import { parseBoc } from '#service/decode/boc.ts';
import { getShardBlockProof } from '#service/liteserver/functions.ts';
import { readHeader, readPreviousBlocks } from '#service/proof/header-proof.ts';
import { checkShardBlockProof } from '#service/proof/shard-links.ts';
import { recordings } from './recorded.ts';

// Recorded answers have one link each. Proofs of recorded blocks are further links.
describe.each(recordings())('Links to a shard block: $folder', ({ exchanges, blocks }) => {
  const { args, answer } = exchanges(getShardBlockProof).find((one) => one.answer.links.length > 0)!;
  const bocs = new Map(blocks().map(({ id, boc }) => [id.rootHash.toString('hex'), boc]));
  const bocOf = (hash: Buffer): Buffer => bocs.get(hash.toString('hex'))!;
  const listed = args.id;
  const table = parseBoc(bocOf(listed.rootHash));
  const [previous] = readPreviousBlocks('block', readHeader('block', { table, cell: table.roots[0]! }, listed));
  const link: ShardBlockLink = { id: previous!, proof: proofOf(bocOf(listed.rootHash)) };

  it('links lead over a listed block to its previous block', () => {
    const links = [...answer.links, link];
    expect(checkShardBlockProof({ block: previous! }, { ...answer, links })).toEqual(answer.masterchainId);
  });

  it('links that end at another block than the requested one are refused', () => {
    const links = [...answer.links, link];
    expect(() => checkShardBlockProof({ block: listed }, { ...answer, links })).toThrow(
      expect.objectContaining({ name: 'ProofError', code: 'chain_gap' }),
    );
  });

  it.each([
    ['to a block that is not the previous one', 'not_contained', { ...link, id: { ...previous!, seqno: 7 } }],
    ['to the block itself', 'not_contained', { ...link, id: listed }],
    ['with the proof of another block', 'hash_mismatch', { ...link, proof: proofOf(bocOf(previous!.rootHash)) }],
  ])('a further link is refused %s', (_what, code, lie) => {
    const links = [...answer.links, lie];
    expect(() => checkShardBlockProof({ block: lie.id }, { ...answer, links })).toThrow(
      expect.objectContaining({ name: 'ProofError', code }),
    );
  });

  it('links are refused when they begin at a shard block', () => {
    const lie = { masterchainId: listed, links: [link] };
    expect(() => checkShardBlockProof({ block: previous! }, lie)).toThrow(
      expect.objectContaining({ name: 'ProofError', code: 'malformed' }),
    );
  });
});

function proofOf(boc: Buffer): Buffer {
  return convertToMerkleProof(Cell.fromBoc(boc)[0]!).toBoc();
}
