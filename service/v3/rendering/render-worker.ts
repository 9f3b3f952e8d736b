import { createUtf8Buffer } from '#service/contract/utf8-buffer.ts';
import { createBagReader } from '#service/decode/boc.ts';
import { createCellStore } from '#service/decode/cell-store.ts';
import { answerJobs } from '#service/runtime/worker-pool.ts';
import { packResults, unpackRows, type RenderJob, type RenderResult } from './render-job.ts';
import { openTransaction } from './assemble-transaction.ts';
import { renderPartial, type PartialTransactionJson } from './transaction-json.ts';

// Thread that renders transactions.

/** No other work waits in this thread. */
const timeSlice = { pause: () => undefined };

answerJobs<RenderJob, RenderResult>(async (job) => {
  const desk = { timeSlice, store: createCellStore(), slab: createUtf8Buffer() };
  const readBag = createBagReader();
  const heads: PartialTransactionJson[] = [];
  for (const row of unpackRows(job)) heads.push(await renderPartial(openTransaction(row, readBag), desk));
  const result = packResults(heads);
  return { result, transfer: [result.bytes.buffer] };
});
