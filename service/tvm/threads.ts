import type { Logger } from 'pino';
import { Worker } from 'node:worker_threads';
import type { EmulatorProgram } from './emulator.ts';
import { TvmError } from './errors.ts';
import { createFairQueue } from './fair-queue.ts';
import type { Job, JobOutput, ThreadData, ThreadMessage } from './job.ts';
import type { TvmMetrics } from './metrics.ts';

export type ThreadsOptions = {
  readonly workers: number;
  readonly queueMax: number;
  readonly wallTimeMs: number;
  readonly memoryBytesMax: number;
  readonly workerUrl: URL;
};

export type ThreadsDependencies = {
  readonly metrics: TvmMetrics;
  readonly logger: Logger;
  /** Milliseconds of a clock that never goes back. */
  readonly now: () => number;
};

/** Threads that run jobs, one at a time each, and can be ended under a job that does not end. */
export type Threads = {
  readonly queueLength: number;
  /** Rejects with TvmError `tvm_queue_full`, `tvm_timeout`, `tvm_crashed`, `tvm_aborted`, `tvm_closed`. */
  run(job: Job, caller: string, signal: AbortSignal | undefined): Promise<JobOutput>;
  close(): Promise<void>;
};

/** Native stack of a thread: the emulator recurses for each level of a stack that it writes out. */
const STACK_MEGABYTES = 64;
/** Heap of a thread beside the emulator's own memory: a log of some ten megabytes and its copies. */
const HEAP_MEGABYTES = 256;

/** Threads that died one after another before they were ready; then the emulator cannot be started here at all. */
const FAILED_STARTS_MAX = 3;

/** A task that has run this long is a slow one: a hundred times a usual get-method. */
const SLOW_MS = 100;

type Task = {
  readonly job: Job;
  readonly caller: string;
  readonly resolve: (output: JobOutput) => void;
  readonly reject: (error: Error) => void;
};

type Thread = {
  readonly worker: Worker;
  ready: boolean;
  task: Task | undefined;
  startedMs: number;
  timer: NodeJS.Timeout | undefined;
};

type StartReason = 'work' | 'timeout' | 'crashed' | 'memory';

/**
 * Makes the threads; the first starts at once, others when there is work for them. When a task has used half of its time, a spare
 * thread is started, so that ending the slow one costs the next task no wait.
 */
export function createThreads(options: ThreadsOptions, { metrics, logger, now }: ThreadsDependencies): Threads {
  const { workers, queueMax, wallTimeMs } = options;
  const queue = createFairQueue<Task>(queueMax);
  const threads = new Set<Thread>();
  let program: EmulatorProgram | undefined;
  let failedStarts = 0;
  let closed = false;

  function start(reason: StartReason): void {
    const data: ThreadData = { program };
    const worker = new Worker(options.workerUrl, {
      workerData: data,
      resourceLimits: { stackSizeMb: STACK_MEGABYTES, maxOldGenerationSizeMb: HEAP_MEGABYTES },
    });
    const thread: Thread = { worker, ready: false, task: undefined, startedMs: 0, timer: undefined };
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
    const task = release(thread);
    task?.resolve(message.output);
    if (message.memoryBytes > options.memoryBytesMax) return end(thread, undefined, 'memory');
    dispatch();
  }

  /** Frees the thread of its task, for whoever settles it. */
  function release(thread: Thread): Task | undefined {
    const { task } = thread;
    clearTimeout(thread.timer);
    thread.task = undefined;
    thread.worker.unref();
    return task;
  }

  /** Ends a thread; its task rejects with the error. Another takes its place unless a spare is there already. */
  function end(thread: Thread, error: TvmError | undefined, reason: StartReason): void {
    threads.delete(thread);
    const task = release(thread);
    if (error !== undefined) task?.reject(error);
    void thread.worker.terminate();
    if (!closed && threads.size < workers) start(reason);
    dispatch();
  }

  /** A thread ended on its own. One that never became ready takes what waits with it only after several tries. */
  function lose(thread: Thread, detail: string, cause?: unknown): void {
    if (!threads.has(thread)) return;
    logger.error({ err: cause, ready: thread.ready }, 'a TVM thread ended');
    if (!thread.ready) failedStarts++;
    if (failedStarts < FAILED_STARTS_MAX) return end(thread, crashed(detail, cause), 'crashed');
    failedStarts = 0;
    threads.delete(thread);
    for (const task of queue.clear()) task.reject(crashed(`the emulator does not start: ${detail}`, cause));
  }

  /** A caller whose slow tasks hold all threads but one leaves that one to others. */
  function mayRun(caller: string): boolean {
    const slowSinceMs = now() - SLOW_MS;
    const slow = [...threads].filter(({ task, startedMs }) => task?.caller === caller && startedMs < slowSinceMs);
    return slow.length === 0 || slow.length < workers - 1;
  }

  function dispatch(): void {
    for (const thread of threads) {
      if (!thread.ready || thread.task !== undefined) continue;
      if ([...threads].filter(({ task }) => task !== undefined).length >= workers) return;
      const task = queue.shift(mayRun);
      if (task === undefined) return;
      give(thread, task);
    }
    if (queue.length > 0 && threads.size < workers) start('work');
  }

  function give(thread: Thread, task: Task): void {
    thread.task = task;
    thread.startedMs = now();
    thread.worker.ref();
    thread.timer = setTimeout(() => watch(thread), wallTimeMs / 2);
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread's port has no origin
    thread.worker.postMessage(task.job);
  }

  function watch(thread: Thread): void {
    if (threads.size <= workers) start('timeout');
    thread.timer = setTimeout(() => {
      logger.warn({ wallTimeMs }, 'a TVM call ran too long; its thread is ended');
      const detail = `the call ran longer than ${wallTimeMs} ms`;
      end(thread, new TvmError('tvm_timeout', { detail, limit: wallTimeMs }), 'timeout');
    }, wallTimeMs / 2);
  }

  start('work');
  return {
    get queueLength() {
      return queue.length;
    },
    run(job, caller, signal) {
      if (closed) return Promise.reject(closedError());
      if (signal?.aborted === true) return Promise.reject(abortedError());
      return new Promise((resolve, reject) => {
        const abort = (): void => {
          queue.remove(caller, task);
          task.reject(abortedError());
        };
        const settle = (act: () => void): void => {
          signal?.removeEventListener('abort', abort);
          act();
        };
        const task: Task = {
          job,
          caller,
          resolve: (output) => settle(() => resolve(output)),
          reject: (error) => settle(() => reject(error)),
        };
        signal?.addEventListener('abort', abort, { once: true });
        if (!queue.push(caller, task)) task.reject(queueFull(queueMax));
        dispatch();
      });
    },
    async close() {
      closed = true;
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

function abortedError(): TvmError {
  return new TvmError('tvm_aborted', { detail: 'the caller stopped waiting' });
}
