import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

import { LimitsError } from './errors.ts';
import type { ReadKeyring } from './keyring-files.ts';

/** Result of the thread: the keys, or the problems that prevent them. */
export type KeyringVerdict = { readonly read: ReadKeyring } | { readonly problems: readonly string[] };

/**
 * Reads a keyring in a thread of its own, which transfers its buffers. Rejects with LimitsError `keyring_invalid`, or with the error that ended the
 * thread. `signal` ends the thread.
 */
export async function readKeyringInThread(path: string, workerUrl: URL, signal: AbortSignal): Promise<ReadKeyring> {
  const worker = new Worker(workerUrl, { workerData: path });
  worker.unref();
  try {
    const ended = once(worker, 'exit', { signal }).then(() => {
      throw new Error('the thread that reads the keyring ended without an answer');
    });
    const [verdict] = (await Promise.race([once(worker, 'message', { signal }), ended])) as [KeyringVerdict];
    if ('read' in verdict) return verdict.read;
    throw new LimitsError('keyring_invalid', verdict.problems);
  } finally {
    await worker.terminate();
  }
}
