import { parentPort, workerData } from 'node:worker_threads';
import { tuneBufferPool } from '../decode/buffer-pool.ts';
import { compileEmulator, createEmulator } from './emulator.ts';
import type { Job, JobOutput, ThreadData, ThreadMessage } from './job.ts';
import { createRunner } from './runner.ts';
import { createWarmUp } from './warm-up.ts';

// A thread that runs one job at a time in its own emulator. The first thread compiles the emulator for all.

function post(message: ThreadMessage): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread's port has no origin
  parentPort!.postMessage(message);
}

tuneBufferPool();
const given = (workerData as ThreadData).program;
const program = given ?? (await compileEmulator());
const emulator = await createEmulator(program);
const runner = createRunner(emulator);

const now = (): number => performance.now();

/** @returns undefined when the emulator trapped */
function run(job: Job): JobOutput | undefined {
  try {
    return runner.run(job);
  } catch (error) {
    post({ kind: 'dead', error: String(error) });
    return undefined;
  }
}

const warmUp = createWarmUp({ run, later: setImmediate, now });

parentPort!.on('message', (job: Job) => {
  const startedMs = now();
  const before = process.threadCpuUsage();
  const output = run(job);
  if (output === undefined) return;
  // Time in which a busy machine gave the thread no core is no fault of the caller.
  const { user, system } = process.threadCpuUsage(before);
  post({ kind: 'done', output, memoryBytes: emulator.memoryBytes(), usedMs: (user + system) / 1000 });
  // Later threads share the code that the first one made the engine compile.
  if (given === undefined) warmUp.ran(job, now() - startedMs);
});
post({ kind: 'ready', program });
