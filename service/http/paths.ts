/** Base path of v2 operations. */
export const operationsPath = '/api/v2';

export const rpcPath = `${operationsPath}/jsonRPC`;

/** Base path of v3 operations. Names below it match in any case; routes have them in lower case. */
export const v3Path = '/api/v3';

/** Base path of the emulation's operations; the same rules as for v3. */
export const emulatePath = '/api/emulate/v1';

/** Path of the emulation's page, besides its base path. */
export const emulatePagePath = '/api/emulate';

/** Base path of streaming; the same rules as for v3. */
export const streamingPath = '/api/streaming';

export const ssePath = `${streamingPath}/v2/sse`;

export const wsPath = `${streamingPath}/v2/ws`;

/** Path of today's usage of the request's key. */
export const usagePath = '/usage';

/** Contract of a path. */
export type Contract = 'v2' | 'v3' | 'emulate' | 'streaming';

const contractStart = /^\/api\/(v3|emulate|streaming)(?=[/?#]|$)/i;

/** Contract of a URL, found or not. A URL below no base path has the form of v2. */
export function contractOf(url: string): Contract {
  const name = contractStart.exec(url)?.[1]?.toLowerCase();
  return name === 'v3' || name === 'emulate' || name === 'streaming' ? name : 'v2';
}

/** True for a URL whose answers have the headers and the form of v3. */
export function hasV3Form(url: string): boolean {
  return contractOf(url) !== 'v2';
}

/** Normalizes a URL for routing: the path of v3, of the emulation and of streaming in lower case, the query unchanged. */
export function routedUrl(url: string): string {
  if (!hasV3Form(url)) return url;
  const end = url.search(/[?#]/);
  return end === -1 ? url.toLowerCase() : url.slice(0, end).toLowerCase() + url.slice(end);
}

/** Normalizes a path for routing: without the query and without a trailing slash. */
export function pathOf(url: string): string {
  const path = url.split(/[?#]/, 1)[0] ?? '';
  return path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path;
}
