import type { FastifyReply, FastifyRequest } from 'fastify';

import type { Encoding, Explorer } from './explorer.ts';

/** Paths of the explorer in the router's form. A path of one more segment is a page or a file. */
export const explorerRoutes = ['/explorer', '/explorer/*'];

/** URL for the router, which refuses a path with a wrong escape. Below `/explorer` such a path is a page: the application reads it. */
export function routedExplorerUrl(url: string): string {
  if (!url.startsWith('/explorer/')) return url;
  try {
    decodeURIComponent(url.split(/[?#]/, 1)[0] ?? '');
    return url;
  } catch {
    return '/explorer';
  }
}

/**
 * Answers a page or a file of the explorer.
 * @returns false for a file that does not exist, with nothing sent
 */
export async function answerExplorer(
  explorer: Explorer,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<boolean> {
  const file = await explorer.find(request.url.split(/[?#]/, 1)[0] ?? '');
  if (file === undefined) return false;
  const encoding = acceptedEncoding(request.headers['accept-encoding']);
  const encoded = encoding && file.encoded(encoding);
  const isEncoded = encoding !== undefined && encoded !== undefined;
  // Bytes of each encoding differ, and so do their validators.
  const etag = isEncoded ? file.etag.replace(/"$/, `-${encoding}"`) : file.etag;
  reply.headers({
    'content-type': file.contentType,
    'cache-control': 'private, no-cache',
    'content-security-policy': explorer.policy(),
    'cross-origin-opener-policy': 'same-origin',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    vary: 'accept-encoding',
    etag,
  });
  if (request.headers['if-none-match']?.includes(etag) === true) {
    void reply.code(304).send();
    return true;
  }
  if (isEncoded) reply.header('content-encoding', encoding);
  void reply.send(isEncoded ? await encoded : file.body);
  return true;
}

const encodings: readonly Encoding[] = ['br', 'gzip'];

/** Best encoding that the caller takes; undefined for none. */
export function acceptedEncoding(header = ''): Encoding | undefined {
  const accepted = header
    .toLowerCase()
    .split(',')
    .map((entry) => entry.split(';').map((part) => part.trim()))
    .filter(([, quality = '']) => !/^q=0(\.0*)?$/.test(quality))
    .map(([name]) => name);
  return encodings.find((encoding) => accepted.includes(encoding));
}
