import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { threadId } from 'node:worker_threads';

/** Names the folder to write to; the service gets the variable from the benchmark. */
export const folderVariable = 'SOAK_MEMORY_FOLDER';

/** Names the time between two samples, in milliseconds. */
export const everyVariable = 'SOAK_MEMORY_EVERY_MS';

/** Memory of one thread of the service, in bytes; `rss` is that of the whole process. */
export type ThreadSample = NodeJS.MemoryUsage & {
  /** 0 is the main thread. */
  readonly threadId: number;
  readonly atMs: number;
};

/** The module is preloaded into every thread of the service: only a thread itself knows the memory of its isolate. */
const folder = process.env[folderVariable];
if (folder !== undefined) {
  setInterval(() => write(folder), Number(process.env[everyVariable])).unref();
}

function write(to: string): void {
  const sample: ThreadSample = { ...process.memoryUsage(), threadId, atMs: Date.now() };
  appendFileSync(join(to, `${threadId}.jsonl`), `${JSON.stringify(sample)}\n`);
}
