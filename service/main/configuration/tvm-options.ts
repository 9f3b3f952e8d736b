import { availableParallelism } from 'node:os';

import { workersFor, type TvmOptions } from '#service/tvm/options.ts';
import { workerUrl } from '../worker-url.ts';
import { processMemoryBytes } from './process-memory.ts';

/** Returns the TVM options of a process: as many threads as the machine, or its container, allows. */
export function tvmOptions(): TvmOptions {
  const workers = workersFor(availableParallelism(), processMemoryBytes());
  return { workerUrl: workerUrl('tvm/worker.ts'), workers };
}
