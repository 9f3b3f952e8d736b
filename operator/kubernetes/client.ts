import { context, propagation, SpanKind, SpanStatusCode, trace, type Span, type Tracer } from '@opentelemetry/api';
import type { Dispatcher } from 'undici';

import { yamlSafeJson } from './bounded-text.ts';
import type { Credentials } from './credentials.ts';
import { type ApiError, fromStatus, isApiError, malformed, noAnswer, notLeader } from './errors.ts';
import type { ClientMetrics } from './metrics.ts';
import type { KubernetesObject, ObjectMetadata } from './object.ts';
import { collectionPath, objectPath, resourceOf, type Resource } from './resources.ts';

/** Identity of an object within its kind. */
export type ObjectName = { readonly namespace?: string | undefined; readonly name: string };

/** Bounds of one request. */
export type RequestBounds = { readonly signal?: AbortSignal | undefined; readonly timeoutMs?: number };

export type ListQuery = {
  /** Undefined for all namespaces. */
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
  readonly limit?: number;
  /** Position after the previous page. */
  readonly continueAt?: string | undefined;
  /** Metadata alone is asked for and sent: no values of Secrets enter this process. */
  readonly metadataOnly?: boolean;
};

type ListPage = {
  readonly items: readonly KubernetesObject[];
  readonly resourceVersion: string;
  readonly continueAt: string | undefined;
};

type WatchQuery = Omit<ListQuery, 'limit' | 'continueAt'> & {
  readonly resourceVersion: string;
  readonly timeoutSeconds: number;
};

type ApplyOptions = {
  readonly manager: string;
  /** Takes fields over that other managers own; without it they are a `conflict`. */
  readonly force: boolean;
  readonly dryRun?: boolean;
  readonly subresource?: 'status';
};

/** Narrow port to the API server. Bodies are plain JSON, so unknown fields survive. Every request is bounded in time. */
export type KubernetesClient = {
  /** Undefined when there is none. */
  get(of: Resource, name: ObjectName, bounds?: RequestBounds): Promise<KubernetesObject | undefined>;
  /** Metadata alone; undefined when there is none. */
  getMetadata(of: Resource, name: ObjectName, bounds?: RequestBounds): Promise<KubernetesObject | undefined>;
  list(of: Resource, query: ListQuery, bounds?: RequestBounds): Promise<ListPage>;
  /** The bytes of a watch, line by line JSON; ends with the signal. */
  watch(of: Resource, query: WatchQuery, signal: AbortSignal): Promise<AsyncIterable<Buffer>>;
  /** Server-side apply: the fields given become `manager`'s, fields that it gave before and gives no more are removed. */
  apply(object: KubernetesObject, options: ApplyOptions, bounds?: RequestBounds): Promise<KubernetesObject>;
  create(object: KubernetesObject, bounds?: RequestBounds): Promise<KubernetesObject>;
  /** Asks the API server for a judgement, such as a TokenReview, which has no name and is not stored. Returns the `status` of the answer. */
  review(
    of: Resource,
    spec: Readonly<Record<string, unknown>>,
    bounds?: RequestBounds,
  ): Promise<Readonly<Record<string, unknown>>>;
  /** PUT: fails with `conflict` when `resourceVersion` is not the newest. */
  replace(object: KubernetesObject, bounds?: RequestBounds): Promise<KubernetesObject>;
  /** A JSON merge patch. */
  patch(of: Resource, name: ObjectName, change: object, bounds?: RequestBounds): Promise<KubernetesObject>;
  /** Deletes in the background, only the object with this UID. Succeeds if the object is absent. */
  delete(of: Resource, name: ObjectName, uid: string, bounds?: RequestBounds): Promise<void>;
  /** JSON of any path, such as that of discovery. Undefined on 404. */
  read(path: string, bounds?: RequestBounds): Promise<unknown>;
  /** Text of any path, such as a page of a pod behind the proxy of the API server. */
  text(path: string, bytesMax: number, bounds?: RequestBounds): Promise<string>;
};

type ClientDependencies = {
  readonly credentials: Credentials;
  readonly metrics: ClientMetrics;
  readonly tracer: Tracer;
  readonly now: () => number;
  /**
   * Called when a write is put on its connection; false holds it back. Its bytes leave within the same turn of the event loop.
   * A process frozen in that turn sends them when it wakes. Reads always pass.
   */
  readonly mayWrite?: () => boolean;
};

/** The server gives up on its own requests after 60 s; what we ask for is small. */
const REQUEST_TIMEOUT_MS = 15_000;

/** A page of 500 large objects over a slow link. */
const LIST_TIMEOUT_MS = 60_000;

/** A watch's headers come at once. */
const WATCH_HEADERS_TIMEOUT_MS = 15_000;

/** An object has at most about 1.5 MB and a page at most 500 objects. A longer body is not from the API server. */
const BODY_BYTES_MAX = 1024 * 1024 * 1024;

type Request = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly query?: Readonly<Record<string, string | undefined>>;
  readonly accept?: string;
  readonly contentType?: string;
  readonly body?: unknown;
  /** `PATCH apps/v1 Deployment`, the span's name. */
  readonly title: string;
  /** `ns/name`, or empty. */
  readonly subject: string;
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
};

export function createClient(dependencies: ClientDependencies): KubernetesClient {
  const { credentials, metrics, tracer, now } = dependencies;
  const host = hostOf(credentials.server);

  async function send(request: Request, span: Span, signal: AbortSignal): Promise<Dispatcher.ResponseData> {
    const { dispatcher, headers } = await credentials.current();
    const isWrite = request.method !== 'GET';
    const guarded = isWrite ? dispatcher.compose(holdingBack(request, dependencies.mayWrite)) : dispatcher;
    const carrier: Record<string, string> = {};
    propagation.inject(trace.setSpan(context.active(), span), carrier);
    return guarded.request({
      origin: credentials.server,
      path: pathOf(request),
      method: request.method,
      headers: {
        ...headers,
        ...carrier,
        accept: request.accept ?? 'application/json',
        'user-agent': 'ton-operator',
        ...(request.body !== undefined && { 'content-type': request.contentType ?? 'application/json' }),
      },
      body: request.body === undefined ? null : yamlSafeJson(request.body),
      signal,
    });
  }

  /** Sends, counts and traces; a status other than 2xx is thrown with the server's own words. */
  async function exchange<T>(
    request: Request,
    read: (response: Dispatcher.ResponseData) => Promise<T>,
    signal: AbortSignal,
  ): Promise<T> {
    const attributes = { 'http.request.method': request.method, 'k8s.object': request.subject };
    const span = tracer.startSpan(request.title, { kind: SpanKind.CLIENT, attributes });
    const title = `${request.title} ${request.subject}`.trimEnd();
    const startedMs = now();
    let status = 0;
    try {
      const response = await send(request, span, signal);
      status = response.statusCode;
      if (status < 200 || status > 299) throw await refusal(title, response);
      return await read(response);
    } catch (cause) {
      const error = noAnswer(title, signal.aborted ? signal.reason : cause);
      if (error.code === 'unauthorized') credentials.reload();
      span.setStatus({ code: SpanStatusCode.ERROR, message: error.message });
      throw error;
    } finally {
      metrics.request(request.method, host, status, (now() - startedMs) / 1000);
      span.setAttribute('http.response.status_code', status);
      span.end();
    }
  }

  async function json(request: Request): Promise<unknown> {
    return exchange(request, (response) => readJson(request.title, response), boundOf(request));
  }

  async function object(request: Request): Promise<KubernetesObject> {
    const answer = await json(request);
    if (!isObject(answer)) throw malformed(request.title, 'expected an object of Kubernetes');
    return answer;
  }

  return {
    get: (of, name, bounds) => orUndefined(object(requestOn('GET', of, name, bounds))),
    getMetadata: (of, name, bounds) =>
      orUndefined(object({ ...requestOn('GET', of, name, bounds), accept: acceptOf('PartialObjectMetadata') })),
    async list(of, query, bounds) {
      const answer = await json({
        ...requestOn('GET', of, undefined, { timeoutMs: LIST_TIMEOUT_MS, ...bounds }),
        path: collectionPath(of, query.namespace),
        query: { ...selectorsOf(query), limit: query.limit?.toString(), continue: query.continueAt },
        ...(query.metadataOnly === true && { accept: acceptOf('PartialObjectMetadataList') }),
      });
      return pageOf(of, answer);
    },
    async watch(of, query, signal) {
      const request: Request = {
        ...requestOn('GET', of, undefined, undefined),
        title: `WATCH ${of.apiVersion} ${of.kind}`,
        path: collectionPath(of, query.namespace),
        query: {
          ...selectorsOf(query),
          watch: 'true',
          allowWatchBookmarks: 'true',
          resourceVersion: query.resourceVersion,
          timeoutSeconds: query.timeoutSeconds.toString(),
        },
        ...(query.metadataOnly === true && { accept: acceptOf('PartialObjectMetadata') }),
      };
      const headers = new AbortController();
      const timer = setTimeout(() => headers.abort(timeoutError()), WATCH_HEADERS_TIMEOUT_MS);
      try {
        return await exchange(request, async ({ body }) => body, AbortSignal.any([signal, headers.signal]));
      } finally {
        clearTimeout(timer);
      }
    },
    apply(wanted, { manager, force, dryRun, subresource }, bounds) {
      const request = requestOn('PATCH', resourceOf(wanted), wanted.metadata, bounds);
      return object({
        ...request,
        path: subresource === undefined ? request.path : `${request.path}/${subresource}`,
        query: { fieldManager: manager, force: String(force), dryRun: dryRun === true ? 'All' : undefined },
        contentType: 'application/apply-patch+yaml',
        body: wanted,
      });
    },
    create(wanted, bounds) {
      const of = resourceOf(wanted);
      const request = requestOn('POST', of, wanted.metadata, bounds);
      return object({ ...request, path: collectionPath(of, wanted.metadata.namespace), body: wanted });
    },
    async review(of, spec, bounds) {
      const { apiVersion, kind } = of;
      const request = requestOn('POST', of, undefined, bounds);
      const title = `POST ${apiVersion} ${kind}`;
      const path = collectionPath(of, undefined);
      const answer = await json({ ...request, title, path, body: { apiVersion, kind, metadata: {}, spec } });
      const { status } = (answer ?? {}) as { status?: Readonly<Record<string, unknown>> };
      if (typeof status !== 'object' || status === null) throw malformed(title, 'expected a status');
      return status;
    },
    replace: (wanted, bounds) =>
      object({ ...requestOn('PUT', resourceOf(wanted), wanted.metadata, bounds), body: wanted }),
    patch: (of, name, change, bounds) =>
      object({ ...requestOn('PATCH', of, name, bounds), contentType: 'application/merge-patch+json', body: change }),
    async delete(of, name, uid, bounds) {
      const body = { preconditions: { uid }, propagationPolicy: 'Background' };
      await orUndefined(json({ ...requestOn('DELETE', of, name, bounds), body }));
    },
    read: (path, bounds) => orUndefined(json({ ...bare('GET', bounds), path, title: 'GET discovery', subject: path })),
    async text(path, bytesMax, bounds) {
      const title = 'GET page';
      const request = { ...bare('GET', bounds), path, title, subject: path, accept: 'text/plain, */*' };
      const read = (response: Dispatcher.ResponseData) => readBody(title, response, bytesMax);
      return (await exchange(request, read, boundOf(request))).toString('utf8');
    },
  };
}

/** The request's own time, and the signal of its caller. */
function boundOf({ timeoutMs, signal }: Pick<Request, 'timeoutMs' | 'signal'>): AbortSignal {
  const timeout = AbortSignal.timeout(timeoutMs);
  return signal === undefined ? timeout : AbortSignal.any([signal, timeout]);
}

/** Returns undefined for `not_found`. */
async function orUndefined<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (isApiError(error, 'not_found')) return undefined;
    throw error;
  }
}

function bare(
  method: Request['method'],
  bounds: RequestBounds | undefined,
): Pick<Request, 'method' | 'timeoutMs' | 'signal'> {
  return { method, timeoutMs: bounds?.timeoutMs ?? REQUEST_TIMEOUT_MS, signal: bounds?.signal };
}

function requestOn(
  method: Request['method'],
  of: Resource,
  name: ObjectName | ObjectMetadata | undefined,
  bounds: RequestBounds | undefined,
): Request {
  return {
    ...bare(method, bounds),
    path: name === undefined ? '' : objectPath(of, name),
    title: `${name === undefined ? 'LIST' : method} ${of.apiVersion} ${of.kind}`,
    subject: name === undefined ? '' : `${name.namespace ?? ''}/${name.name}`.replace(/^\//, ''),
  };
}

/** Asks at the moment the request is put on its connection, which may be a handshake after it was made. */
function holdingBack(
  { title, subject }: Request,
  mayWrite: (() => boolean) | undefined,
): Dispatcher.DispatcherComposeInterceptor {
  return (dispatch) => (options, handler) =>
    dispatch(options, {
      ...forwarding(handler),
      onRequestStart(controller, state) {
        if (mayWrite?.() === false) controller.abort(notLeader(`${title} ${subject}`));
        else handler.onRequestStart?.(controller, state);
      },
    });
}

function forwarding(handler: Dispatcher.DispatchHandler): Dispatcher.DispatchHandler {
  return {
    onResponseStart: (...args) => handler.onResponseStart?.(...args),
    onResponseData: (...args) => handler.onResponseData?.(...args),
    onResponseEnd: (...args) => handler.onResponseEnd?.(...args),
    onResponseError: (...args) => handler.onResponseError?.(...args),
  };
}

function pathOf({ path, query }: Request): string {
  const given = Object.entries(query ?? {}).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given).toString()}`;
}

function selectorsOf({ labelSelector, fieldSelector }: Pick<ListQuery, 'labelSelector' | 'fieldSelector'>) {
  return { labelSelector, fieldSelector };
}

function acceptOf(kind: 'PartialObjectMetadata' | 'PartialObjectMetadataList'): string {
  return `application/json;as=${kind};g=meta.k8s.io;v=v1`;
}

async function refusal(title: string, response: Dispatcher.ResponseData): Promise<ApiError> {
  const retryAfter = response.headers['retry-after'];
  const body = await readJson(title, response).catch((error: unknown) => {
    // A proxy's page in place of a Status: the code alone must do.
    if (isApiError(error, 'malformed')) return undefined;
    throw error;
  });
  return fromStatus(title, response.statusCode, body, typeof retryAfter === 'string' ? retryAfter : undefined);
}

async function readJson(title: string, response: Dispatcher.ResponseData): Promise<unknown> {
  const body = await readBody(title, response, BODY_BYTES_MAX);
  try {
    return JSON.parse(body.toString('utf8'));
  } catch (cause) {
    throw malformed(title, 'an answer that is not JSON', cause);
  }
}

async function readBody(title: string, { body }: Dispatcher.ResponseData, bytesMax: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > bytesMax) throw malformed(title, `an answer of more than ${bytesMax} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Items of a list come without their kind: they get it, as watched objects have it. */
function pageOf(of: Resource, answer: unknown): ListPage {
  const { items, metadata } = answer as {
    items?: KubernetesObject[] | null;
    metadata?: { resourceVersion?: string; continue?: string };
  };
  if (typeof metadata?.resourceVersion !== 'string') throw malformed(`LIST ${of.kind}`, 'a list without a version');
  return {
    items: (items ?? []).map((item) => ({ ...item, apiVersion: of.apiVersion, kind: of.kind })),
    resourceVersion: metadata.resourceVersion,
    continueAt: metadata.continue === undefined || metadata.continue === '' ? undefined : metadata.continue,
  };
}

function isObject(value: unknown): value is KubernetesObject {
  const fields = value as { kind?: unknown; metadata?: { name?: unknown } } | null;
  return typeof fields?.kind === 'string' && typeof fields.metadata?.name === 'string';
}

function hostOf(server: string): string {
  return URL.canParse(server) ? new URL(server).host : server;
}

function timeoutError(): Error {
  return Object.assign(new Error('no answer in time'), { name: 'TimeoutError' });
}
