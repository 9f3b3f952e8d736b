/** Where operations of v2 are. */
export const operationsPath = '/api/v2';

export const rpcPath = `${operationsPath}/jsonRPC`;

/** Where operations of v3 are. Names below it are of any case: routes know them in lower case. */
export const v3Path = '/api/v3';

/** What the key of the request did today. */
export const usagePath = '/usage';

const v3Start = /^\/api\/v3(?=[/?#]|$)/i;

/** Whether a URL is one of v3, found or not. */
export function isV3(url: string): boolean {
  return v3Start.test(url);
}

/** A URL as routes know it: the path of one of v3 in lower case, its query as it is. */
export function routedUrl(url: string): string {
  if (!isV3(url)) return url;
  const end = url.search(/[?#]/);
  return end === -1 ? url.toLowerCase() : url.slice(0, end).toLowerCase() + url.slice(end);
}

/** The path as routes know it: without query and without a slash at its end. */
export function pathOf(url: string): string {
  const path = url.split(/[?#]/, 1)[0] ?? '';
  return path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path;
}
