import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import type { Devchain } from '#service/devchain/devchain.ts';
import type { LiveBlockFiles } from '#service/live/block-files.ts';
import type { StoreUnderTest } from '#test/support/store.ts';
import { createStoreUnderTest } from '#test/support/store.ts';
import { migrate } from '#service/store/migrate.ts';
import type { PoolUnderTest } from '../pool/network.ts';
import { openPool, startNetwork, until } from '../pool/network.ts';
import { startIndexer, untilIndexed } from './index-under-test.ts';
import { filesOver } from './recording.ts';
import { tableHashes } from './table-hashes.ts';

let network: Devchain;
let open: PoolUnderTest;
let files: LiveBlockFiles;
let last: number;
const opened: StoreUnderTest[] = [];

beforeAll(async () => {
  network = await startNetwork(2);
  last = network.chain.lastSeqno;
  network.moveHead(last);
  open = openPool(network, { tuning: { slowAfterMs: 5_000, overdueMs: 5_000 } });
  files = filesOver(open.pool);
  await until(() => open.pool.head()?.block.seqno === last, 10_000);
}, 60_000);

afterAll(async () => {
  await open.close();
  await network.close();
  for (const one of opened) await one.close();
});

async function newStore(): Promise<StoreUnderTest> {
  const made = await createStoreUnderTest(import.meta.filename);
  opened.push(made);
  await migrate(made.store);
  return made;
}

describe('the recorded chain', () => {
  test('is indexed from block 1: every transaction, in one pass and in ranges', async () => {
    const zero = network.chain.zeroStates[0]!.id;
    const one = await newStore();
    const single = startIndexer(one.store, files, { network: zero, tuning: { gapBlocksMax: 10_000 } });
    await untilIndexed(one.store, last);
    expect(single.status()).toMatchObject({ troubles: [] });
    await single.close();
    const many = await newStore();
    const ranged = startIndexer(many.store, files, { network: zero, tuning: { gapBlocksMax: 10 } });
    await untilIndexed(many.store, last);
    await ranged.close();
    const [expected, found] = [await tableHashes(one.store), await tableHashes(many.store)];
    expect(expected['transactions']).toMatch(/^6475 rows/);
    expect(found).toEqual(expected);
  }, 180_000);
});
