import type { Logger } from 'pino';
import type { EmulatorProgram } from './emulator.ts';
import { abortedError, giveRun, releaseTask, startThread, taskOf } from './emulator-thread.ts';
import type { RunTerms, Task, Thread } from './emulator-thread.ts';
import { TvmError } from './errors.ts';
import { createFairQueue } from './fair-queue.ts';
import type { Job, JobOutput, ThreadMessage } from './job.ts';
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

/** Threads that run one job at a time each. A thread can be ended under a job that does not end. */
export type EmulatorPool = {
  readonly queueLength: number;
  /** Rejects with TvmError `tvm_queue_full`, `tvm_timeout`, `tvm_crashed`, `tvm_aborted`, `tvm_closed`. */
  run(job: Job, terms: RunTerms): Promise<JobOutput>;
  close(): Promise<void>;
};

/** Consecutive threads that die before they are ready, after which the emulator counts as unable to start here. */
const FAILED_STARTS_MAX = 3;

/** Milliseconds that an abandoned run may go on; most runs end before. Ending a thread costs as much as starting one. */
const UNWANTED_MS = 100;

/** Milliseconds between queries of the queue while a thread is free and no run may have it. */
const LOOK_MS = 10;

/** Core time of a thread's start, charged to the run that ended the previous thread. */
const START_MS = 40;

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
    const thread = startThread(options.workerUrl, { program });
    const { worker } = thread;
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
    const task = releaseTask(thread, message.usedMs);
    task?.resolve(message.output);
    if (message.memoryBytes > options.memoryBytesMax) return end(thread, undefined, 'memory');
    dispatch();
  }

  /** Ends a thread and rejects its task with the error. Another thread replaces it unless a spare exists. */
  function end(thread: Thread, error: TvmError | undefined, reason: StartReason): void {
    threads.delete(thread);
    const task = releaseTask(thread, now() - thread.startedMs + START_MS);
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
      const thread = (run.expectedMs > UNWANTED_MS ? idle.pop() : idle.shift())!;
      giveRun(thread, run, now(), () => watch(thread, run.entry.wallTimeMs));
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

function crashed(detail: string, cause?: unknown): TvmError {
  return new TvmError('tvm_crashed', { detail }, cause);
}

function queueFull(limit: number): TvmError {
  return new TvmError('tvm_queue_full', { detail: `${limit} calls wait for the TVM`, limit });
}

function closedError(): TvmError {
  return new TvmError('tvm_closed', { detail: 'the TVM is closed' });
}
