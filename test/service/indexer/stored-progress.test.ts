import { expect, it } from 'vitest';

import { createStoredProgress } from '#service/indexer/stored-progress.ts';
import type { IndexProgress } from '#service/store/indexer-state.ts';

function progressAt(headSeqno: number, missingBlocks: number): IndexProgress {
  return { startSeqno: 1, headSeqno, missingBlocks, claimedRanges: 0 };
}

it('an answer of stored progress that a later query has overtaken is ignored', async () => {
  const answers = [Promise.withResolvers<IndexProgress>(), Promise.withResolvers<IndexProgress>()];
  const remaining: number[] = [];
  let [asked, moves] = [0, 0];
  const stored = createStoredProgress({
    read: () => answers[asked++]!.promise,
    onMoved: () => void moves++,
    onRemaining: (blocks) => void remaining.push(blocks),
  });
  const updates = [stored.update(), stored.update()];
  answers[1]!.resolve(progressAt(8, 3));
  await updates[1];
  answers[0]!.resolve(progressAt(7, 4));
  await updates[0];
  expect(stored.latest()).toEqual(progressAt(8, 3));
  expect(remaining).toEqual([3]);
  expect(moves).toBe(1);
});

it('stored progress without a change does not count as moved', async () => {
  let moves = 0;
  const stored = createStoredProgress({
    read: () => Promise.resolve(progressAt(8, 3)),
    onMoved: () => void moves++,
    onRemaining: () => undefined,
  });
  await stored.update();
  await stored.update();
  expect(moves).toBe(1);
});
