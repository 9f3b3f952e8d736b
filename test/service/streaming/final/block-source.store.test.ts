import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { openBounds } from '#service/streaming/final/trace-plan.ts';
import { createBlockSource } from '#service/streaming/final/block-source.ts';
import { recordedBlocks } from '#test/service/indexer/recorded-blocks.ts';
import { createClassifiedIndex } from '#test/support/classified-index.ts';
import { heapBytes } from '#test/support/garbage.ts';
import type { StoreUnderTest } from '#test/support/store.ts';

const { signal } = new AbortController();

let index: StoreUnderTest;
let seqnos: readonly number[];

beforeAll(async () => {
  index = await createClassifiedIndex(import.meta.filename);
  seqnos = (await recordedBlocks()).map(({ mcSeqno }) => mcSeqno);
}, 400_000);
afterAll(() => index.close());

/** Bytes in use, once what others left has gone: two readings are equal then. */
async function settledBytes(): Promise<number> {
  let known = heapBytes();
  await expect
    .poll(
      () => {
        const before = known;
        known = heapBytes();
        return Math.abs(known - before);
      },
      { interval: 300 },
    )
    .toBeLessThan(200_000);
  return known;
}

describe('the blocks in the memory of streams', () => {
  it('take no more than their weight, also once each transaction is shown', async () => {
    const before = await settledBytes();
    const blocks = createBlockSource({ store: index.store, network: { testOnly: false }, bounds: openBounds, signal });
    let shown = 0;
    for (const seqno of seqnos) {
      for (const change of (await blocks.read(seqno, signal)) ?? []) {
        if (change.kind === 'trace') shown += change.transactions.filter(({ view }) => view !== null).length;
      }
    }
    expect(shown).toBeGreaterThan(1000);
    expect(blocks.peek(seqnos[0]!)).toBeDefined();
    const share = ((await settledBytes()) - before) / blocks.bytes();
    expect(share).toBeLessThan(1.1);
    expect(share).toBeGreaterThan(0.6);
    expect(blocks.peek(seqnos[0]!)).toBeDefined();
  });
});
