import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import { Counter } from 'prom-client';
import { Worker } from 'node:worker_threads';
import { ProofError, ProofUnavailableError } from './errors.ts';
import type { SignatureBatch } from './signatures.ts';
import type { SignatureVerdict } from './signature-job.ts';
import { packJob } from './signature-job.ts';

export type SignatureCheckerOptions = {
  /** Threads. One checks 2,000 to 10,000 signatures a second; a masterchain block of the main network brings a hundred. */
  readonly workers?: number;
  /** Batches that may wait or run: a lite server's answer has 16 links, so some sixteen answers at once. */
  readonly batchesMax?: number;
  /** The thread's module; another place when the service is bundled. */
  readonly workerUrl?: URL;
};

export type SignatureCheckerDependencies = { readonly register: Registry; readonly logger: Logger };

/** Checks Ed25519 signatures off the event loop. */
export type SignatureChecker = {
  /**
   * Resolves when every signer of the batch signed its message.
   * Rejects with ProofError `bad_signature`, or ProofUnavailableError `proof_closed`, `proof_overloaded`, `proof_worker_failed`.
   */
  check(batch: SignatureBatch): Promise<void>;
  /** Ends the threads; what waits rejects with `proof_closed`. */
  close(): Promise<void>;
};

type Waiting = {
  readonly batch: SignatureBatch;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
};
type Thread = { readonly worker: Worker; readonly jobs: Map<number, Waiting> };

/** Makes a checker; its threads start with the first batches and do not keep the process alive. */
export function createSignatureChecker(
  options: SignatureCheckerOptions,
  { register, logger }: SignatureCheckerDependencies,
): SignatureChecker {
  const threadsMax = options.workers ?? 1;
  const batchesMax = options.batchesMax ?? 256;
  const workerUrl = options.workerUrl ?? new URL('signature-worker.ts', import.meta.url);
  const signatures = new Counter({
    name: 'ton_proof_signatures_total',
    help: 'Signatures of validators that were checked, by result; a batch ends at its first bad one.',
    labelNames: ['result'],
    registers: [register],
  });
  const threads = new Set<Thread>();
  let nextId = 0;
  let waiting = 0;
  let closed = false;

  function settle(thread: Thread, { id, firstBad }: SignatureVerdict): void {
    const job = thread.jobs.get(id);
    if (job === undefined) return;
    thread.jobs.delete(id);
    waiting--;
    const total = job.batch.signers.length;
    signatures.inc({ result: 'good' }, firstBad < 0 ? total : firstBad);
    if (thread.jobs.size === 0) thread.worker.unref();
    if (firstBad < 0) return job.resolve();
    signatures.inc({ result: 'bad' });
    job.reject(new ProofError('bad_signature', { subject: 'blockProof.signatures', found: `signature ${firstBad}` }));
  }

  /** A thread ended on its own: what it held cannot be answered; the next batch starts another. */
  function lose(thread: Thread, detail: string, cause?: unknown): void {
    if (!threads.delete(thread)) return;
    if (!closed) logger.error({ err: cause, batches: thread.jobs.size }, 'the signature thread ended');
    const code = closed ? 'proof_closed' : 'proof_worker_failed';
    waiting -= thread.jobs.size;
    for (const job of thread.jobs.values()) job.reject(new ProofUnavailableError(code, detail, cause));
    thread.jobs.clear();
  }

  function start(): Thread {
    const worker = new Worker(workerUrl);
    const thread: Thread = { worker, jobs: new Map() };
    threads.add(thread);
    worker.on('message', (verdict: SignatureVerdict) => settle(thread, verdict));
    worker.on('error', (error) => lose(thread, 'the signature thread failed', error));
    worker.on('exit', (code) => lose(thread, `the signature thread exited with ${code}`));
    return thread;
  }

  /** The thread with the fewest batches; a new one while there may be more and none is idle. */
  function choose(): Thread {
    const [least] = [...threads].toSorted((a, b) => a.jobs.size - b.jobs.size);
    return least !== undefined && (least.jobs.size === 0 || threads.size >= threadsMax) ? least : start();
  }

  return {
    check(batch) {
      if (closed) return Promise.reject(new ProofUnavailableError('proof_closed', 'the signature checker is closed'));
      if (waiting >= batchesMax) {
        return Promise.reject(new ProofUnavailableError('proof_overloaded', `${waiting} batches of signatures wait`));
      }
      return new Promise((resolve, reject) => {
        const thread = choose();
        const id = nextId++;
        thread.jobs.set(id, { batch, resolve, reject });
        waiting++;
        thread.worker.ref();
        const job = packJob(id, batch);
        thread.worker.postMessage(job, [job.signers.buffer]);
      });
    },
    async close() {
      closed = true;
      const ending = [...threads];
      for (const thread of ending) lose(thread, 'the signature checker is closed');
      await Promise.all(ending.map(({ worker }) => worker.terminate()));
    },
  };
}
