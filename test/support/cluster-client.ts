import { setTimeout as sleep } from 'node:timers/promises';

import { Agent, request } from 'undici';

import type { Certificate } from './certificate.ts';

/** An object of Kubernetes as JSON, as far as tests look at every kind alike. */
export type ClusterObject = {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly uid?: string;
    readonly generation?: number;
    readonly resourceVersion?: string;
    readonly creationTimestamp?: string;
    readonly deletionTimestamp?: string;
    readonly finalizers?: readonly string[];
    readonly deletionGracePeriodSeconds?: number;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly ownerReferences?: readonly { readonly kind: string; readonly name: string; readonly uid: string }[];
  };
  // Tests read into every kind of object; what they expect of it is what they assert.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly [field: string]: any;
};

/** The API server refused: `status` is HTTP's, the message is the server's. */
export class ClusterError extends Error {
  readonly status: number;
  /** What was wrong where, as far as the server says. */
  readonly causes: readonly { readonly field: string; readonly message: string }[];
  constructor(status: number, title: string, body: string) {
    const { message, details } = refusalOf(body);
    super(`${title}: ${message}`);
    this.status = status;
    this.causes = (details?.causes ?? []).map((cause) => ({ field: cause.field, message: cause.message }));
  }
}

type Refusal = {
  readonly message: string;
  readonly details?: { readonly causes?: readonly { readonly field: string; readonly message: string }[] };
};

/** Plain requests to an API server. Paths are those of the API: `/api/v1/namespaces/default/pods`. */
export type ClusterClient = {
  readonly server: string;
  send(
    method: string,
    path: string,
    body?: unknown,
    contentType?: string,
    headers?: Readonly<Record<string, string>>,
  ): Promise<ClusterObject>;
  get(path: string): Promise<ClusterObject>;
  /** Undefined when there is none. */
  find(path: string): Promise<ClusterObject | undefined>;
  list(path: string): Promise<readonly ClusterObject[]>;
  create(path: string, object: object): Promise<ClusterObject>;
  /** Server-side apply with force; the path is the object's own. */
  apply(path: string, object: object, manager?: string): Promise<ClusterObject>;
  /** JSON merge patch. */
  merge(path: string, change: object): Promise<ClusterObject>;
  delete(path: string, options?: object): Promise<void>;
  /**
   * Every object of a collection, then every change, until the signal: lists again after any break, and tells of what has
   * gone meanwhile. The handler gets the object as it was last when it is deleted.
   */
  follow(
    path: string,
    handler: (type: 'ADDED' | 'MODIFIED' | 'DELETED', object: ClusterObject) => void,
    signal: AbortSignal,
  ): void;
  close(): Promise<void>;
};

const retryMs = 200;

/** @param authority PEM of what signed the server's certificate */
export function createClusterClient(options: {
  readonly server: string;
  readonly authority: string;
  readonly token?: string;
  /** PEM; in place of a token. */
  readonly certificate?: Certificate;
}): ClusterClient {
  const { server, token, certificate } = options;
  const connect = {
    ca: options.authority,
    ...(certificate && { cert: certificate.certificate, key: certificate.key }),
  };
  const dispatcher = new Agent({ connect, bodyTimeout: 0 });
  type More = {
    readonly contentType?: string;
    readonly headers?: Readonly<Record<string, string>>;
    readonly signal?: AbortSignal;
  };

  const ask = (method: string, path: string, body: unknown, { contentType, headers, signal }: More) =>
    request(`${server}${path}`, {
      dispatcher,
      method,
      headers: {
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...(body !== undefined && { 'content-type': contentType ?? 'application/json' }),
        ...headers,
      },
      body: body === undefined ? null : JSON.stringify(body),
      ...(signal && { signal }),
    });

  const send: ClusterClient['send'] = async (method, path, body, contentType, headers) => {
    const response = await ask(method, path, body, {
      ...(contentType && { contentType }),
      ...(headers && { headers }),
    });
    const text = await response.body.text();
    if (response.statusCode > 299) throw new ClusterError(response.statusCode, `${method} ${path}`, text);
    return JSON.parse(text) as ClusterObject;
  };

  async function find(path: string): Promise<ClusterObject | undefined> {
    try {
      return await send('GET', path);
    } catch (error) {
      if (error instanceof ClusterError && error.status === 404) return undefined;
      throw error;
    }
  }

  async function followOnce(path: string, known: Map<string, ClusterObject>, handler: Handler, signal: AbortSignal) {
    const list = await send('GET', path);
    const items = list['items'] as ClusterObject[];
    const present = new Set(items.map(keyOf));
    for (const [key, object] of known) {
      if (present.has(key)) continue;
      known.delete(key);
      handler('DELETED', object);
    }
    for (const object of items) take(known, known.has(keyOf(object)) ? 'MODIFIED' : 'ADDED', object, handler);
    const query = `watch=1&allowWatchBookmarks=true&resourceVersion=${list.metadata.resourceVersion}`;
    const { body } = await ask('GET', `${path}${path.includes('?') ? '&' : '?'}${query}`, undefined, { signal });
    let rest = '';
    for await (const chunk of body.setEncoding('utf8') as AsyncIterable<string>) {
      const lines = (rest + chunk).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) {
        const { type, object } = JSON.parse(line) as { type: string; object: ClusterObject };
        if (type === 'ERROR') return;
        if (type !== 'BOOKMARK') take(known, type as 'ADDED', object, handler);
      }
    }
  }

  async function follow(path: string, handler: Handler, signal: AbortSignal): Promise<void> {
    const known = new Map<string, ClusterObject>();
    while (!signal.aborted) {
      // Whatever broke the stream, the list that comes next tells the truth.
      await followOnce(path, known, handler, signal).catch(() => undefined);
      if (!signal.aborted) await sleep(retryMs);
    }
  }

  return {
    server,
    send,
    get: (path) => send('GET', path),
    find,
    list: async (path) => (await send('GET', path))['items'] as ClusterObject[],
    create: (path, object) => send('POST', path, object),
    apply: (path, object, manager = 'test') =>
      send('PATCH', `${path}?fieldManager=${manager}&force=true`, object, 'application/apply-patch+yaml'),
    merge: (path, change) => send('PATCH', path, change, 'application/merge-patch+json'),
    async delete(path, deletion) {
      try {
        await send('DELETE', path, deletion);
      } catch (error) {
        if (!(error instanceof ClusterError) || error.status !== 404) throw error;
      }
    },
    follow: (path, handler, signal) => void follow(path, handler, signal),
    close: () => dispatcher.destroy(),
  };
}

type Handler = Parameters<ClusterClient['follow']>[1];

function take(
  known: Map<string, ClusterObject>,
  type: 'ADDED' | 'MODIFIED' | 'DELETED',
  object: ClusterObject,
  handler: Handler,
) {
  if (type === 'DELETED') known.delete(keyOf(object));
  else known.set(keyOf(object), object);
  handler(type, object);
}

function keyOf({ metadata }: ClusterObject): string {
  return metadata.uid ?? `${metadata.namespace}/${metadata.name}`;
}

function refusalOf(body: string): Refusal {
  try {
    return JSON.parse(body) as Refusal;
  } catch {
    return { message: body };
  }
}
