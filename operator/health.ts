import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A listener for plain pages. */
export type Pages = {
  /** The port it really listens on. */
  listen(): Promise<number>;
  close(): Promise<void>;
};

export type Page = { readonly status: number; readonly contentType: string; readonly body: string };

/** A client that does not send its request within this is no probe and no scraper. */
const requestTimeoutMs = 5000;

/** Answers GET of the paths given: made at each request, anything else is 404. */
export function createPages(
  options: { readonly host: string; readonly port: number },
  { pages }: { readonly pages: Readonly<Record<string, () => Page | Promise<Page>>> },
): Pages {
  const server: Server = createServer({ requestTimeout: requestTimeoutMs }, (request, response) => {
    void answer(request, response);
  });

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = (request.url ?? '').split('?')[0] ?? '';
    const make = request.method === 'GET' && Object.hasOwn(pages, path) ? pages[path] : undefined;
    try {
      const { status, contentType, body } = make === undefined ? notFound : await make();
      response.writeHead(status, { 'content-type': contentType }).end(body);
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
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

const notFound: Page = { status: 404, contentType: 'text/plain', body: 'Not Found' };

/** What a probe asks: 200 or 503, with the reasons. */
export function probePage(reasons: readonly string[]): Page {
  const body = JSON.stringify({ ok: reasons.length === 0, reasons });
  return { status: reasons.length === 0 ? 200 : 503, contentType: 'application/json', body };
}
