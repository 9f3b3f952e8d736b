import { openStore } from '#test/support/store.ts';
import { openAsProcess } from './crashes.ts';
import { startIndexer } from './index-under-test.ts';
import { filesOver } from './recording.ts';

// A process that indexes the recorded network until it is killed.

const { url, zero, pool } = openAsProcess();
const small = { itemsMax: 4, bytesMax: 1e6 };
startIndexer(openStore({ url }), filesOver(pool), {
  network: zero,
  worker: `process ${process.pid}`,
  tuning: { headBatch: small, backfillBatch: small, gapBlocksMax: process.pid % 2 === 0 ? 50 : 10_000 },
});
