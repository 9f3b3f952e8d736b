import { describe, expect, it } from 'vitest';
import { parseBoc } from '#service/decode/boc.ts';
import { readHeader, readPreviousBlocks } from '#service/proof/header-proof.ts';
import { recordings } from './recorded.ts';

describe.each(recordings())('Headers of recorded blocks: $folder', (recording) => {
  it('headers name the previous blocks, over splits and merges, and no other seqno', () => {
    const known = new Set<string>();
    const kinds = { afterSplit: 0, afterMerge: 0, plain: 0 };
    const blocks = recording.blocks();
    for (const { id } of blocks) known.add(id.rootHash.toString('hex'));
    for (const { id, boc } of blocks) {
      const table = parseBoc(boc);
      const block = { table, cell: table.roots[0]! };
      const header = readHeader('block', block, id);
      const previous = readPreviousBlocks('block', header);
      kinds[header.info.afterMerge ? 'afterMerge' : header.info.afterSplit ? 'afterSplit' : 'plain']++;
      expect(previous).toHaveLength(header.info.afterMerge ? 2 : 1);
      const unknown = previous.filter(({ seqno, rootHash }) => seqno > 0 && !known.has(rootHash.toString('hex')));
      expect(unknown).toEqual([]);
      expect(() => readHeader('block', block, { ...id, seqno: id.seqno + 1 })).toThrow('wrong_field');
      expect(() => readHeader('block', block, { ...id, shard: id.shard >> 1n })).toThrow('wrong_field');
    }
    expect(kinds.plain).toBeGreaterThan(0);
  });
});
