import type { Logger } from 'pino';
import { Worker } from 'node:worker_threads';
import type { Bill, ThreadBudget } from './bill.ts';
import type { EmulatorProgram } from './emulator.ts';
import { TvmError } from './errors.ts';
import { createFairQueue, type Run } from './fair-queue.ts';
import type { Job, JobOutput, ThreadData, ThreadMessage } from './job.ts';
import type { TvmMetrics } from './metrics.ts';

export type EmulatorPoolOptions = {
  readonly workers: number;
  readonly queueMax: number;
  readonly memoryBytesMax: number;
  readonly workerUrl: URL;
};

export type EmulatorPoolDependencies = {
  readonly metrics: TvmMetrics;
  readonly logger: Logger;
  /** Milliseconds of a clock that never goes back. */
  readonly now: () => number;
};

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

/** EmulatorPool that run one job at a time each. A thread can be ended under a job that does not end. */
export type EmulatorPool = {
  readonly queueLength: number;
  /** Rejects with TvmError `tvm_queue_full`, `tvm_timeout`, `tvm_crashed`, `tvm_aborted`, `tvm_closed`. */
  run(job: Job, terms: RunTerms): Promise<JobOutput>;
  close(): Promise<void>;
};

/** Megabytes of a thread's native stack. The emulator recurses for each level of a stack that it writes. */
const STACK_MEGABYTES = 64;
/** Megabytes of a thread's heap besides the emulator's memory: a log of some ten megabytes and its copies. */
const HEAP_MEGABYTES = 256;

/** Consecutive threads that die before they are ready, after which the emulator counts as unable to start here. */
const FAILED_STARTS_MAX = 3;

/** Milliseconds that an abandoned run may go on; most runs end before. Ending a thread costs as much as starting one. */
const UNWANTED_MS = 100;

/** Milliseconds between queries of the queue while a thread is free and no run may have it. */
const LOOK_MS = 10;

/** Core time of a thread's start, charged to the run that ended the previous thread. */
const START_MS = 40;

type Task = {
  readonly job: Job;
  readonly wallTimeMs: number;
  readonly budget: ThreadBudget | undefined;
  readonly resolve: (output: JobOutput) => void;
  readonly reject: (error: Error) => void;
};

type Thread = {
  readonly worker: Worker;
  ready: boolean;
  run: Run<Task> | undefined;
  startedMs: number;
  timer: NodeJS.Timeout | undefined;
};

type StartReason = 'work' | 'timeout' | 'crashed' | 'aborted' | 'memory';

/**
 * Creates the threads. The first starts at once, others when there is work for them. When a task has used half of its time, a spare thread starts.
 * Ending the slow thread then costs the next task no wait.
 */
export function createEmulatorPool(
  options: EmulatorPoolOptions,
  { metrics, logger, now }: EmulatorPoolDependencies,
): EmulatorPool {
  const { workers, queueMax } = options;
  const queue = createFairQueue<Task>({ lengthMax: queueMax, threads: workers }, now);
  const threads = new Set<Thread>();
  let program: EmulatorProgram | undefined;
  let failedStarts = 0;
  let looking: NodeJS.Timeout | undefined;
  let closed = false;

  function start(reason: StartReason): void {
    const worker = startWorker(options.workerUrl, { program });
    const thread: Thread = { worker, ready: false, run: undefined, startedMs: 0, timer: undefined };
    threads.add(thread);
    metrics.threadStarts.inc({ reason });
    worker.on('message', (message: ThreadMessage) => receive(thread, message));
    worker.on('error', (error) => lose(thread, 'the thread failed', error));
    worker.on('exit', (code) => lose(thread, `the thread exited with ${code}`));
  }

  function receive(thread: Thread, message: ThreadMessage): void {
    if (!threads.has(thread)) return;
    if (message.kind === 'ready') {
      program = message.program;
      thread.ready = true;
      failedStarts = 0;
      thread.worker.unref();
      return dispatch();
    }
    if (message.kind === 'dead') return end(thread, crashed(message.error), 'crashed');
    const task = release(thread, message.usedMs);
    task?.resolve(message.output);
    if (message.memoryBytes > options.memoryBytesMax) return end(thread, undefined, 'memory');
    dispatch();
  }

  /** Frees the thread of its task and charges the run. The caller settles the task. */
  function release(thread: Thread, usedMs: number): Task | undefined {
    const { run } = thread;
    clearTimeout(thread.timer);
    thread.run = undefined;
    thread.worker.unref();
    run?.end(usedMs);
    const task = run?.entry;
    if (task?.budget !== undefined) task.budget.leftMs -= usedMs;
    return task;
  }

  /** Ends a thread and rejects its task with the error. Another thread replaces it unless a spare exists. */
  function end(thread: Thread, error: TvmError | undefined, reason: StartReason): void {
    threads.delete(thread);
    const task = release(thread, now() - thread.startedMs + START_MS);
    if (error !== undefined) task?.reject(error);
    void thread.worker.terminate();
    if (!closed && threads.size < workers) start(reason);
    dispatch();
  }

  /** Handles a thread that ended on its own. If it was never ready, waiting tasks fail only after several tries. */
  function lose(thread: Thread, detail: string, cause?: unknown): void {
    if (!threads.has(thread)) return;
    logger.error({ err: cause, ready: thread.ready }, 'a TVM thread ended');
    if (!thread.ready) failedStarts++;
    if (failedStarts < FAILED_STARTS_MAX) return end(thread, crashed(detail, cause), 'crashed');
    failedStarts = 0;
    threads.delete(thread);
    for (const task of queue.clear()) task.reject(crashed(`the emulator does not start: ${detail}`, cause));
  }

  function dispatch(): void {
    const started = [...threads].filter(({ ready }) => ready);
    const idle = started.filter(({ run }) => run === undefined);
    for (let busy = started.length - idle.length; idle.length > 0; busy++) {
      if (busy >= workers) return;
      const run = queue.start(started.length);
      if (run === undefined) {
        lookAgain();
        break;
      }
      // A thread that will soon be ended is the youngest one. Short runs thus use the thread whose code is warm.
      give((run.expectedMs > UNWANTED_MS ? idle.pop() : idle.shift())!, run);
    }
    if (queue.length > 0 && threads.size < workers) start('work');
  }

  /** Asks the queue again. A run that goes on turns out to be long, and then other runs may have the free thread. */
  function lookAgain(): void {
    if (queue.length === 0 || closed) return;
    looking ??= setTimeout(() => {
      looking = undefined;
      dispatch();
    }, LOOK_MS);
  }

  function give(thread: Thread, run: Run<Task>): void {
    const { job, wallTimeMs } = run.entry;
    thread.run = run;
    thread.startedMs = now();
    thread.worker.ref();
    thread.timer = setTimeout(() => watch(thread, wallTimeMs), wallTimeMs / 2);
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread's port has no origin
    thread.worker.postMessage(job);
  }

  function watch(thread: Thread, wallTimeMs: number): void {
    if (threads.size <= workers) start('timeout');
    thread.timer = setTimeout(() => {
      logger.warn({ wallTimeMs }, 'a TVM call ran too long; its thread is ended');
      const detail = `the call ran longer than ${wallTimeMs} ms`;
      end(thread, new TvmError('tvm_timeout', { detail, limit: wallTimeMs }), 'timeout');
    }, wallTimeMs / 2);
  }

  /** Ends the run of an abandoned task. */
  function cut(task: Task): void {
    const thread = [...threads].find(({ run }) => run?.entry === task);
    if (thread === undefined) return;
    clearTimeout(thread.timer);
    const leftMs = UNWANTED_MS - (now() - thread.startedMs);
    thread.timer = setTimeout(() => end(thread, undefined, 'aborted'), Math.max(0, leftMs));
  }

  start('work');
  return {
    get queueLength() {
      return queue.length;
    },
    run(job, terms) {
      const { bill, signal } = terms;
      if (closed) return Promise.reject(closedError());
      if (signal?.aborted === true) return Promise.reject(abortedError());
      const { task, output } = taskOf(job, terms, (abandoned) => {
        if (!queue.remove(bill, abandoned)) cut(abandoned);
      });
      queue.push(bill, task)?.reject(queueFull(queueMax));
      dispatch();
      return output;
    },
    async close() {
      closed = true;
      clearTimeout(looking);
      for (const task of queue.clear()) task.reject(closedError());
      const ending = [...threads];
      for (const thread of ending) end(thread, closedError(), 'work');
      await Promise.all(ending.map(({ worker }) => worker.terminate()));
    },
  };
}

/** Starts a thread. @param workerData the compiled emulator, if another thread has compiled it */
function startWorker(workerUrl: URL, workerData: ThreadData): Worker {
  const resourceLimits = { stackSizeMb: STACK_MEGABYTES, maxOldGenerationSizeMb: HEAP_MEGABYTES };
  return new Worker(workerUrl, { workerData, resourceLimits });
}

/** Returns a task and its result. @param onAbort called when the signal aborts the unsettled task, which then rejects with `tvm_aborted` */
function taskOf(
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

function crashed(detail: string, cause?: unknown): TvmError {
  return new TvmError('tvm_crashed', { detail }, cause);
}

function queueFull(limit: number): TvmError {
  return new TvmError('tvm_queue_full', { detail: `${limit} calls wait for the TVM`, limit });
}

function closedError(): TvmError {
  return new TvmError('tvm_closed', { detail: 'the TVM is closed' });
}

function abortedError(): TvmError {
  return new TvmError('tvm_aborted', { detail: 'the caller stopped waiting' });
}
