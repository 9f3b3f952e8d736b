import { Worker } from 'node:worker_threads';
import type { Bill, ThreadBudget } from './bill.ts';
import { TvmError } from './errors.ts';
import type { Run } from './fair-queue.ts';
import type { Job, JobOutput, ThreadData } from './job.ts';

/** Terms of a run. */
export type RunTerms = {
  /** Payer and caller. */
  readonly bill: Bill;
  /** Longest run in milliseconds. The thread of a longer run is ended. */
  readonly wallTimeMs: number;
  /** Removes a waiting job, and ends a running job. */
  readonly signal: AbortSignal | undefined;
  /** Takes the time that the run used. */
  readonly budget?: ThreadBudget | undefined;
};

/** Megabytes of a thread's native stack. The emulator recurses for each level of a stack that it writes. */
const STACK_MEGABYTES = 64;
/** Megabytes of a thread's heap besides the emulator's memory: a log of some ten megabytes and its copies. */
const HEAP_MEGABYTES = 256;

/** A job with its caller. */
export type Task = {
  readonly job: Job;
  readonly wallTimeMs: number;
  readonly budget: ThreadBudget | undefined;
  readonly resolve: (output: JobOutput) => void;
  readonly reject: (error: Error) => void;
};

/** A thread that runs one task at a time. */
export type Thread = {
  readonly worker: Worker;
  ready: boolean;
  run: Run<Task> | undefined;
  startedMs: number;
  timer: NodeJS.Timeout | undefined;
};

/** Starts a thread. @param workerData the compiled emulator, if another thread has compiled it */
export function startThread(workerUrl: URL, workerData: ThreadData): Thread {
  const resourceLimits = { stackSizeMb: STACK_MEGABYTES, maxOldGenerationSizeMb: HEAP_MEGABYTES };
  const worker = new Worker(workerUrl, { workerData, resourceLimits });
  return { worker, ready: false, run: undefined, startedMs: 0, timer: undefined };
}

/** Gives a free thread a run. @param onHalf called when the run has used half of its time */
export function giveRun(thread: Thread, run: Run<Task>, nowMs: number, onHalf: () => void): void {
  const { job, wallTimeMs } = run.entry;
  thread.run = run;
  thread.startedMs = nowMs;
  thread.worker.ref();
  thread.timer = setTimeout(onHalf, wallTimeMs / 2);
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread's port has no origin
  thread.worker.postMessage(job);
}

/** Frees the thread of its task and charges the run. The caller settles the task. */
export function releaseTask(thread: Thread, usedMs: number): Task | undefined {
  const { run } = thread;
  clearTimeout(thread.timer);
  thread.run = undefined;
  thread.worker.unref();
  run?.end(usedMs);
  const task = run?.entry;
  if (task?.budget !== undefined) task.budget.leftMs -= usedMs;
  return task;
}

/** Returns a task and its result. @param onAbort called when the signal aborts the unsettled task, which then rejects with `tvm_aborted` */
export function taskOf(
  job: Job,
  { wallTimeMs, signal, budget }: RunTerms,
  onAbort: (task: Task) => void,
): { readonly task: Task; readonly output: Promise<JobOutput> } {
  const { promise, resolve, reject } = Promise.withResolvers<JobOutput>();
  const abort = (): void => {
    onAbort(task);
    task.reject(abortedError());
  };
  const settle = (act: () => void): void => {
    signal?.removeEventListener('abort', abort);
    act();
  };
  const task: Task = {
    job,
    wallTimeMs,
    budget,
    resolve: (output) => settle(() => resolve(output)),
    reject: (error) => settle(() => reject(error)),
  };
  signal?.addEventListener('abort', abort, { once: true });
  return { task, output: promise };
}

/** Returns the error of a run whose caller has left. */
export function abortedError(): TvmError {
  return new TvmError('tvm_aborted', { detail: 'the caller stopped waiting' });
}
