import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What a scripted API server does with one request. */
export type Scene = (request: IncomingMessage, response: ServerResponse) => void;

/** An API server on loopback that plays a script: for faults of streams that a real one has only by chance. */
export type ScriptedApiServer = {
  readonly server: string;
  /** Requests so far, `GET /path?query`. */
  readonly requests: readonly string[];
  /** The next scenes, in order; the last one stays. */
  play(...scenes: readonly Scene[]): void;
  close(): Promise<void>;
};

export async function startScriptedApiServer(): Promise<ScriptedApiServer> {
  const requests: string[] = [];
  let scenes: Scene[] = [];
  const server: Server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url}`);
    const scene = scenes.length > 1 ? scenes.shift() : scenes[0];
    if (scene === undefined) response.writeHead(500).end();
    else scene(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    server: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    play(...next) {
      scenes = [...next];
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** A ConfigMap as a watch shows it. */
export function configMap(name: string, resourceVersion: number, uid = `uid-${name}`): object {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, namespace: 'ns', uid, resourceVersion: String(resourceVersion) },
  };
}

/** Answers a list with these objects. */
export function list(version: number, ...items: readonly object[]): Scene {
  return json(200, { kind: 'ConfigMapList', metadata: { resourceVersion: String(version) }, items });
}

export function json(status: number, body: object, headers: Readonly<Record<string, string>> = {}): Scene {
  return (_request, response) =>
    void response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}

/** A refusal as the API server words it. */
export function refusal(code: number, headers: Readonly<Record<string, string>> = {}): Scene {
  return json(
    code,
    { kind: 'Status', metadata: {}, status: 'Failure', code, message: `refused with ${code}` },
    headers,
  );
}

/** A watch that sends these lines and then does what `end` says; by default it stays open. */
export function watch(lines: readonly (object | string)[], end: (response: ServerResponse) => void = () => {}): Scene {
  return (_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.flushHeaders();
    for (const line of lines) response.write(typeof line === 'string' ? line : `${JSON.stringify(line)}\n`);
    // What was written must have left before the end that a test is about.
    setImmediate(() => setTimeout(() => end(response), 5));
  };
}

export const event = (type: string, object: object): object => ({ type, object });
