import { once } from 'node:events';
import type { AddressInfo, Server, Socket } from 'node:net';
import { createServer } from 'node:net';
import type { Logger } from 'pino';
import { adnlIdentity } from '#service/liteserver/adnl/keys.ts';
import type { AdnlFaults } from './adnl-faults.ts';
import type { ServerConnection } from './adnl-server-connection.ts';
import { createServerConnection } from './adnl-server-connection.ts';

export type AdnlServerOptions = {
  /** Address to listen on. */
  readonly host: string;
  /** 0 takes a free port. */
  readonly port: number;
  /** Ed25519 seeds, 32 bytes each. A client may address any of these keys. */
  readonly seeds: readonly Buffer[];
  /** Idle time in milliseconds after which a connection is closed. Default 60 s, as in the reference node. */
  readonly idleMs?: number;
  /** Most connections at a time; further connections are closed at once. Default 1,024. */
  readonly connectionsMax?: number;
  /** Most queries of one connection in progress. Further queries stay unread in the socket until some are answered. Default 256. */
  readonly inFlightMax?: number;
  /** Faults to start with. */
  readonly faults?: AdnlFaults;
};

/** Connection of one client, from its handshake to its end. */
export type AdnlServerConnection = {
  /** Counts from 1. */
  readonly id: number;
  /** The own key that the client addressed: index in `seeds`. */
  readonly keyIndex: number;
  /** Aborted when the connection is closed: answers have no receiver any more. */
  readonly signal: AbortSignal;
  /** Ends the connection in order. */
  close(): void;
  /** Ends it with a TCP reset. */
  reset(): void;
};

export type AdnlServerHandlers = {
  /**
   * Answers one query. `payload` is the content of `adnl.message.query`: the `liteServer.query` envelope (tl/envelope.ts reads it). It is a
   * view that stays valid. null: no answer is sent. Calls overlap, and answers are sent as they are ready. A rejection is logged, and no
   * answer is sent.
   */
  readonly handleQuery: (payload: Buffer, connection: AdnlServerConnection) => Promise<Buffer | null>;
  readonly onConnection?: (connection: AdnlServerConnection) => void;
};

export type AdnlServerDependencies = AdnlServerHandlers & { readonly logger: Logger };

export type AdnlServer = {
  readonly host: string;
  /** The port listened on. It stays the same through `refuse`. */
  readonly port: number;
  /** Ed25519 public keys in the order of `seeds`. */
  readonly publicKeys: readonly Buffer[];
  faults(): AdnlFaults;
  /** Replaces all faults. Resolves when a change of `refuse` has taken effect. */
  setFaults(faults: AdnlFaults): Promise<void>;
  /** Connections past their handshake. */
  connections(): number;
  /** Resets every open connection. */
  resetConnections(): void;
  /** Stops listening and ends every connection. Resolves when everything is closed. */
  close(): Promise<void>;
};

const defaults = { idleMs: 60_000, connectionsMax: 1024, inFlightMax: 256 } as const;

/**
 * Listens for ADNL clients over TCP and passes their queries to `handleQuery` (service/liteserver/README.md#transport,
 * service/liteserver/README.md#duties-of-a-server). It supports several keys, concurrent queries, ping, dummy authentication, bounds, and
 * faults of the transport. Rejects when the port is unavailable.
 */
export async function createAdnlServer(
  options: AdnlServerOptions,
  dependencies: AdnlServerDependencies,
): Promise<AdnlServer> {
  const { host, connectionsMax = defaults.connectionsMax } = options;
  const identities = options.seeds.map((seed) => adnlIdentity(seed));
  const open = new Set<ServerConnection>();
  let { faults = {} }: { faults?: AdnlFaults } = options;
  let { port } = options;
  let connectionCount = 0;
  let listener: Server | undefined;
  let closed = false;

  function accept(socket: Socket): void {
    if (open.size >= connectionsMax) {
      socket.destroy();
      return;
    }
    connectionCount += 1;
    const connection = createServerConnection(
      {
        id: connectionCount,
        identities,
        idleMs: options.idleMs ?? defaults.idleMs,
        inFlightMax: options.inFlightMax ?? defaults.inFlightMax,
      },
      { ...dependencies, socket, faults: () => faults },
    );
    open.add(connection);
    socket.on('close', () => open.delete(connection));
  }

  async function listen(): Promise<void> {
    const opening = createServer(accept);
    opening.listen(port, host);
    await once(opening, 'listening');
    port = (opening.address() as AddressInfo).port;
    listener = opening;
  }

  function stopListening(): void {
    listener?.close();
    listener = undefined;
  }

  await listen();
  if (faults.refuse) stopListening();
  return {
    host,
    port,
    publicKeys: identities.map((identity) => identity.publicKey),
    faults: () => faults,
    async setFaults(next) {
      faults = next;
      for (const connection of open) connection.faultsChanged();
      if (next.refuse) stopListening();
      else if (listener === undefined && !closed) await listen();
    },
    connections: () => [...open].filter((connection) => connection.ready()).length,
    resetConnections() {
      for (const connection of open) connection.reset();
    },
    async close() {
      closed = true;
      const gone = listener === undefined ? [] : [once(listener, 'close')];
      stopListening();
      for (const connection of open) {
        gone.push(once(connection.signal, 'abort'));
        connection.reset();
      }
      await Promise.all(gone);
    },
  };
}
