import { createTextSlab } from '../contract/text-slab.ts';
import { createBagReader } from '../decode/boc.ts';
import { createCellStore } from '../decode/cell-store.ts';
import { answerJobs } from '../threads.ts';
import { packHeads, unpackRows, type HeadJob, type HeadResult } from './head-job.ts';
import { openTransaction } from './shown-transactions.ts';
import { writeHead, type TransactionHead } from './transaction-heads.ts';

// Thread that renders transactions.

/** No other work waits in this thread. */
const pacer = { pause: () => undefined };

answerJobs<HeadJob, HeadResult>(async (job) => {
  const desk = { pacer, store: createCellStore(), slab: createTextSlab() };
  const readBag = createBagReader();
  const heads: TransactionHead[] = [];
  for (const row of unpackRows(job)) heads.push(await writeHead(openTransaction(row, readBag), desk));
  const result = packHeads(heads);
  return { result, transfer: [result.bytes.buffer] };
});
