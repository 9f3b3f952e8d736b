import { hostname } from 'node:os';

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

import type { Operation } from '../contract/operation.ts';
import type { V2 } from '../v2/v2.ts';
import type { V3Request } from '../v3/request/operation.ts';
import type { Emulate } from '../emulate/emulate.ts';
import { answerExplorer, explorerRoutes } from '../explorer/answer.ts';
import type { Explorer } from '../explorer/explorer.ts';
import type { Limits } from '../limits/limits.ts';
import type { Streaming } from '../streaming/streaming.ts';
import type { V3 } from '../v3/v3.ts';
import { createBodyReader } from './body.ts';
import type { Call, Calls } from './calls.ts';
import type { Exchanges } from './exchange.ts';
import type { GatedRoute } from './early-refusal.ts';
import { bareExtra } from './envelope.ts';
import { HttpError } from './errors.ts';
import { noStore } from './headers.ts';
import { createInternalAccess } from './internal-access.ts';
import type { HttpMetrics } from './metrics.ts';
import { describeV2 } from './openapi.ts';
import { withExamples } from './openapi-examples.ts';
import { describeEmulate, describeV3 } from './openapi-v3.ts';
import type { ResolvedHttpOptions } from './options.ts';
import {
  allDocsPages,
  docsPage,
  documentCache,
  page,
  pagePolicy,
  readDocsAssets,
  type OwnPage,
  type Page,
} from './pages.ts';
import { basePaths, emulatePagePath, rpcPath, usagePath, type Contract } from './paths.ts';
import { answerPost, type PostHandler } from './post-route.ts';
import { errorAnswer, send, type Answer } from './reply.ts';
import { answerRest } from './rest-route.ts';
import { answerRpc } from './rpc-route.ts';
import { streamingPages } from './streaming-pages.ts';
import { declareStreaming } from './streaming-routes.ts';
import { answerUsage } from './usage-route.ts';
import { answerV3 } from './v3-route.ts';

/** Methods by path. Distinguishes a wrong method from an unknown path. */
export type RouteTable = ReadonlyMap<string, readonly string[]>;

export type RoutesDependencies = {
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
  readonly calls: Calls;
  readonly exchanges: Exchanges;
  readonly metrics: HttpMetrics;
  /** Further operations by path. */
  readonly posts: ReadonlyMap<string, PostHandler>;
  /** Further pages by path. A page here may replace a page of the service. */
  readonly ownPages: ReadonlyMap<string, () => OwnPage>;
  /** Examples in the documents, by name of the parameter. */
  readonly examples: Readonly<Record<string, string>>;
};

/** Operations and methods that paths stand for. */
export type DeclaredRoutes = {
  readonly table: RouteTable;
  /** Paths of a single operation. */
  readonly gated: ReadonlyMap<string, GatedRoute>;
};

type Declare = (
  path: string,
  methods: readonly string[],
  handler: (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply> | FastifyReply,
) => void;

/** Declares every path of the listener and returns its meaning. A path with a trailing slash is the same path. */
export function declareRoutes(
  app: FastifyInstance,
  options: ResolvedHttpOptions,
  dependencies: RoutesDependencies,
): DeclaredRoutes {
  const { v2, v3, emulate, streaming, explorer, calls, exchanges } = dependencies;
  const bodies = createBodyReader(options.bodyBytesMax, options.bodiesBytesMax);
  const table = new Map<string, readonly string[]>();
  const gated = new Map<string, GatedRoute>();

  const answering = (label: string, work: (call: Call) => Promise<Answer>) => {
    return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
      const exchange = exchanges.of(request);
      exchange.operation = label;
      const answer = await calls.around(request, reply, work);
      exchange.errorCode = answer.errorCode;
      exchange.errorText = answer.errorText;
      return send(reply, answer);
    };
  };

  const declare: Declare = (path, methods, handler) => {
    table.set(path, methods);
    app.route({ method: [...methods], url: path, handler });
  };

  const declareOperation = (
    operation: Pick<Operation, 'name' | 'aliases' | 'methods'>,
    { label, pathOf }: { readonly label: string; readonly pathOf: (name: string) => string },
    work: (call: Call) => Promise<Answer>,
  ): void => {
    const handler = answering(label, work);
    const methods = withHead(operation.methods);
    for (const path of [operation.name, ...operation.aliases].map(pathOf)) {
      declare(path, methods, handler);
      gated.set(path, { operation: operation.name, label, methods });
    }
  };

  const declareV2 = (operation: Operation): void =>
    declareOperation(operation, { label: operation.name, pathOf: (name) => `${basePaths.v2}/${name}` }, (call) =>
      answerRest(calls, call, operation, bodies),
    );

  /** @param contract its name in metrics and of its base path */
  const declareV3 = (contract: 'v3' | 'emulate', operation: Operation<V3Request>): void =>
    declareOperation(
      operation,
      { label: `${contract}/${operation.name}`, pathOf: (name) => `${basePaths[contract]}/${name.toLowerCase()}` },
      (call) =>
        answerV3(calls, call, operation, { ...options, bodies, emptyBody: contract === 'v3' ? 'Accept' : 'Refuse' }),
    );

  if (options.rest) v2.operations.forEach(declareV2);
  v3?.operations.forEach((operation) => declareV3('v3', operation));
  emulate?.operations.forEach((operation) => declareV3('emulate', operation));
  if (options.rpc) {
    const handler = answering('jsonRPC', (call) => answerRpc(options, { ...dependencies, bodies }, call));
    declare(rpcPath, ['POST'], handler);
  }
  if (streaming !== undefined) declareStreaming({ ...dependencies, streaming, bodies, declare, gated });
  declare(usagePath, ['GET'], answering('usage', answerUsage));
  for (const [path, handler] of dependencies.posts) {
    const answer = (call: Call): Promise<Answer> => answerPost(call, handler, bodies);
    declare(path, ['POST'], answering(handler.name, answer));
  }
  const { ownPages } = dependencies;
  for (const [path, content] of contractPages(dependencies)) {
    if (ownPages.has(path)) continue;
    declare(path, ['GET', 'HEAD'], (request, reply) => {
      exchanges.of(request).operation = 'page';
      return sendPage(reply, content, pagePolicy);
    });
  }
  declareOwnPages(ownPages, declare, exchanges);
  if (explorer !== undefined) declareExplorer(explorer, declare, exchanges);
  return { table, gated };
}

/** HEAD is a GET whose answer has no body. */
function withHead(methods: readonly string[]): readonly string[] {
  return methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
}

function declareExplorer(explorer: Explorer, declare: Declare, exchanges: Exchanges): void {
  for (const path of explorerRoutes) {
    declare(path, ['GET', 'HEAD'], async (request, reply) => {
      exchanges.of(request).operation = 'page';
      if (await answerExplorer(explorer, request, reply)) return reply;
      return send(reply, errorAnswer(new HttpError('not_found'), bareExtra));
    });
  }
}

/** Pages of other origins, and of names that are rebound to this address, do not read what these show. */
function declareOwnPages(pages: RoutesDependencies['ownPages'], declare: Declare, exchanges: Exchanges): void {
  const access = createInternalAccess([hostname()]);
  for (const [path, make] of pages) {
    declare(path, ['GET', 'HEAD'], (request, reply) => {
      exchanges.of(request).operation = 'page';
      reply.removeHeader('access-control-allow-origin');
      const refusal = access(request.raw);
      if (refusal === undefined) {
        const content = make();
        if ('location' in content) return reply.redirect(content.location);
        return sendPage(reply, content, content.policy);
      }
      return send(reply, { status: refusal.status, body: JSON.stringify({ ok: false, error: refusal.error }) });
    });
  }
}

/** Pages of all served contracts. */
function contractPages({
  v2,
  v3,
  emulate,
  streaming,
  examples,
}: Pick<RoutesDependencies, 'v2' | 'v3' | 'emulate' | 'streaming' | 'examples'>): readonly (readonly [
  path: string,
  page: Page,
])[] {
  const served: Contract[] = [
    'v2',
    ...(v3 === undefined ? [] : (['v3'] as const)),
    ...(emulate === undefined ? [] : (['emulate'] as const)),
    ...(streaming === undefined ? [] : (['streaming'] as const)),
  ];
  return [
    ...allDocsPages(served),
    ...servicePages(v2, examples),
    ...(v3 === undefined ? [] : v3Pages(v3, examples)),
    ...(emulate === undefined ? [] : emulatePages(emulate, examples)),
    ...(streaming === undefined ? [] : streamingPages(v3?.version ?? v2.version)),
  ];
}

/** Pages that need only this process: probes, the document and its reader. */
function servicePages(v2: V2, examples: RoutesDependencies['examples']): ReadonlyMap<string, Page> {
  const health = page('application/json', '"OK"', noStore);
  const document = page('application/json', JSON.stringify(withExamples(describeV2(v2), examples)), documentCache);
  return new Map<string, Page>([
    ['/healthcheck', health],
    [`${basePaths.v2}/healthcheck`, health],
    [`${basePaths.v2}/openapi.json`, document],
    [basePaths.v2, docsPage('v2')],
    ...readDocsAssets(),
  ]);
}

/** Document of v3 under the names that its clients use, and its reader (service/v3/README.md#transport). */
function v3Pages(v3: V3, examples: RoutesDependencies['examples']): ReadonlyMap<string, Page> {
  const document = page('application/json', JSON.stringify(withExamples(describeV3(v3), examples)), documentCache);
  return new Map<string, Page>([
    [`${basePaths.v3}/openapi.json`, document],
    [`${basePaths.v3}/doc.json`, document],
    [basePaths.v3, docsPage('v3')],
    [`${basePaths.v3}/index.html`, docsPage('v3')],
  ]);
}

/** Document of the emulation, and its reader. */
function emulatePages(emulate: Emulate, examples: RoutesDependencies['examples']): ReadonlyMap<string, Page> {
  const described = JSON.stringify(withExamples(describeEmulate(emulate), examples));
  return new Map<string, Page>([
    [`${basePaths.emulate}/openapi.json`, page('application/json', described, documentCache)],
    [basePaths.emulate, docsPage('emulate')],
    [emulatePagePath, docsPage('emulate')],
  ]);
}

function sendPage(reply: FastifyReply, content: Page, policy: string): FastifyReply {
  return reply
    .headers({
      'content-type': content.contentType,
      'cache-control': content.cacheControl,
      'content-security-policy': policy,
    })
    .send(content.body);
}
