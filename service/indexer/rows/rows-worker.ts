import { parentPort } from 'node:worker_threads';

import { unpackBlocks } from './packed-blocks.ts';
import { packRows } from './packed-rows.ts';
import type { RowJob, RowResult } from './row-job.ts';
import { rowsOf } from './rows.ts';

// A thread that makes rows of blocks.

function work({ id, blocks }: RowJob): RowResult {
  try {
    return { id, rows: packRows(rowsOf(unpackBlocks(blocks))) };
  } catch (error) {
    return { id, error: String(error) };
  }
}

parentPort!.on('message', (job: RowJob) => {
  const result = work(job);
  parentPort!.postMessage(result, 'rows' in result ? [result.rows.buffer as ArrayBuffer] : []);
});
