import { afterEach, describe, expect, it } from 'vitest';

import { createWorkerPool, type WorkerPool } from '#service/runtime/worker-pool.ts';

type Job = { readonly n: number; readonly bytes?: Uint8Array };
type Result = { readonly square: number; readonly bytes?: Uint8Array; readonly thread: number };

/** Squares numbers; gives bytes back; fails on 13, ends at 99, and never answers to 0. */
const workerUrl = new URL(
  `data:text/javascript,${encodeURIComponent(`
    import { threadId } from 'node:worker_threads';
    import { answerJobs } from '${new URL('../../../service/runtime/worker-pool.ts', import.meta.url).href}';
    answerJobs(async ({ n, bytes }) => {
      if (n === 0) await new Promise(() => {});
      if (n === 13) throw new RangeError('thirteen');
      if (n === 99) process.exit(3);
      return { result: { square: n * n, bytes, thread: threadId }, transfer: bytes ? [bytes.buffer] : [] };
    });
  `)}`,
);

let threads: WorkerPool<Job, Result> | undefined;
const lost: { readonly message: string; readonly jobs: number }[] = [];

function start(threadsMax: number): WorkerPool<Job, Result> {
  lost.length = 0;
  threads = createWorkerPool<Job, Result>(
    { threadsMax, workerUrl },
    { onLost: ({ message }, jobs) => void lost.push({ message, jobs }) },
  );
  return threads;
}

afterEach(() => threads?.close());

describe('a pool of workers', () => {
  it('answer each job with its own result, no more of them than there may be', async () => {
    const { run, jobs } = start(2);
    const answers = Array.from({ length: 50 }, (_, n) => run({ n: n + 20 }));
    expect(jobs()).toBe(50);
    const results = await Promise.all(answers);
    expect(results.map(({ square }) => square)).toEqual(Array.from({ length: 50 }, (_, n) => (n + 20) ** 2));
    expect(new Set(results.map(({ thread }) => thread)).size).toBe(2);
    expect(jobs()).toBe(0);
  });

  it('transferred buffers move to the worker and back', async () => {
    const bytes = new Uint8Array([1, 2, 3]);
    const answer = start(1).run({ n: 2, bytes }, [bytes.buffer]);
    expect(bytes.length).toBe(0);
    expect((await answer).bytes).toEqual(new Uint8Array([1, 2, 3]));
  });

  it('report why a job failed, and go on', async () => {
    const { run } = start(1);
    await expect(run({ n: 13 })).rejects.toMatchObject({ code: 'failed', message: 'RangeError: thirteen' });
    expect((await run({ n: 3 })).square).toBe(9);
    expect(lost).toEqual([]);
  });

  it('lose the job of a thread that ended, and start another thread', async () => {
    const { run, jobs } = start(1);
    const held = run({ n: 0 });
    const ending = run({ n: 99 });
    await expect(held).rejects.toMatchObject({ code: 'lost' });
    await expect(ending).rejects.toMatchObject({ code: 'lost' });
    expect(lost).toEqual([{ message: 'the thread exited with 3', jobs: 2 }]);
    expect(jobs()).toBe(0);
    expect((await run({ n: 4 })).square).toBe(16);
  });

  it('end with their jobs when they are closed, and take no more', async () => {
    const { run, close } = start(1);
    const held = run({ n: 0 });
    const closing = close();
    await expect(held).rejects.toMatchObject({ code: 'closed' });
    await closing;
    await expect(run({ n: 1 })).rejects.toMatchObject({ code: 'closed' });
    expect(lost).toEqual([]);
  });
});
