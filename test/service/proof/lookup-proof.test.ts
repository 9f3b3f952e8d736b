import { Cell } from '@ton/core';
import { describe, expect, it } from 'vitest';

import type { BlockId } from '#service/decode/block-id.ts';
import type { ProvedCell } from '#service/proof/proof-cells.ts';
import type { ProvedHeader } from '#service/proof/header-proof.ts';
import { MASTERCHAIN, sameBlock } from '#service/decode/block-id.ts';
import { parseBoc } from '#service/decode/boc.ts';
import { listShards } from '#service/decode/tlb/shard-descr.ts';
import { readHeader, readPreviousBlocks } from '#service/proof/header-proof.ts';
import { checkLookupWithProof } from '#service/proof/lookup-proof.ts';
import { readShardsOfBlock } from '#service/proof/shards-proof.ts';
import { recordings } from './recorded.ts';
import { proofOf } from './synthetic-chain.ts';

const NOTHING = Buffer.alloc(0);

// Proofs of whole recorded blocks stand in for the headers of a lite server.
describe.each(recordings())('A lookup by lt: $folder', (recording) => {
  const blocks = recording.blocks().map(({ id, boc }) => ({ id, boc, header: headerOf(id, boc) }));
  const proofOfBlock = (id: BlockId): Buffer =>
    proofOf(Cell.fromBoc(blocks.find((block) => sameBlock(block.id, id))!.boc)[0]!);

  /** Checks the answer that leads from a masterchain block to a block that it lists. */
  function check(
    search: { shard: bigint; lt: bigint },
    masterchainBlock: BlockId,
    id: BlockId,
    before?: BlockId,
  ): unknown {
    const { workchain } = id;
    return checkLookupWithProof(
      { workchain, shard: search.shard, search: { by: 'lt', lt: search.lt }, masterchainBlock },
      {
        id,
        mode: 2,
        mcBlockId: masterchainBlock,
        clientMcStateProof: NOTHING,
        mcBlockProof: NOTHING,
        shardLinks: workchain === MASTERCHAIN ? [] : [{ id, proof: proofOfBlock(masterchainBlock) }],
        header: proofOfBlock(id),
        prevHeader: before === undefined ? NOTHING : proofOfBlock(before),
      },
    );
  }

  it('the first block needs no block before it', () => {
    const { id } = blocks.find((block) => block.id.workchain === MASTERCHAIN && block.id.seqno === 1)!;
    expect(check({ shard: id.shard, lt: 1n }, id, id)).toMatchObject({ id });
  });

  describe('of a block after a merge', () => {
    const merged = blocks.find(({ header }) => header.info.afterMerge)!;
    const lists = blocks.find(({ id, header }) => id.workchain === MASTERCHAIN && isListed(header, merged.id))!;
    const [left, right] = readPreviousBlocks('block', merged.header);
    const lt = merged.header.info.endLt;

    it('the block before is the one of the wanted half', () => {
      expect(check({ shard: left!.shard, lt }, lists.id, merged.id, left)).toMatchObject({ id: merged.id });
      expect(check({ shard: right!.shard, lt }, lists.id, merged.id, right)).toMatchObject({ id: merged.id });
      expect(() => check({ shard: right!.shard, lt }, lists.id, merged.id, left)).toThrow(
        expect.objectContaining({ name: 'ProofError', code: 'hash_mismatch' }),
      );
    });

    it('the block before of a lookup for both halves is the one of the right half', () => {
      expect(check({ shard: merged.id.shard, lt }, lists.id, merged.id, right)).toMatchObject({ id: merged.id });
      expect(() => check({ shard: merged.id.shard, lt }, lists.id, merged.id, left)).toThrow(
        expect.objectContaining({ name: 'ProofError', code: 'hash_mismatch' }),
      );
    });

    it('an answer is refused when the block before reaches the lt', () => {
      expect(() => check({ shard: left!.shard, lt: 1n }, lists.id, merged.id, left)).toThrow(
        expect.objectContaining({ name: 'ProofError', code: 'wrong_field' }),
      );
    });
  });
});

function open(boc: Buffer): ProvedCell {
  const table = parseBoc(boc);
  return { table, cell: table.roots[0]! };
}

function headerOf(id: BlockId, boc: Buffer): ProvedHeader {
  return readHeader('block', open(boc), id);
}

function isListed({ id, table, cell }: ProvedHeader, block: BlockId): boolean {
  const { shardHashes } = readShardsOfBlock('block', { table, cell }, id);
  return listShards(table, shardHashes).some((shard) => sameBlock(shard.block, block));
}
