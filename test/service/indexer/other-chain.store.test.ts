import { afterAll, beforeAll, expect, test } from 'vitest';

import { pause } from '#service/runtime/retry.ts';
import { readProgress } from '#service/store/indexer-state.ts';
import { startIndexer, untilIndexed } from './index-under-test.ts';
import type { RecordedNetwork } from './recorded-network.ts';
import { openRecordedNetwork } from './recorded-network.ts';

/** The head of an earlier moment stays. */
const waitHead = (_after: number, ms: number, signal: AbortSignal): Promise<void> => pause(ms, signal);

let recorded: RecordedNetwork;

beforeAll(async () => {
  recorded = await openRecordedNetwork(import.meta.filename, 1);
});

afterAll(() => recorded.close());

test('an index whose newest block the network does not have gets no further block, says so, and goes on once it is empty', async () => {
  const { files, last, zero } = recorded;
  const { store } = await recorded.newStore();
  const settings = { network: zero, tuning: { gapBlocksMax: 3 } };
  const earlier = { ...files, head: () => ({ seqno: last - 10, utime: 0 }), waitHead };
  const before = startIndexer(store, earlier, settings);
  await untilIndexed(store, last - 10);
  await before.close();
  const isNewest = 'workchain = -1 AND seqno = $1';
  await store.transaction(({ query }) =>
    query(`UPDATE blocks SET root_hash = sha256(root_hash) WHERE ${isNewest}`, [last - 10]),
  );

  const indexer = startIndexer(store, files, settings);
  const troubles = (): string => JSON.stringify(indexer.status().troubles);
  await expect.poll(troubles, { timeout: 60_000 }).toContain(`block ${last - 10} of the index is not block`);
  expect(troubles()).toContain('empty the index');
  expect(await readProgress(store)).toMatchObject({ headSeqno: last - 10, missingBlocks: 0 });

  await store.transaction(({ query }) => query('DELETE FROM blocks'));
  await expect.poll(troubles, { timeout: 60_000 }).toBe('[]');
  await indexer.close();
});
