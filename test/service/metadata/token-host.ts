import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { TLSSocket } from 'node:tls';

import { createFetcher, type Fetcher, type FetcherOptions } from '#service/metadata/fetch.ts';
import { refusedAddress } from '#service/metadata/public-address.ts';
import type { ResolveHost } from '#service/metadata/resolve.ts';
import type { Certificate } from '#test/support/certificate.ts';

/** Loopback address that stands for the internet in tests. The other loopback addresses are private, and listen too. */
export const publicAddress = '127.0.0.1';
export const privateAddress = '127.0.0.2';

/** Request as the host received it. */
export type Seen = {
  /** Address of the connection. */
  readonly address: string;
  readonly host: string | undefined;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  /** Server name of the TLS handshake. */
  readonly serverName: string | undefined;
};

/** Real HTTP server on all of loopback, which records its requests. */
export type TokenHost = {
  readonly port: number;
  readonly seen: readonly Seen[];
  /** Addresses of connections, whether anything was sent or not. */
  readonly connections: readonly string[];
  close(): Promise<void>;
};

export async function startTokenHost(answer: RequestListener, certificate?: Certificate): Promise<TokenHost> {
  const seen: Seen[] = [];
  const connections: string[] = [];
  const listener: RequestListener = (request, response) => {
    const { socket, headers, url = '' } = request;
    const serverName = (socket as Partial<TLSSocket>).servername ?? undefined;
    seen.push({
      address: socket.localAddress ?? '',
      host: headers.host,
      path: url,
      headers,
      serverName: typeof serverName === 'string' ? serverName : undefined,
    });
    answer(request, response);
  };
  const server =
    certificate === undefined
      ? createServer(listener)
      : createSecureServer({ cert: certificate.certificate, key: certificate.key }, listener);
  server.on('connection', (socket: { localAddress?: string }) => connections.push(socket.localAddress ?? ''));
  server.listen(0, '0.0.0.0');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    seen,
    connections,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Names of tests. `inside` is private, other names are unknown. */
const names: Readonly<Record<string, readonly string[]>> = {
  'tokens.example': [publicAddress],
  'other.example': [publicAddress],
  'inside.example': [privateAddress],
  'mixed.example': [publicAddress, privateAddress],
  'metadata.example': ['169.254.169.254'],
};

export const resolveNames: ResolveHost = (host) => {
  const found = names[host];
  return found === undefined ? Promise.reject(new Error('ENOTFOUND')) : Promise.resolve(found);
};

/** Rule of production, with an exception for the loopback address that stands for the internet. */
export const refusedInTests = (address: string): string | undefined =>
  address === publicAddress ? undefined : refusedAddress(address);

/** Creates a fetcher like the service's that treats one host and port of loopback as a host of the internet. */
export function fetcherTo(
  { port }: Pick<TokenHost, 'port'>,
  options: Partial<FetcherOptions> = {},
  resolve: ResolveHost = resolveNames,
): Fetcher {
  return createFetcher(
    {
      ipfsGateway: null,
      concurrency: 16,
      concurrencyPerHost: 4,
      ports: new Set([80, 443, port]),
      timeoutMs: 60_000,
      userAgent: 'tonplane-test',
      ...options,
    },
    { resolve, refused: refusedInTests },
  );
}
