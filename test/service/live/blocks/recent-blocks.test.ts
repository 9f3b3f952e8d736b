import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import type { BlockId } from '#service/decode/block-id.ts';
import type { PinnedBlock } from '#service/live/pinned-block.ts';
import { createRecentBlocks, followTo } from '#service/live/blocks/recent-blocks.ts';
import type { PreviousBlocks } from '#service/tvm/previous-blocks.ts';
import { startApiUnderTest, type ApiUnderTest } from '#test/support/api.ts';
import { bytes32, masterchainBlock } from '#test/service/v2/scripted-accounts.ts';

const context = () => ({ deadlineMs: performance.now() + 10_000, signal: new AbortController().signal });

const idAt = (seqno: number): BlockId => ({ ...masterchainBlock(seqno), rootHash: bytes32(seqno % 251) });

const pinnedAt = (seqno: number, keyBlockSeqno: number): PinnedBlock => ({
  block: idAt(seqno),
  utime: 0,
  endLt: 0n,
  keyBlockSeqno,
  previous: idAt(seqno - 1),
});

const blocksAt = (seqno: number, keySeqno: number): PreviousBlocks => ({
  last: Array.from({ length: 16 }, (_, back) => idAt(seqno - back)),
  lastKeyBlock: idAt(keySeqno),
  lastHundreds: Array.from({ length: 16 }, (_, back) => idAt(seqno - (seqno % 100) - 100 * back)),
});

describe('what a contract sees of the blocks before', () => {
  it.each([
    ['a block follows', pinnedAt(5_051, 4_000), blocksAt(5_051, 4_000)],
    ['a key block follows', pinnedAt(5_051, 5_051), blocksAt(5_051, 5_051)],
    ['it is the same block', pinnedAt(5_050, 4_000), blocksAt(5_050, 4_000)],
  ])('is known when %s', (_what, pinned, expected) => {
    expect(followTo(pinned, blocksAt(5_050, 4_000))).toEqual(expected);
  });

  it('takes in a hundredth block', () => {
    expect(followTo(pinnedAt(5_100, 4_000), blocksAt(5_099, 4_000))).toEqual(blocksAt(5_100, 4_000));
  });

  it.each([
    ['a block is left out', pinnedAt(5_052, 4_000)],
    ['the block before is not known', { ...pinnedAt(5_051, 4_000), previous: undefined }],
    ['the block before is another one', { ...pinnedAt(5_051, 4_000), previous: masterchainBlock(5_050) }],
    ['there was a key block between', pinnedAt(5_051, 4_500)],
    ['it is an earlier block', pinnedAt(5_049, 4_000)],
  ])('does not follow when %s', (_what, pinned) => {
    expect(followTo(pinned, blocksAt(5_050, 4_000))).toBeUndefined();
  });
});

describe('what a contract sees of the blocks before version 9 of the rules', () => {
  const { last, lastKeyBlock } = blocksAt(5_099, 4_000);

  it('has no hundredth blocks', () => {
    expect(followTo(pinnedAt(5_100, 4_000), { last, lastKeyBlock })).toEqual({
      last: blocksAt(5_100, 4_000).last,
      lastKeyBlock,
    });
  });

  it('is not known after a key block, which may set the version', () => {
    expect(followTo(pinnedAt(5_100, 5_100), { last, lastKeyBlock })).toBeUndefined();
  });
});

describe('on a recorded network', () => {
  let service: ApiUnderTest;
  beforeAll(async () => {
    service = await startApiUnderTest({ behindBlocks: 300 });
  });
  afterAll(() => service.close());

  it('what follows from head to head is what the state of the last one shows', async () => {
    const { pool } = service.api;
    const following = createRecentBlocks({ pool });
    const first = pool.head()!;
    await following.recentAt(first, context());
    const seqnos = Array.from({ length: 120 }, (_, step) => first.block.seqno + 1 + step);
    for (const seqno of seqnos) {
      service.network.moveHead(seqno);
      await expect.poll(() => pool.head()!.block.seqno, { interval: 5 }).toBe(seqno);
      const answer = await following.recentAt(pool.head()!, context());
      expect([seqno, answer.cached]).toEqual([seqno, true]);
    }
    const followed = await following.recentAt(pool.head()!, context());
    const asked = await createRecentBlocks({ pool }).recentAt(pool.head()!, context());
    expect(asked.cached).toBe(false);
    expect(followed.value).toEqual(asked.value);
  });
});
