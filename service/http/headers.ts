import type { IncomingMessage } from 'node:http';

import { nextCursorHeader } from '../v3/request/cursor.ts';
import { ignoredHeader } from '../v3/request/ignored-parameters.ts';
import { settingHeaders } from '../v3/request/settings.ts';
import { debugHeaders } from './read-log.ts';

export const noStore = 'no-store';

/** The caller's own cache may store the answer. A shared cache must not, because plans and keys differ. */
export const privateCache = 'private';

/** Counts the bytes of the URL and of the names and values of headers. */
export function headerBytesOf({ url = '', rawHeaders }: Pick<IncomingMessage, 'url' | 'rawHeaders'>): number {
  return rawHeaders.reduce((bytes, text) => bytes + text.length, url.length);
}

/** Returns false for HTTP/1.1 without a Host header, and for several ones (RFC 9112, 3.2). */
export function hasOneHost({ httpVersion, rawHeaders }: Pick<IncomingMessage, 'httpVersion' | 'rawHeaders'>): boolean {
  const hosts = rawHeaders.filter((text, at) => at % 2 === 0 && text.toLowerCase() === 'host').length;
  return hosts === 1 || (hosts === 0 && httpVersion !== '1.1');
}

/** Headers that scripts in browsers may read. */
const exposed = [
  'X-API-Version',
  'Server-Timing',
  'Retry-After',
  'RateLimit',
  'RateLimit-Policy',
  'RateLimit-Limit',
  'RateLimit-Remaining',
  'RateLimit-Reset',
  nextCursorHeader,
  ignoredHeader,
  ...Object.values(debugHeaders),
];

/**
 * Headers of every answer, errors and static pages included (service/v2/README.md#transport). Caches store no answer without its own cache
 * header: errors and all answers of the listener itself.
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
  'Last-Event-ID',
];

/**
 * Headers of the answer to a preflight. `*` does not cover Authorization, and old browsers do not support it. Other headers are therefore
 * named too.
 */
export const preflightHeaders: Readonly<Record<string, string>> = {
  'access-control-allow-methods': 'GET, POST, OPTIONS',
  'access-control-allow-headers': allowed.join(', '),
  'access-control-max-age': '86400',
};

/** Media type of every envelope. */
export const jsonType = 'application/json';
