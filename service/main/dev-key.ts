import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { keyHash, makeKey, parseKey, type NewKey } from '../limits/keys.ts';

/** In the folder of what is kept over restarts. */
export const keyFileName = 'dev.key';

/**
 * The key of the dev role: the one kept in `folder` by an earlier start, else a new one, kept there for the next, readable
 * by its owner alone. The folder is made when it is missing.
 *
 * @param randomBytes source of randomness, `crypto.randomBytes`
 */
export function loadDevKey(folder: string, randomBytes: (length: number) => Buffer): NewKey {
  const path = join(folder, keyFileName);
  const kept = readKept(path);
  if (kept !== undefined) return kept;
  const made = makeKey(randomBytes);
  mkdirSync(folder, { recursive: true });
  writeFileSync(path, `${made.key}\n`, { mode: 0o600 });
  return made;
}

/** Undefined when there is none, or what is there is no key. */
function readKept(path: string): NewKey | undefined {
  let key: string;
  try {
    key = readFileSync(path, 'utf8').trim();
  } catch {
    return undefined;
  }
  const id = parseKey(key)?.id;
  return id === undefined ? undefined : { key, id, sha256: keyHash(key) };
}
