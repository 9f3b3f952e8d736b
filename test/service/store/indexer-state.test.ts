import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { claimIndex, readProgress, type IndexIdentity } from '#service/store/indexer-state.ts';
import type { StoreUnderTest } from '#test/support/store.ts';
import { createMigratedStore } from '#test/support/templates.ts';

const identity: IndexIdentity = { rootHash: Buffer.alloc(32, 1), fileHash: Buffer.alloc(32, 2), startSeqno: 7 };

describe('the state of an index', () => {
  let tested: StoreUnderTest;

  beforeEach(async () => {
    tested = await createMigratedStore(import.meta.filename);
  });

  afterEach(() => tested.close());

  it('begins with the network and the first block that it is given, by whoever comes first', async () => {
    expect(await readProgress(tested.store)).toBeUndefined();
    await Promise.all(Array.from({ length: 5 }, () => claimIndex(tested.another(), identity)));
    expect(await readProgress(tested.store)).toEqual({
      startSeqno: 7,
      headSeqno: null,
      missingBlocks: 0,
      claimedRanges: 0,
    });
  });

  it.each([
    ['another zero state', { rootHash: Buffer.alloc(32, 3) }],
    ['another file of the zero state', { fileHash: Buffer.alloc(32, 3) }],
    ['another first block', { startSeqno: 8 }],
  ])('refuses %s', async (_name, change) => {
    await claimIndex(tested.store, identity);
    await expect(claimIndex(tested.store, { ...identity, ...change })).rejects.toMatchObject({ code: 'other_network' });
    await claimIndex(tested.store, identity);
  });
});
