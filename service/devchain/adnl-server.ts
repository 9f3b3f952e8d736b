import type { Logger } from 'pino';
import type { AdnlFaults } from './adnl-faults.ts';

export type AdnlServerOptions = {
  /** Address to listen on. */
  readonly host: string;
  /** 0 takes a free port. */
  readonly port: number;
  /** Ed25519 seeds, 32 bytes each; a client may address any of these keys. */
  readonly seeds: readonly Buffer[];
  /** A connection from which nothing came for so long is closed; 60 s as the reference node does. */
  readonly idleMs?: number;
  /** Connections at once; more are closed at once. 1,024. */
  readonly connectionsMax?: number;
  /** Queries of one connection in work at once; more are not read from the socket until some are answered. 256. */
  readonly inFlightMax?: number;
  /** Faults to start with. */
  readonly faults?: AdnlFaults;
};

/** One client's connection, from its handshake to its end. */
export type AdnlServerConnection = {
  /** Counts from 1. */
  readonly id: number;
  /** The own key that the client addressed: index in `seeds`. */
  readonly keyIndex: number;
  /** Aborted when the connection is gone: nobody waits for answers any more. */
  readonly signal: AbortSignal;
  /** Ends the connection in order. */
  close(): void;
  /** Ends it with a TCP reset. */
  reset(): void;
};

export type AdnlServerHandlers = {
  /**
   * Answers one query. `payload` is what `adnl.message.query` carries: the `liteServer.query` envelope (tl/envelope.ts
   * reads it); a view, valid as long as it is kept. null: no answer is sent. Calls overlap; answers go out as they
   * come. A rejection is logged, and nothing is answered.
   */
  readonly handleQuery: (payload: Buffer, connection: AdnlServerConnection) => Promise<Buffer | null>;
  readonly onConnection?: (connection: AdnlServerConnection) => void;
};

export type AdnlServerDependencies = AdnlServerHandlers & { readonly logger: Logger };

export type AdnlServer = {
  readonly host: string;
  /** The port listened on; stays the same through `refuse`. */
  readonly port: number;
  /** Ed25519 public keys in the order of `seeds`. */
  readonly publicKeys: readonly Buffer[];
  faults(): AdnlFaults;
  /** Replaces all faults; resolves when a change of `refuse` has taken effect. */
  setFaults(faults: AdnlFaults): Promise<void>;
  /** Connections past their handshake. */
  connections(): number;
  /** Resets every open connection. */
  resetConnections(): void;
  /** Stops listening, ends every connection; resolves when all is gone. */
  close(): Promise<void>;
};
