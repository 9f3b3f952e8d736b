import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

import type { Tracer } from '@opentelemetry/api';
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';

import type { Limits } from '../limits/limits.ts';
import type { V2 } from '../v2/v2.ts';
import type { Emulate } from '../emulate/emulate.ts';
import { routedExplorerUrl } from '../explorer/answer.ts';
import type { Explorer } from '../explorer/explorer.ts';
import type { V3 } from '../v3/v3.ts';
import type { Streaming } from '../streaming/streaming.ts';
import { answerRunOut } from './body.ts';
import { createCalls } from './calls.ts';
import { compressAnswers } from './compression.ts';
import { boundConnections } from './connections.ts';
import { bareExtra } from './envelope.ts';
import {
  createConditionsStage,
  type CallerConditions,
  type ConditionsDependencies,
  type ConditionsStage,
} from './conditions.ts';
import { HttpError } from './errors.ts';
import { deferContinue } from './expectation.ts';
import { createExchanges, type Exchanges } from './exchange.ts';
import { createEarlyRefusal, type EarlyRefusal } from './early-refusal.ts';
import { commonHeaders, hasOneHost, headerBytesOf, preflightHeaders } from './headers.ts';
import { answerExpectation, createMalformedAnswers, writeRaw } from './malformed-requests.ts';
import { createHttpMetrics, type HttpMetrics } from './metrics.ts';
import {
  connectionBound,
  resolveHttpOptions,
  type Clock,
  type HttpOptions,
  type ResolvedHttpOptions,
} from './options.ts';
import { errorAnswer, send } from './reply.ts';
import { createRefusalThrottle } from './refusal-throttle.ts';
import type { PostHandler } from './post-route.ts';
import type { OwnPage } from './pages.ts';
import { contractOf, hasV3Form, pathOf, routedUrl, rpcPath, ssePath } from './paths.ts';
import { declareRoutes, type RouteTable } from './routes.ts';
import { createUpgrades, isUpgrade } from './upgrades.ts';

/** Settings that change while the listener runs, by the names of the hot fields of a manifest. */
export type HotHttpSettings = {
  /** Number of proxies in front whose `X-Forwarded-For` entries are believed. */
  readonly trustedProxies: number;
  /** Streams that this process takes. */
  readonly maxConnectionsPerPod: number;
};

/** The public listener. */
export type HttpServer = {
  /** Starts to listen and resolves to the address. Rejects with the system's error when the port is taken. */
  listen(): Promise<{ readonly host: string; readonly port: number }>;
  status(): HttpServerStatus;
  reconfigure(settings: HotHttpSettings): void;
  /**
   * Serves connections until no request has come for a while (`quietMs`, at most `lateMsMax`), and closes them with their answers. Then the
   * listener accepts no new connections, and requests in flight get `drainMs` before they are cut. Resolves when every connection is
   * closed.
   */
  close(): Promise<void>;
};

export type HttpServerStatus = {
  /** True from the call of `close` on. Readiness must then be false. */
  readonly draining: boolean;
  readonly inFlight: number;
};

export type HttpServerDependencies = {
  readonly v2: V2;
  /** Absent: v3 is not served. */
  readonly v3?: V3;
  /** Absent: emulation is not served. */
  readonly emulate?: Emulate;
  /** Absent: streams are not served. */
  readonly streaming?: Streaming;
  /** Absent: the explorer is not served. */
  readonly explorer?: Explorer;
  readonly limits: Limits;
  readonly logger: Logger;
  readonly tracer: Tracer;
  readonly register: Registry;
  readonly clock: Clock;
  /** Served masterchain seqno, for debugging headers; undefined before the first. */
  readonly headSeqno?: () => number | undefined;
  /** Operations outside the contracts, by path: the faucet of a private network. */
  readonly posts?: ReadonlyMap<string, PostHandler>;
  /** Pages of this installation, by path. */
  readonly ownPages?: ReadonlyMap<string, () => OwnPage>;
  /** Examples in the documents, by name of the parameter. */
  readonly examples?: Readonly<Record<string, string>>;
  /** Simulated treatment of callers, for tests of clients; absent for normal treatment. */
  readonly conditions?: () => CallerConditions;
};

export function createHttpServer(given: HttpOptions, dependencies: HttpServerDependencies): HttpServer {
  const options = resolveHttpOptions(given);
  const { v2, v3, emulate, streaming, explorer, limits, register } = dependencies;
  const metrics = createHttpMetrics(register);
  const headers = commonHeaders(v2.version);
  const v3Headers = commonHeaders(v3?.version ?? emulate?.version ?? v2.version);
  const headersOf = (url: string) => (hasV3Form(url) ? v3Headers : headers);
  const exchanges = createExchanges({ ...dependencies, metrics });
  const { headSeqno = () => undefined, posts = new Map(), ownPages = new Map(), examples = {} } = dependencies;
  const pacing = createRefusalThrottle(dependencies.clock.nowMs);
  const calls = createCalls(options, { ...dependencies, headSeqno, exchanges, pacing });
  const app = createListener(options, headers, metrics, streaming, (error, request, reply) => {
    exchanges.begin(request, reply);
    reply.headers(headersOf(request.url));
    sendError(reply, error, bareExtra);
  });
  if (streaming !== undefined) {
    const isDraining = (): boolean => draining;
    const parts = { ...dependencies, streaming, calls, exchanges, pacing, headersOf, isDraining };
    app.server.on('upgrade', createUpgrades({ ...options, urlBytesMax: STREAM_URL_MAX }, parts).handle);
  }
  const { connectionsPerAddress } = options;
  const connections = boundConnections(app.server, {
    max: connectionBound(connectionsPerAddress, options.trustedProxies),
    headers,
    onRefusal: metrics.connectionRefused,
  });
  let draining = false;
  let routes: RouteTable = new Map();

  // Without this fastify refuses a media type that it cannot parse. A body is JSON whatever the header says
  // (service/v2/README.md#transport).
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, _payload, done) => done(null));
  app.decorateRequest('exchange');

  app.addHook('onRequest', (request, reply, done) => {
    delete request.raw.headers['content-type'];
    const exchange = exchanges.begin(request, reply);
    reply.headers(headersOf(request.url));
    const refusal = refuseAtOnce(request, routes, options);
    if (request.method === 'OPTIONS' && refusal?.code !== 'bad_host') {
      exchange.operation = 'preflight';
      void reply.headers(preflightHeaders).code(204).send();
    } else if (refusal !== undefined) {
      reply.headers(calls.standingHeaders(request));
      const bare = refusal.code === 'not_found' || pathOf(request.url) === rpcPath;
      sendError(reply, refusal, bare ? bareExtra : exchange.extra());
    } else {
      done();
    }
  });

  app.addHook('onSend', (request, reply, payload, done) => {
    if (hasV3Form(request.url))
      reply.header('server-timing', `app;dur=${exchanges.of(request).elapsedMs().toFixed(3)}ms`);
    if (draining) reply.header('connection', 'close');
    // After a timeout of the body, the rest of the body is not awaited.
    if (request.raw.complete || reply.statusCode === 408) done(null, payload);
    else answerRunOut(request.raw, draining, () => done(null, payload));
  });

  app.setErrorHandler((error, request, reply) => {
    dependencies.logger.error({ err: error }, 'request failed outside its operation');
    return sendError(reply, error, exchanges.of(request).extra());
  });

  const sendError = (reply: FastifyReply, error: unknown, extra: string): FastifyReply => {
    const { envelope } = exchanges.of(reply.request);
    const answer = errorAnswer(error, extra, { envelope });
    exchanges.of(reply.request).errorCode = answer.errorCode;
    return send(reply, answer);
  };

  if (options.compression) compressAnswers(app);
  // The routes come after the plugin, which inspects each route.
  app.after(() => {
    const declared = declareRoutes(app, options, {
      v2,
      ...(v3 && { v3 }),
      ...(emulate && { emulate }),
      ...(streaming && { streaming }),
      ...(explorer && { explorer }),
      limits,
      calls,
      exchanges,
      metrics,
      posts,
      ownPages,
      examples,
    });
    routes = declared.table;
    const gate = createEarlyRefusal({
      routes: declared.gated,
      callerOf: calls.callerOf,
      refusal: limits.refusal,
      pacing,
      exchanges,
      headersOf,
      isDraining: () => draining,
    });
    placeBefore(app.server, gate, conditionsStage(dependencies, { exchanges, headersOf }));
  });

  return {
    async listen() {
      await app.listen({ host: options.host, port: options.port, backlog: BACKLOG });
      const { address, port } = app.server.address() as AddressInfo;
      return { host: address, port };
    },
    status: () => ({ draining, inFlight: exchanges.inFlight }),
    reconfigure({ trustedProxies, maxConnectionsPerPod }) {
      calls.setTrustedProxies(trustedProxies);
      connections.setMax(connectionBound(connectionsPerAddress, trustedProxies));
      if (streaming === undefined) return;
      streaming.setConnectionsMax(maxConnectionsPerPod);
      app.server.maxConnections = options.connectionsMax + maxConnectionsPerPod;
    },
    async close() {
      draining = true;
      await Promise.all([quietWithin(app.server, options), streaming?.close(options.drainMs / 2)]);
      const closed = app.close();
      await idleWithin(exchanges, options.drainMs);
      calls.cut();
      await idleWithin(exchanges, CUT_MS);
      app.server.closeAllConnections();
      await closed;
    },
  };
}

/** Conditions and the gate see a request first. Fastify handles it when both let it pass. */
function placeBefore(server: Server, gate: EarlyRefusal, conditions: ConditionsStage | undefined): void {
  const listeners = server.listeners('request') as RequestListener[];
  server.removeAllListeners('request');
  server.on('request', (message: IncomingMessage, response: ServerResponse) => {
    const next = (): void => {
      if (gate.refuses(message, response)) return;
      for (const listener of listeners) listener(message, response);
    };
    if (conditions === undefined) next();
    else conditions(message, response, next);
  });
}

function conditionsStage(
  { conditions, clock }: HttpServerDependencies,
  parts: Pick<ConditionsDependencies, 'exchanges' | 'headersOf'>,
): ConditionsStage | undefined {
  if (conditions === undefined) return undefined;
  return createConditionsStage({ conditions, nowMs: clock.nowMs, random: Math.random, ...parts });
}

/**
 * Connections that wait to be accepted. A caller beyond them has to ask again after 1, 3 and 7 seconds: thousands of streams may come back at
 * once. Linux allows 4,096 by default.
 */
const BACKLOG = 4096;

/** After the cut every answer is on its way. A connection whose caller does not read is closed after this time. */
const CUT_MS = 500;

type OnBadUrl = (error: HttpError, request: FastifyRequest, reply: FastifyReply) => void;

/** Creates a fastify instance with the bounds of the listener. It answers everything that is not a valid request. */
function createListener(
  options: ResolvedHttpOptions,
  headers: Readonly<Record<string, string>>,
  metrics: HttpMetrics,
  streaming: Streaming | undefined,
  onBadUrl: OnBadUrl,
): FastifyInstance {
  const malformed = createMalformedAnswers(headers, metrics.malformed);
  const app = fastify({
    logger: false,
    exposeHeadRoutes: false,
    keepAliveTimeout: options.keepAliveTimeoutMs,
    requestTimeout: options.receiveTimeoutMs,
    // Requests that come on open connections while draining are served: their callers did nothing wrong.
    return503OnClosing: false,
    rewriteUrl: ({ url = '/' }) => routedExplorerUrl(routedUrl(url)),
    forceCloseConnections: 'idle',
    routerOptions: {
      ignoreTrailingSlash: true,
      querystringParser: (text) => new URLSearchParams(text) as unknown as Record<string, unknown>,
    },
    http: {
      maxHeaderSize: Math.max(options.headerBytesMax, options.v3HeaderBytesMax),
      headersTimeout: options.headersTimeoutMs,
      connectionsCheckingInterval: options.connectionsCheckMs,
      // Node would answer a request without Host by itself, without a body. `refuseAtOnce` does.
      requireHostHeader: false,
      ...(streaming && { shouldUpgradeCallback: isUpgrade }),
    },
    clientErrorHandler: (error, socket) => malformed.answer(error, socket),
    frameworkErrors: (_error, request, reply) => onBadUrl(new HttpError('bad_url'), request, reply),
  });
  app.server.maxConnections = options.connectionsMax + (streaming?.connectionsMax() ?? 0);
  deferContinue(app.server);
  app.server.on('checkExpectation', (_request, response) => answerExpectation(response, headers));
  app.server.on('connect', (_request, socket) => {
    writeRaw(socket, 405, 'unsupported http method: CONNECT', headers);
  });
  return app;
}

/** Returns the reason to refuse a request before routing; undefined when there is none. */
function refuseAtOnce(
  request: FastifyRequest,
  routes: RouteTable,
  options: ResolvedHttpOptions,
): HttpError | undefined {
  if (!hasOneHost(request.raw)) return new HttpError('bad_host');
  // Queries of v3 may have lists of 1,000 addresses. The listener's own bound on all headers bounds them.
  const contract = contractOf(request.url);
  if (contract !== 'v3') {
    if (headerBytesOf(request.raw) > options.headerBytesMax) return new HttpError('headers_too_large');
    const urlMax = contract === 'streaming' ? STREAM_URL_MAX : options.urlBytesMax;
    if (request.url.length > urlMax) return new HttpError('url_too_long');
  }
  if (!request.is404) return undefined;
  const path = pathOf(request.url);
  const allow = routes.get(path);
  if (allow === undefined) return new HttpError('not_found');
  const { method } = request;
  const message = path === rpcPath ? `method ${method} is not supported` : `unsupported http method: ${method}`;
  return new HttpError('wrong_method', message, { allow: [...allow, 'OPTIONS'] });
}

/** Bytes of the URL of a stream: a subscription in a query of 16 KiB has 200 addresses. */
const STREAM_URL_MAX = `${ssePath}?`.length + 16_384;

/**
 * Waits until no request has come for a while. A load balancer may learn late that this pod ends. A request may then be in transit on an
 * idle connection, and closing at once would lose it. Each answer asks its caller not to reuse the connection.
 */
async function quietWithin(server: Server, { quietMs, lateMsMax }: ResolvedHttpOptions): Promise<void> {
  if (lateMsMax === 0) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  const quiet = setTimeout(resolve, Math.min(quietMs, lateMsMax));
  const late = setTimeout(resolve, lateMsMax);
  const onRequest = (): void => void quiet.refresh();
  server.on('request', onRequest);
  await promise;
  server.off('request', onRequest);
  clearTimeout(quiet);
  clearTimeout(late);
}

/** Waits for the end of every request, at most `waitMs`. */
async function idleWithin(exchanges: Exchanges, waitMs: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, waitMs);
  await Promise.race([exchanges.idle(), promise]);
  clearTimeout(timer);
}
