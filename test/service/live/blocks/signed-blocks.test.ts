import { describe, expect, it } from 'vitest';

import type { BlockId } from '#service/decode/block-id.ts';
import { answeredError } from '#service/liteserver/errors.ts';
import { createLiveSignedBlocks } from '#service/live/blocks/signed-blocks.ts';

const block: BlockId = {
  workchain: 0,
  shard: -(2n ** 63n),
  seqno: 7,
  rootHash: Buffer.alloc(32, 1),
  fileHash: Buffer.alloc(32, 2),
};

const context = { deadlineMs: 1, signal: new AbortController().signal, caller: 'test' };

/** Signed blocks of lite servers that all give one error. */
const failingWith = (serverCode: number, text: string) =>
  createLiveSignedBlocks({ pool: { query: async () => Promise.reject(answeredError('getBlock', serverCode, text)) } });

describe('the file of a signed block', () => {
  it.each([
    [651, 'block handle not in db'],
    [651, 'block is not applied'],
  ])('is absent where lite servers answer %i: %s', async (code, text) => {
    expect(await failingWith(code, text).readFile(block, context)).toBeUndefined();
  });

  it('is not known where lite servers fail', async () => {
    await expect(failingWith(502, 'too busy').readFile(block, context)).rejects.toMatchObject({ code: 'overloaded' });
  });
});

describe('the list of signed blocks', () => {
  it('is absent where no lite server answers non-final queries', async () => {
    expect(await failingWith(621, 'not supported').list(context)).toBeUndefined();
  });
});
