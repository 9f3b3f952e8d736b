import { parentPort, Worker, type Transferable } from 'node:worker_threads';

export type WorkerPoolOptions = {
  readonly threadsMax: number;
  /** The threads' module, which calls `answerJobs`. */
  readonly workerUrl: URL;
};

export type WorkerPoolDependencies = {
  /** Called when a thread ends on its own. @param jobs lost with it */
  readonly onLost: (cause: Error, jobs: number) => void;
};

/**
 * Threads that answer jobs. Threads start with the first jobs and do not stop the process from ending. The next job replaces a thread that
 * ended on its own.
 */
export type WorkerPool<Job, Result> = {
  /** Jobs that wait or run. */
  readonly jobs: () => number;
  /**
   * Sends the job to the thread with the fewest jobs. Rejects with WorkerError.
   * @param transfer parts of the job that move to the thread without a copy
   */
  readonly run: (job: Job, transfer?: readonly Transferable[]) => Promise<Result>;
  /** Ends the threads. Waiting jobs reject with `closed`. */
  readonly close: () => Promise<void>;
};

/** Reason that a job has no result: it failed in its thread, the thread ended, or the pool closed. */
export class WorkerError extends Error {
  readonly code: 'failed' | 'lost' | 'closed';

  constructor(code: WorkerError['code'], message: string, cause?: unknown) {
    super(message, { cause });
    this.code = code;
  }
}

type Request<Job> = { readonly id: number; readonly job: Job };
type Reply<Result> = { readonly id: number; readonly result: Result } | { readonly id: number; readonly error: string };

type Waiting<Result> = { readonly resolve: (result: Result) => void; readonly reject: (error: WorkerError) => void };
type Thread<Result> = { readonly worker: Worker; readonly jobs: Map<number, Waiting<Result>> };

export function createWorkerPool<Job, Result>(
  { threadsMax, workerUrl }: WorkerPoolOptions,
  { onLost }: WorkerPoolDependencies,
): WorkerPool<Job, Result> {
  const threads = new Set<Thread<Result>>();
  let nextId = 0;
  let jobs = 0;
  let closed = false;

  function settle(thread: Thread<Result>, reply: Reply<Result>): void {
    const job = thread.jobs.get(reply.id);
    if (job === undefined) return;
    thread.jobs.delete(reply.id);
    jobs--;
    if (thread.jobs.size === 0) thread.worker.unref();
    if ('error' in reply) job.reject(new WorkerError('failed', reply.error));
    else job.resolve(reply.result);
  }

  function lose(thread: Thread<Result>, error: WorkerError): void {
    if (!threads.delete(thread)) return;
    if (!closed) onLost(error, thread.jobs.size);
    jobs -= thread.jobs.size;
    for (const job of thread.jobs.values()) job.reject(error);
    thread.jobs.clear();
  }

  function start(): Thread<Result> {
    const worker = new Worker(workerUrl);
    const thread: Thread<Result> = { worker, jobs: new Map() };
    threads.add(thread);
    worker.on('message', (reply: Reply<Result>) => settle(thread, reply));
    worker.on('error', (cause) => lose(thread, new WorkerError('lost', 'the thread failed', cause)));
    worker.on('exit', (code) => lose(thread, new WorkerError('lost', `the thread exited with ${code}`)));
    return thread;
  }

  /** Starts a thread if none is idle and the bound allows it. */
  function choose(): Thread<Result> {
    const [least] = [...threads].toSorted((one, other) => one.jobs.size - other.jobs.size);
    return least !== undefined && (least.jobs.size === 0 || threads.size >= threadsMax) ? least : start();
  }

  return {
    jobs: () => jobs,
    run(job, transfer = []) {
      if (closed) return Promise.reject(new WorkerError('closed', 'the threads are closed'));
      return new Promise((resolve, reject) => {
        const thread = choose();
        const request: Request<Job> = { id: nextId++, job };
        thread.jobs.set(request.id, { resolve, reject });
        jobs++;
        thread.worker.ref();
        thread.worker.postMessage(request, [...transfer]);
      });
    },
    async close() {
      closed = true;
      const ending = [...threads];
      for (const thread of ending) lose(thread, new WorkerError('closed', 'the threads are closed'));
      await Promise.all(ending.map(({ worker }) => worker.terminate()));
    },
  };
}

/** A result, and its parts that move to the asking thread without a copy. */
export type JobAnswer<Result> = { readonly result: Result; readonly transfer?: readonly Transferable[] };

/** Call it once in a thread's module. @param work its errors reach the caller as text */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- both sides of a border name what crosses it
export function answerJobs<Job, Result>(work: (job: Job) => JobAnswer<Result> | Promise<JobAnswer<Result>>): void {
  const port = parentPort!;
  const answer = async ({ id, job }: Request<Job>): Promise<void> => {
    try {
      const { result, transfer = [] } = await work(job);
      const reply: Reply<Result> = { id, result };
      port.postMessage(reply, [...transfer]);
    } catch (error) {
      const reply: Reply<Result> = { id, error: String(error) };
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread's port has no origin
      port.postMessage(reply);
    }
  };
  port.on('message', (request: Request<Job>) => void answer(request));
}
