import { describe, expect, it } from 'vitest';

import type { BlockId } from '#service/decode/block-id.ts';
import { FULL_SHARD, MASTERCHAIN } from '#service/decode/block-id.ts';
import { createTrustedBlocks } from '#service/proof/trusted-blocks.ts';

const KEY_BLOCKS_MAX = 4096;
const BLOCKS_MAX = 8192;
const ANCHOR = 10;

const hash = Buffer.alloc(32, 1);
const zeroState = { rootHash: hash, fileHash: hash };

const at = (seqno: number): BlockId => ({ workchain: MASTERCHAIN, shard: FULL_SHARD, seqno, ...zeroState });

describe('Trusted blocks', () => {
  it('key blocks beyond 4,096 replace the oldest, and proofs of older blocks start at the oldest left', () => {
    const blocks = createTrustedBlocks(at(ANCHOR), zeroState);
    for (let number = 1; number <= KEY_BLOCKS_MAX; number++) blocks.addKeyBlock(at(ANCHOR + 10 * number));
    expect(blocks.keyBlocks()).toHaveLength(KEY_BLOCKS_MAX);
    blocks.addKeyBlock(at(15));
    expect(blocks.has(at(15))).toBe(false);
    expect(blocks.startFor(12)).toEqual(at(20));
    expect(blocks.has(at(ANCHOR))).toBe(true);
  });

  it('other blocks beyond 8,192 replace those that were proved first', () => {
    const blocks = createTrustedBlocks(at(ANCHOR), zeroState);
    for (let number = 0; number <= BLOCKS_MAX; number++) blocks.addBlock(at(100 + number));
    expect([100, 101, 100 + BLOCKS_MAX].map((seqno) => blocks.has(at(seqno)))).toEqual([false, true, true]);
  });
});
