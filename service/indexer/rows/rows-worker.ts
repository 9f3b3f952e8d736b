import { answerJobs } from '#service/runtime/worker-pool.ts';
import { unpackBlocks, type PackedBlocks } from './packed-blocks.ts';
import { packRows } from './packed-rows.ts';
import { rowsOf } from './rows.ts';

// Thread that makes rows of blocks.

answerJobs<PackedBlocks, Uint8Array>((blocks) => {
  const result = packRows(rowsOf(unpackBlocks(blocks)));
  return { result, transfer: [result.buffer as ArrayBuffer] };
});
