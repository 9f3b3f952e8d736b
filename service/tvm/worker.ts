import { parentPort, workerData } from 'node:worker_threads';
import { tuneBufferPool } from '../decode/buffer-pool.ts';
import { compileEmulator, createEmulator } from './emulator.ts';
import type { Job, JobOutput, ThreadData, ThreadMessage } from './job.ts';
import { createRunner } from './runner.ts';
import { createWarmUp } from './warm-up.ts';

// Thread that runs one job at a time in its own emulator. The first thread compiles the emulator for all.

function post(message: ThreadMessage): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread's port has no origin
  parentPort!.postMessage(message);
}

tuneBufferPool();
const given = (workerData as ThreadData).program;
const program = given ?? (await compileEmulator());
let emulator = await createEmulator(program);
let runner = createRunner(emulator);

const now = (): number => performance.now();

/** @returns undefined when the job could not be run */
function run(job: Job): JobOutput | undefined {
  try {
    return runner.run(job);
  } catch (error) {
    post({ kind: 'dead', error: String(error) });
    return undefined;
  }
}

/** Replaces a broken emulator. The caller whose job broke it pays for the time. */
async function replace(): Promise<void> {
  emulator = await createEmulator(program);
  runner = createRunner(emulator);
}

const warmUp = createWarmUp({ run, later: setImmediate, now });

async function answer(job: Job): Promise<void> {
  const startedMs = now();
  const before = process.threadCpuUsage();
  const output = run(job);
  const ranMs = now() - startedMs;
  if (output === undefined) return;
  const { isBroken } = runner;
  if (isBroken) await replace();
  // Time in which a busy machine gave the thread no core is not charged to the caller.
  const { user, system } = process.threadCpuUsage(before);
  post({ kind: 'done', output, memoryBytes: emulator.memoryBytes(), usedMs: (user + system) / 1000 });
  // Later threads share the code that the engine compiled for the first thread.
  if (given === undefined && !isBroken) warmUp.ran(job, ranMs);
}

parentPort!.on('message', (job: Job) => void answer(job));
post({ kind: 'ready', program });
