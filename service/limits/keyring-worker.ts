import { parentPort, workerData } from 'node:worker_threads';

import { LimitsError } from './errors.ts';
import { buffersOf } from './key-table.ts';
import { readKeyring } from './keyring-files.ts';
import type { KeyringVerdict } from './keyring-thread.ts';

// Worker that reads a large keyring and ends. A million keys take 2 s, during which requests go on.

function tell(verdict: KeyringVerdict, buffers: ArrayBuffer[] = []): void {
  parentPort?.postMessage(verdict, buffers);
}

try {
  const read = readKeyring(String(workerData));
  tell({ read }, buffersOf(read.keys));
} catch (error) {
  if (!(error instanceof LimitsError)) throw error;
  tell({ problems: error.data.problems });
}
