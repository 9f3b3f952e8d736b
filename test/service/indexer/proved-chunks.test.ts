import { describe, expect, it } from 'vitest';

import type { BlockId } from '#service/decode/block-id.ts';
import type { BlockFile } from '#service/live/blocks/block-files.ts';
import { IndexerError, type IndexerErrorCode } from '#service/indexer/errors.ts';
import { createProvedChunks } from '#service/indexer/proved-chunks.ts';

const open = new AbortController().signal;
const at = (seqno: number): BlockId => ({
  workchain: -1,
  shard: 1n << 63n,
  seqno,
  rootHash: Buffer.alloc(32, seqno),
  fileHash: Buffer.alloc(32, seqno),
});

/** Chunks over packages that end at block 150; `failAt` is not read, with this error. */
function chunks(failAt?: number, error?: Error) {
  const proved: number[] = [];
  const { idOf } = createProvedChunks({
    prove: async (seqno) => {
      proved.push(seqno);
      return at(seqno);
    },
    readFile: async ({ seqno }) => {
      if (seqno === failAt) throw error;
      return { previous: [at(seqno - 1)] } as unknown as BlockFile;
    },
    lastReadable: async () => 150,
  });
  return { idOf: (seqno: number) => idOf(seqno, open), proved };
}

describe('ids of masterchain blocks in packages', () => {
  it('one proof is enough for a hundred blocks, at the end of the packages for fewer', async () => {
    const { idOf, proved } = chunks();
    expect(await Promise.all([1, 50, 100].map(idOf))).toEqual([at(1), at(50), at(100)]);
    expect(await Promise.all([101, 150].map(idOf))).toEqual([at(101), at(150)]);
    expect(proved).toEqual([100, 150]);
  });

  it('a block above the end of the packages has its own proof', async () => {
    const { idOf, proved } = chunks();
    expect(await idOf(170)).toEqual(at(170));
    expect(proved).toEqual([170]);
  });

  it.each<IndexerErrorCode>(['block_missing', 'package_damaged', 'wrong_block'])(
    'blocks below a block with %s have proofs of their own',
    async (code) => {
      const { idOf, proved } = chunks(60, new IndexerError(code, 'a fault of packages'));
      expect(await idOf(59)).toEqual(at(59));
      expect(await idOf(60)).toEqual(at(60));
      expect(proved).toEqual([100, 59]);
    },
  );

  it('an error that is not of packages is passed on', async () => {
    const error = new IndexerError('chain_broken', 'no chain');
    await expect(chunks(60, error).idOf(59)).rejects.toBe(error);
  });
});
