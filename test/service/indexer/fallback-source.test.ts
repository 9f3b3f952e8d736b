import { describe, expect, it } from 'vitest';

import { IndexerError } from '#service/indexer/errors.ts';
import { countReads, createFallbackSource } from '#service/indexer/fallback-source.ts';
import type { BlockSource, SourceBlocks } from '#service/indexer/source.ts';
import { ProofError } from '#service/proof/errors.ts';

const blocks = { mcSeqno: 7 } as SourceBlocks;
const open = new AbortController().signal;

const failing = (fault: Error): BlockSource => ({
  async read() {
    throw fault;
  },
});
const answering: BlockSource = { read: () => Promise.resolve(blocks) };

describe('a source of packages with lite servers behind it', () => {
  it.each([
    ['a block that packages lack', new IndexerError('block_missing', 'missing')],
    ['an error of the disk', Object.assign(new Error('EIO'), { syscall: 'read' })],
  ])('%s is read from lite servers', async (_what, error) => {
    let reads = 0;
    const liteServers = countReads(answering, () => reads++);
    expect(await createFallbackSource({ archive: failing(error), liteServers }).read(7, open)).toBe(blocks);
    expect(reads).toBe(1);
  });

  it('a proof that fails is an error, and lite servers are not asked in place of packages', async () => {
    const error = new ProofError('fork', { subject: 'block' });
    let reads = 0;
    const liteServers = countReads(answering, () => reads++);
    await expect(createFallbackSource({ archive: failing(error), liteServers }).read(7, open)).rejects.toBe(error);
    expect(reads).toBe(0);
  });

  it('lite servers are not asked after the end', async () => {
    const ended = AbortSignal.abort(new Error('closed'));
    const error = new IndexerError('block_missing', 'missing');
    const source = createFallbackSource({ archive: failing(error), liteServers: answering });
    await expect(source.read(7, ended)).rejects.toBe(error);
  });

  it('a read that fails is not counted', async () => {
    let reads = 0;
    await expect(countReads(failing(new Error('away')), () => reads++).read(7, open)).rejects.toThrow('away');
    expect(reads).toBe(0);
  });
});
