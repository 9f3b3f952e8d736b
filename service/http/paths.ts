/** Contract of a path. */
export type Contract = 'v2' | 'v3' | 'emulate' | 'streaming';

/** Base paths of operations. Names match in any case except for v2; routes have them in lower case. */
export const basePaths: Readonly<Record<Contract, string>> = {
  v2: '/api/v2',
  v3: '/api/v3',
  emulate: '/api/emulate/v1',
  streaming: '/api/streaming',
};

export const rpcPath = `${basePaths.v2}/jsonRPC`;

/** Path of the emulation's page, besides its base path. */
export const emulatePagePath = '/api/emulate';

export const ssePath = `${basePaths.streaming}/v2/sse`;

export const wsPath = `${basePaths.streaming}/v2/ws`;

/** Path of today's usage of the request's key. */
export const usagePath = '/usage';

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
