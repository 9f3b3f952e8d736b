import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';

import type { TlsFiles } from './tls-files.ts';

/** A listener for plain pages. */
export type HttpPages = {
  /** The port it really listens on. */
  listen(): Promise<number>;
  close(): Promise<void>;
};

/** Part of a request that a page may depend on. */
export type PageRequest = { readonly authorization: string | undefined };

export type Page = { readonly status: number; readonly contentType: string; readonly body: string };

/** A client that does not send its request within this is no probe and no scraper. */
const REQUEST_TIMEOUT_MS = 5000;

/** Answers GET of the paths given: made at each request, anything else is 404. @param options.tls HTTPS in place of HTTP */
export function createHttpPages(
  options: { readonly host: string; readonly port: number; readonly tls?: TlsFiles | undefined },
  { pages }: { readonly pages: Readonly<Record<string, (request: PageRequest) => Page | Promise<Page>>> },
): HttpPages {
  const { tls } = options;
  const listener = (request: IncomingMessage, response: ServerResponse): void => void answer(request, response);
  const bounds = { requestTimeout: REQUEST_TIMEOUT_MS };
  const server = tls === undefined ? createServer(bounds, listener) : serveTls(tls);

  function serveTls(files: TlsFiles) {
    const made = createTlsServer({ ...bounds, ...files.current(), handshakeTimeout: REQUEST_TIMEOUT_MS }, listener);
    files.follow((renewed) => made.setSecureContext(renewed));
    return made;
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = (request.url ?? '').split('?')[0] ?? '';
    const make = request.method === 'GET' && Object.hasOwn(pages, path) ? pages[path] : undefined;
    try {
      const { status, contentType, body } =
        make === undefined ? notFound : await make({ authorization: request.headers.authorization });
      const challenge = status === 401 ? { 'www-authenticate': 'Bearer' } : {};
      response.writeHead(status, { 'content-type': contentType, ...challenge }).end(body);
    } catch (error) {
      response.writeHead(500, { 'content-type': 'text/plain' }).end(error instanceof Error ? error.message : '');
    }
  }

  return {
    listen: () =>
      new Promise((resolve, reject) => {
        server.once('error', reject);
        server.listen(options.port, options.host, () => resolve((server.address() as AddressInfo).port));
      }),
    close: () =>
      new Promise((resolve) => {
        tls?.close();
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

const notFound: Page = { status: 404, contentType: 'text/plain', body: 'Not Found' };

/** Answer to a probe: 200 or 503, with the reasons. */
export function probePage(reasons: readonly string[]): Page {
  const body = JSON.stringify({ ok: reasons.length === 0, reasons });
  return { status: reasons.length === 0 ? 200 : 503, contentType: 'application/json', body };
}
