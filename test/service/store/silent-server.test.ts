import { afterEach, beforeEach, expect, test } from 'vitest';

import { startSilentRelay, type SilentRelay } from '#test/support/silent-relay.ts';
import { createStoreUnderTest, type StoreUnderTest } from '#test/support/store.ts';
import type { Store } from '#service/store/store.ts';

let made: StoreUnderTest;
let relay: SilentRelay;
let store: Store;
beforeEach(async () => {
  made = await createStoreUnderTest(import.meta.filename);
  relay = await startSilentRelay(made.url);
  store = made.another({ url: relay.url, poolSize: 2 });
});
afterEach(async () => {
  relay.close();
  await made.close();
});

/** Milliseconds until a read fails. */
async function failsAfter(timeoutMs: number): Promise<number> {
  const began = performance.now();
  await expect(store.read('SELECT 1 AS one', [], { timeoutMs })).rejects.toMatchObject({ code: 'statement_timeout' });
  return performance.now() - began;
}

test('a read ends in its time when Postgres falls silent, on an open connection and on a new one', async () => {
  await store.read('SELECT 1 AS one', [], { timeoutMs: 5000 });
  relay.isSilent = true;
  // The first has an open connection, the second a new one, and the third waits for one of them.
  const times = await Promise.all([failsAfter(500), failsAfter(500), failsAfter(500)]);
  for (const ms of times) expect(ms).toBeLessThan(1500);
});

test('reads work again at once when Postgres speaks again, on connections that no earlier answer comes on', async () => {
  await store.read('SELECT 1 AS one', [], { timeoutMs: 5000 });
  relay.isSilent = true;
  await failsAfter(500);
  relay.isSilent = false;
  expect(await store.read('SELECT 2 AS two')).toEqual([{ two: 2 }]);
});
