import { mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Makes a folder and its missing parents, one by one. `mkdirSync` with `recursive` never ends where the system answers ENOENT to a new
 * folder in an existing one, as below /proc.
 *
 * @param path absolute, or from the working folder
 * @throws the system's error
 */
export function makeFolder(path: string): void {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) return;
  makeFolder(dirname(path));
  mkdirSync(path);
}
