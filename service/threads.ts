import { parentPort, Worker, type Transferable } from 'node:worker_threads';

export type ThreadsOptions = {
  readonly threadsMax: number;
  /** The threads' module, which calls `answerJobs`. */
  readonly workerUrl: URL;
};

export type ThreadsDependencies = {
  /** Is told of a thread that ended on its own. @param jobs that it had */
  readonly onLost: (cause: Error, jobs: number) => void;
};

/** Threads that answer jobs. They start with the first ones and do not keep the process alive; one that ends on its own is replaced with the next job. */
export type Threads<Job, Result> = {
  /** Jobs that wait or run. */
  readonly jobs: () => number;
  /**
   * Gives the job to the thread with the fewest.
   * @param transfer what of the job the thread takes over instead of a copy
   * Rejects with ThreadError.
   */
  readonly run: (job: Job, transfer?: readonly Transferable[]) => Promise<Result>;
  /** Ends the threads; what waits rejects with `closed`. */
  readonly close: () => Promise<void>;
};

/** Why a job has no result: it failed in the thread, the thread ended, or all of them were closed. */
export class ThreadError extends Error {
  readonly code: 'failed' | 'lost' | 'closed';

  constructor(code: ThreadError['code'], message: string, cause?: unknown) {
    super(message, { cause });
    this.code = code;
  }
}

type Request<Job> = { readonly id: number; readonly job: Job };
type Reply<Result> = { readonly id: number; readonly result: Result } | { readonly id: number; readonly error: string };

type Waiting<Result> = { readonly resolve: (result: Result) => void; readonly reject: (error: ThreadError) => void };
type Thread<Result> = { readonly worker: Worker; readonly jobs: Map<number, Waiting<Result>> };

export function createThreads<Job, Result>(
  { threadsMax, workerUrl }: ThreadsOptions,
  { onLost }: ThreadsDependencies,
): Threads<Job, Result> {
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
    if ('error' in reply) job.reject(new ThreadError('failed', reply.error));
    else job.resolve(reply.result);
  }

  function lose(thread: Thread<Result>, error: ThreadError): void {
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
    worker.on('error', (cause) => lose(thread, new ThreadError('lost', 'the thread failed', cause)));
    worker.on('exit', (code) => lose(thread, new ThreadError('lost', `the thread exited with ${code}`)));
    return thread;
  }

  /** A new one while there may be more and none is idle. */
  function choose(): Thread<Result> {
    const [least] = [...threads].toSorted((one, other) => one.jobs.size - other.jobs.size);
    return least !== undefined && (least.jobs.size === 0 || threads.size >= threadsMax) ? least : start();
  }

  return {
    jobs: () => jobs,
    run(job, transfer = []) {
      if (closed) return Promise.reject(new ThreadError('closed', 'the threads are closed'));
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
      for (const thread of ending) lose(thread, new ThreadError('closed', 'the threads are closed'));
      await Promise.all(ending.map(({ worker }) => worker.terminate()));
    },
  };
}

/** A result, and what of it the asking thread takes over instead of a copy. */
export type JobAnswer<Result> = { readonly result: Result; readonly transfer?: readonly Transferable[] };

/** To be called once by the module of a thread. @param work what it throws is told to who asked, as text */
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
