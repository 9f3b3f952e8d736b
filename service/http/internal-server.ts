import type { AddressInfo } from 'node:net';

import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { Registry } from 'prom-client';

import { askForBody, awaitsContinue, deferContinue } from './expectation.ts';
import { answerExplorer, explorerRoutes, routedExplorerUrl } from '../explorer/answer.ts';
import type { Explorer } from '../explorer/explorer.ts';
import { createInternalAccess } from './internal-access.ts';

/** The listener for probes, metrics and operators: never exposed to callers. */
export type InternalServer = {
  listen(): Promise<{ readonly host: string; readonly port: number }>;
  close(): Promise<void>;
};

export type InternalServerOptions = {
  readonly host: string;
  /** 0 takes a free port. */
  readonly port: number;
  /** Host names under which the listener is reached, besides `localhost` and names of a cluster. */
  readonly names: readonly string[];
};

/** Readiness of the process, with reasons when it is not ready. */
export type Readiness = { readonly ready: boolean; readonly reasons: readonly string[] };

export type InternalPage = {
  readonly contentType: string;
  readonly body: string;
  /** Policy of what the page may load. Absent for a response that is no HTML page. */
  readonly contentSecurityPolicy?: string;
};

/** Answers a POST; what it throws becomes a 500 with its message. */
export type InternalPost = (body: Buffer) => Promise<InternalPage>;

/** The largest account there may be, as a bag of cells in base64, and what is around it. */
const POST_BYTES_MAX = 8 * 1_048_576;

export type InternalServerDependencies = {
  readonly register: Registry;
  /** False while no lite server is usable and while draining. */
  readonly readiness: () => Readiness;
  /** Returns the content of `/status` as JSON. */
  readonly status: () => unknown;
  /** Renders the status as a page for people: at `/status.html`, and at `/status` for a client that prefers HTML. */
  readonly statusPage: () => InternalPage;
  /** Further pages by path, such as `/global.config.json`; made at each request. */
  readonly pages: ReadonlyMap<string, () => InternalPage | Promise<InternalPage>>;
  /** Actions by path: `/dev` of a private network. */
  readonly posts?: ReadonlyMap<string, InternalPost>;
  /** The explorer with the page that acts on a private network. */
  readonly explorer?: Explorer;
};

/**
 * Serves `/metrics` (Prometheus), `/livez`, `/readyz`, `/status`, and the given pages. `/livez` shows only that the event loop turns.
 * `/readyz` answers 200 or 503, both with the reasons as JSON. Web pages of other origins reach none of the paths, see
 * `createInternalAccess`.
 */
export function createInternalServer(
  options: InternalServerOptions,
  { register, readiness, status, statusPage, pages, posts = new Map(), explorer }: InternalServerDependencies,
): InternalServer {
  const access = createInternalAccess(options.names);
  const refuses = (request: FastifyRequest, reply: FastifyReply): boolean => {
    // Answers show the current state, and no cache may store them.
    reply.header('cache-control', 'no-store');
    const refusal = access(request.raw);
    if (refusal !== undefined && awaitsContinue(request.raw)) reply.header('connection', 'close');
    if (refusal !== undefined) void sendJson(reply, refusal.status, { error: refusal.error });
    return refusal !== undefined;
  };
  const app = fastify({
    logger: false,
    forceCloseConnections: true,
    bodyLimit: POST_BYTES_MAX,
    rewriteUrl: ({ url = '/' }) => routedExplorerUrl(url),
    // A path that cannot be decoded skips all hooks.
    frameworkErrors: ({ message }, request, reply) => {
      if (!refuses(request, reply)) void sendJson(reply, 400, { error: message });
    },
  });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));

  app.addHook('onRequest', (request, reply, done) => {
    if (!refuses(request, reply)) done();
  });
  continueAfterChecks(app);

  app.get('/livez', (_request, reply) => sendJson(reply, 200, { alive: true }));
  app.get('/readyz', (_request, reply) => {
    const state = readiness();
    return sendJson(reply, state.ready ? 200 : 503, state);
  });
  app.get('/status', (request, reply) =>
    prefersHtml(request.headers.accept) ? sendPage(reply, statusPage()) : sendJson(reply, 200, status()),
  );
  app.get('/status.html', (_request, reply) => sendPage(reply, statusPage()));
  app.get('/metrics', async (_request, reply) => {
    const text = await register.metrics();
    return reply.header('content-type', register.contentType).send(text);
  });
  for (const [path, make] of pages) {
    app.get(path, async (_request, reply) => {
      return sendPage(reply, await make());
    });
  }
  for (const [path, run] of posts) {
    app.post(path, async (request, reply) => {
      return sendPage(reply, await run(Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0)));
    });
  }
  if (explorer !== undefined) {
    for (const path of explorerRoutes) {
      app.get(path, async (request, reply) => {
        if (await answerExplorer(explorer, request, reply)) return reply;
        return sendJson(reply, 404, { error: 'Not Found' });
      });
    }
  }
  // Callers of this port may see the reason of an error.
  app.setErrorHandler((error, _request, reply) => {
    const tooLarge = error instanceof Error && 'statusCode' in error && error.statusCode === 413;
    return sendJson(reply, tooLarge ? 413 : 500, { error: error instanceof Error ? error.message : String(error) });
  });
  app.setNotFoundHandler((_request, reply) => sendJson(reply, 404, { error: 'Not Found' }));

  return {
    async listen() {
      await app.listen({ host: options.host, port: options.port });
      const { address, port } = app.server.address() as AddressInfo;
      return { host: address, port };
    },
    close: () => app.close(),
  };
}

/** Sends `100 Continue` to a caller that waits for it. A refused request, or a declared length beyond the bound, gets none. */
function continueAfterChecks(app: FastifyInstance): void {
  deferContinue(app.server);
  app.addHook('preParsing', ({ raw: message }, reply, payload, done) => {
    const isTooLong = Number(message.headers['content-length'] ?? 0) > POST_BYTES_MAX;
    if (isTooLong) reply.header('connection', 'close');
    else askForBody(message);
    done(null, payload);
  });
}

/** Browsers name HTML first; programs name JSON, anything, or nothing. */
function prefersHtml(accept = ''): boolean {
  const html = accept.indexOf('text/html');
  const json = accept.indexOf('application/json');
  return html !== -1 && (json === -1 || html < json);
}

function sendPage(reply: FastifyReply, { contentType, body, contentSecurityPolicy }: InternalPage): FastifyReply {
  if (contentSecurityPolicy !== undefined) {
    reply.headers({ 'content-security-policy': contentSecurityPolicy, 'x-content-type-options': 'nosniff' });
  }
  return reply.header('content-type', contentType).header('vary', 'accept').send(Buffer.from(body));
}

/** Values that JSON has no number for (bigint) are shown as text. */
function sendJson(reply: FastifyReply, status: number, value: unknown): FastifyReply {
  const body = JSON.stringify(value, (_key, item: unknown) => (typeof item === 'bigint' ? item.toString() : item));
  return reply.code(status).header('content-type', 'application/json').send(Buffer.from(body));
}
