import { setImmediate } from 'node:timers/promises';

import { expect, test } from 'vitest';

import { createBlockSource } from '#service/streaming/final/block-source.ts';
import { openBounds } from '#service/streaming/final/trace-plan.ts';

test('the block that follows is read at once while subscriptions and replays wait for theirs', async () => {
  const ending = new AbortController();
  const { signal } = ending;
  let reads = 0;
  const blocks = createBlockSource({
    store: {
      transaction() {
        reads++;
        return new Promise(() => {});
      },
    },
    network: { testOnly: false },
    bounds: openBounds,
    signal,
  });
  const waiting = [1, 2, 3].map((mcSeqno) => blocks.read(mcSeqno, signal).catch(() => undefined));
  await setImmediate();
  expect(reads).toBe(2);
  void blocks.readNext(9, signal);
  expect(reads).toBe(3);
  ending.abort();
  expect(await waiting[2]).toBeUndefined();
});
