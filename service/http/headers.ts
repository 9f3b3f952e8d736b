import { nextCursorHeader } from '../v3/cursor.ts';
import { ignoredHeader } from '../v3/ignored-parameters.ts';
import { settingHeaders } from '../v3/settings.ts';
import { debugHeaders } from './read-notes.ts';

/** No cache stores the answer. */
export const noStore = 'no-store';

/** The caller's own cache may store the answer; a cache that callers share must not, because plans and keys differ. */
export const privateCache = 'private';

/** What scripts in browsers may see besides the body. */
const exposed = [
  'X-API-Version',
  'Server-Timing',
  'Retry-After',
  'RateLimit',
  'RateLimit-Policy',
  nextCursorHeader,
  ignoredHeader,
  ...Object.values(debugHeaders),
];

/**
 * Headers of every answer, errors and static pages included (service/v2/README.md#transport). No cache stores an answer that does not say otherwise: errors
 * and all that the listener answers by itself.
 */
export function commonHeaders(version: string): Readonly<Record<string, string>> {
  return {
    'access-control-allow-origin': '*',
    'cache-control': noStore,
    'access-control-expose-headers': exposed.join(', '),
    'x-api-version': version,
    'x-content-type-options': 'nosniff',
  };
}

const allowed = [
  '*',
  'Content-Type',
  'X-API-Key',
  'X-Ton-Client-Version',
  'X-Tonplane-Debug',
  ...settingHeaders,
  'Authorization',
];

/** Headers of the answer to a preflight. `*` does not cover Authorization, and old browsers do not know it: the rest is named too. */
export const preflightHeaders: Readonly<Record<string, string>> = {
  'access-control-allow-methods': 'GET, POST, OPTIONS',
  'access-control-allow-headers': allowed.join(', '),
  'access-control-max-age': '86400',
};

/** Media type of every envelope. */
export const jsonType = 'application/json';
