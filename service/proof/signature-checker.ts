import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import { createWorkerPool, WorkerError } from '../runtime/worker-pool.ts';
import { ProofError, ProofUnavailableError } from './errors.ts';
import { createSignatureCounter } from './metrics.ts';
import type { SignatureBatch } from './signatures.ts';
import { packJob, type SignatureJob } from './signature-job.ts';

export type SignatureCheckerOptions = {
  /** Number of threads. One checks 2,000 to 10,000 signatures a second; a masterchain block of the main network has a hundred. */
  readonly workers?: number;
  /** Most batches that wait or run. A lite server's answer has 16 links, so about sixteen answers fit. */
  readonly batchesMax?: number;
  /** Module of the thread. The URL differs when the service is bundled. */
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
  /** Ends the threads. Waiting batches reject with `proof_closed`. */
  close(): Promise<void>;
};

/** Creates a checker. Its threads start with the first batches and do not keep the process alive. */
export function createSignatureChecker(
  options: SignatureCheckerOptions,
  { register, logger }: SignatureCheckerDependencies,
): SignatureChecker {
  const threadsMax = options.workers ?? 1;
  const batchesMax = options.batchesMax ?? 256;
  const workerUrl = options.workerUrl ?? new URL('signature-worker.ts', import.meta.url);
  const signatures = createSignatureCounter(register);
  const { jobs, run, close } = createWorkerPool<SignatureJob, number>(
    { threadsMax, workerUrl },
    { onLost: (err, batches) => logger.error({ err, batches }, 'the signature thread ended') },
  );

  async function firstBadOf(batch: SignatureBatch): Promise<number> {
    const job = packJob(batch);
    try {
      return await run(job, [job.signers.buffer]);
    } catch (error) {
      if (!(error instanceof WorkerError)) throw error;
      const code = error.code === 'closed' ? 'proof_closed' : 'proof_worker_failed';
      throw new ProofUnavailableError(code, `signatures were not checked: ${error.message}`, error);
    }
  }

  return {
    async check(batch) {
      if (jobs() >= batchesMax) {
        throw new ProofUnavailableError('proof_overloaded', `${jobs()} batches of signatures wait`);
      }
      const firstBad = await firstBadOf(batch);
      signatures.inc({ result: 'good' }, firstBad < 0 ? batch.signers.length : firstBad);
      if (firstBad < 0) return;
      signatures.inc({ result: 'bad' });
      throw new ProofError('bad_signature', { subject: 'blockProof.signatures', found: `signature ${firstBad}` });
    },
    close,
  };
}
