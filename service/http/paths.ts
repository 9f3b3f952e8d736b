/** Base path of v2 operations. */
export const operationsPath = '/api/v2';

export const rpcPath = `${operationsPath}/jsonRPC`;

/** Base path of v3 operations. Names below it match in any case; routes have them in lower case. */
export const v3Path = '/api/v3';

/** Path of today's usage of the request's key. */
export const usagePath = '/usage';

const v3Start = /^\/api\/v3(?=[/?#]|$)/i;

/** True for a URL below the base path of v3, found or not. */
export function isV3(url: string): boolean {
  return v3Start.test(url);
}

/** Normalizes a URL for routing: the path of v3 in lower case, the query unchanged. */
export function routedUrl(url: string): string {
  if (!isV3(url)) return url;
  const end = url.search(/[?#]/);
  return end === -1 ? url.toLowerCase() : url.slice(0, end).toLowerCase() + url.slice(end);
}

/** Normalizes a path for routing: without the query and without a trailing slash. */
export function pathOf(url: string): string {
  const path = url.split(/[?#]/, 1)[0] ?? '';
  return path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path;
}
