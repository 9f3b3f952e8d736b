import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

import { DevchainError } from '../chain/errors.ts';

/** Lock of a folder for one process until `release`, or until the process ends in any way. */
export type FolderLock = { release(): void };

/**
 * Locks a folder with an SQLite file. Node has no other lock of the system that ends with its process.
 * @throws DevchainError `network_in_use`
 */
export function lockFolder(folder: string): FolderLock {
  const file = new DatabaseSync(join(folder, 'lock'), { timeout: 0 });
  try {
    file.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE');
  } catch (cause) {
    file.close();
    throw new DevchainError({
      code: 'network_in_use',
      message: `another process runs the network in ${folder}; stop it, or give another --data`,
      data: { folder },
      retryable: true,
      cause,
    });
  }
  return { release: () => file.close() };
}
