import { homedir } from 'node:os';
import { join } from 'node:path';

/** Path below the user's cache folder, outside the repository, for files that tests make once for a machine. */
export function cachePath(...names: readonly string[]): string {
  const cache = process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache');
  return join(cache, 'tonplane', ...names);
}
