import { availableParallelism, totalmem } from 'node:os';

import { workersFor, type TvmOptions } from '#service/tvm/options.ts';
import { workerUrl } from '../worker-url.ts';

/** Returns the TVM options of a process: as many threads as the machine, or its container, allows. */
export function tvmOptions(): TvmOptions {
  // Without a bound the system reports 0, or more than there is.
  const memoryBytes = Math.min(process.constrainedMemory() || Infinity, totalmem());
  return { workerUrl: workerUrl('tvm/worker.ts'), workers: workersFor(availableParallelism(), memoryBytes) };
}
