import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { keyHash, makeKey, parseKey, type NewKey } from '#service/limits/keys.ts';
import { makeFolder } from '#service/runtime/make-folder.ts';

/** File in the folder of data that lasts over restarts. */
export const keyFileName = 'dev.key';

/**
 * Returns the key of the dev role: the stored key in `folder`, else a new key. A new key is stored for the next start, readable by its
 * owner alone. A missing folder is created.
 *
 * @param randomBytes source of randomness, `crypto.randomBytes`
 */
export function loadDevKey(folder: string, randomBytes: (length: number) => Buffer): NewKey {
  const path = join(folder, keyFileName);
  const stored = readStored(path);
  if (stored !== undefined) return stored;
  const made = makeKey(randomBytes);
  makeFolder(folder);
  writeFileSync(path, `${made.key}\n`, { mode: 0o600 });
  return made;
}

/** Undefined when the file is missing or has no key. */
function readStored(path: string): NewKey | undefined {
  let key: string;
  try {
    key = readFileSync(path, 'utf8').trim();
  } catch {
    return undefined;
  }
  const id = parseKey(key)?.id;
  return id === undefined ? undefined : { key, id, sha256: keyHash(key) };
}
