import { mkdtempSync, readFileSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';

import { makeFolder } from '#service/runtime/make-folder.ts';
import { StartError, systemCode } from '../errors.ts';

/**
 * Text of a file that the command line names.
 * @throws StartError `file_unreadable` naming the option
 */
export function readNamedFile(option: string, path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    const reason = systemCode(cause);
    throw new StartError({
      code: 'file_unreadable',
      message: `${option}: expected a readable file, got ${reason} for ${path}`,
      data: { option, path, reason },
      retryable: false,
      cause,
    });
  }
}

/**
 * Makes the folder that the command line names, unless it is there.
 * @throws StartError `folder_unusable` naming the option
 */
export function makeNamedFolder(option: string, path: string): void {
  refusing(option, path, () => makeFolder(path));
}

/**
 * Makes the folder, and checks that it takes files.
 * @throws StartError `folder_unusable` naming the option
 */
export function makeWritableFolder(option: string, path: string): void {
  refusing(option, path, () => {
    makeFolder(path);
    rmdirSync(mkdtempSync(join(path, '.written-')));
  });
}

function refusing(option: string, path: string, work: () => void): void {
  try {
    work();
  } catch (cause) {
    const reason = systemCode(cause);
    throw new StartError({
      code: 'folder_unusable',
      message: `${option}: expected a folder that can be created and written, got ${reason} for ${path}`,
      data: { option, path, reason },
      retryable: false,
      cause,
    });
  }
}
