import { parentPort, workerData } from 'node:worker_threads';
import { compileEmulator, createEmulator } from './emulator.ts';
import type { Job, ThreadData, ThreadMessage } from './job.ts';
import { createRunner } from './runner.ts';

// A thread that runs one job at a time in its own emulator. The first thread compiles the emulator for all.

function post(message: ThreadMessage): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread's port has no origin
  parentPort!.postMessage(message);
}

const given = (workerData as ThreadData).program;
const program = given ?? (await compileEmulator());
const emulator = await createEmulator(program);
const runner = createRunner(emulator);

parentPort!.on('message', (job: Job) => {
  try {
    post({ kind: 'done', output: runner.run(job), memoryBytes: emulator.memoryBytes() });
  } catch (error) {
    post({ kind: 'dead', error: String(error) });
  }
});
post({ kind: 'ready', program });
