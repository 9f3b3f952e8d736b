import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import type { ClusterClient, ClusterObject } from './cluster-client.ts';
import { onLoopback } from './pod-network.ts';

/** What kube-proxy and the cluster's DNS do, on loopback. */
export type ServiceForwarder = {
  /** JSON file: `name.namespace` -> address on loopback; always of the newest state. */
  readonly namesFile: string;
  /** `http://127.96.x.y:port` of a Service's port, once something listens there. */
  url(namespace: string, name: string, port: string | number): Promise<string>;
  close(): Promise<void>;
};

type Endpoint = { readonly host: string; readonly ports: readonly { name: string; port: number }[] };

const waitMs = 120_000;
const pollMs = 50;

/**
 * Listens on 127.96.x.y for every port of every Service at 10.96.x.y, and passes each connection to the next of its ready endpoints; to
 * one that is ending but still serves where none is ready; to nobody where there is none.
 */
export function createServiceForwarder(client: ClusterClient): ServiceForwarder {
  const folder = mkdtempSync(join(tmpdir(), 'tonplane-services-'));
  const namesFile = join(folder, 'names.json');
  const closing = new AbortController();
  const services = new Map<string, ClusterObject>();
  const slices = new Map<string, ClusterObject>();
  const listeners = new Map<string, Server>();
  const sockets = new Set<Socket>();
  let turn = 0;
  writeNames();

  function endpointsOf(key: string): readonly Endpoint[] {
    const all = [...slices.values()]
      .filter(({ metadata }) => `${metadata.labels?.['kubernetes.io/service-name']}.${metadata.namespace}` === key)
      .flatMap((slice) =>
        ((slice['endpoints'] ?? []) as ClusterObject['spec'][]).map((endpoint) => ({
          host: onLoopback(endpoint.addresses[0]),
          ports: slice['ports'] ?? [],
          conditions: endpoint.conditions ?? {},
        })),
      );
    const ready = all.filter(({ conditions }) => conditions.ready === true);
    return ready.length > 0 ? ready : all.filter(({ conditions }) => conditions.serving === true);
  }

  function onConnection(key: string, portName: string, incoming: Socket): void {
    const endpoints = endpointsOf(key);
    const endpoint = endpoints[turn++ % Math.max(1, endpoints.length)];
    const port = endpoint?.ports.find(({ name }) => (name ?? '') === portName)?.port;
    if (endpoint === undefined || port === undefined) return void incoming.destroy();
    const outgoing = connect(port, endpoint.host);
    for (const socket of [incoming, outgoing]) {
      sockets.add(socket);
      socket.setNoDelay(true);
      socket.on('close', () => sockets.delete(socket));
    }
    incoming.on('error', () => outgoing.destroy());
    outgoing.on('error', () => incoming.destroy());
    incoming.on('close', () => outgoing.destroy());
    outgoing.on('close', () => incoming.destroy());
    incoming.pipe(outgoing).pipe(incoming);
  }

  function onService(type: string, service: ClusterObject): void {
    const key = `${service.metadata.name}.${service.metadata.namespace}`;
    if (type === 'DELETED') services.delete(key);
    else services.set(key, service);
    writeNames();
    settle();
  }

  /** Opens and closes listeners until they are those of the Services. */
  function settle(): void {
    const wanted = new Map<string, { key: string; portName: string; host: string; port: number }>();
    for (const [key, { spec }] of services) {
      const host = hostOf(spec);
      if (host === undefined) continue;
      for (const port of (spec.ports ?? []) as { name?: string; port: number }[]) {
        wanted.set(`${key} ${host}:${port.port} ${port.name ?? ''}`, {
          key,
          portName: port.name ?? '',
          host,
          port: port.port,
        });
      }
    }
    for (const [id, server] of listeners) {
      if (wanted.has(id)) continue;
      server.close();
      listeners.delete(id);
    }
    for (const [id, { key, portName, host, port }] of wanted) {
      if (listeners.has(id)) continue;
      const server = createServer((socket) => onConnection(key, portName, socket));
      // A port of loopback that another holds leaves this Service out; url() tells by its timeout.
      server.on('error', () => undefined);
      listeners.set(id, server.listen(port, host));
    }
  }

  /** A reader never sees half of it. */
  function writeNames(): void {
    const names = Object.fromEntries(
      [...services].flatMap(([key, { spec }]) => {
        const host = hostOf(spec);
        return host === undefined ? [] : [[key, host]];
      }),
    );
    writeFileSync(`${namesFile}.new`, JSON.stringify(names));
    renameSync(`${namesFile}.new`, namesFile);
  }

  client.follow('/api/v1/services', onService, closing.signal);
  client.follow(
    '/apis/discovery.k8s.io/v1/endpointslices',
    (type, slice) => {
      const key = `${slice.metadata.namespace}/${slice.metadata.name}`;
      if (type === 'DELETED') slices.delete(key);
      else slices.set(key, slice);
    },
    closing.signal,
  );
  return {
    namesFile,
    async url(namespace, name, port) {
      const deadline = Date.now() + waitMs;
      for (;;) {
        const spec = services.get(`${name}.${namespace}`)?.['spec'];
        const found = spec?.ports?.find(
          (each: { name?: string; port: number }) => each.name === port || each.port === port,
        );
        const host = spec && hostOf(spec);
        if (host !== undefined && found !== undefined) return `http://${host}:${found.port}`;
        if (Date.now() > deadline) throw new Error(`there is no Service ${namespace}/${name} with a port ${port}`);
        await sleep(pollMs);
      }
    },
    async close() {
      closing.abort();
      for (const socket of sockets) socket.destroy();
      await Promise.all([...listeners.values()].map((server) => new Promise((done) => server.close(done))));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function hostOf(spec: ClusterObject['spec']): string | undefined {
  const address = spec.clusterIP as string | undefined;
  return address === undefined || !address.startsWith('10.96.') ? undefined : onLoopback(address);
}
