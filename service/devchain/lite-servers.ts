import { createHash, randomBytes } from 'node:crypto';

import type { AdnlFaults } from './adnl/adnl-faults.ts';
import type { AdnlServer } from './adnl/adnl-server.ts';
import { createAdnlServer } from './adnl/adnl-server.ts';
import { DevchainError } from './chain/errors.ts';
import type { QueryFaults } from './faults/faults.ts';
import type { QueryServerDependencies } from './query-server.ts';
import { createQueryServer } from './query-server.ts';

/** Lite server of the network. */
export type DevchainLiteServer = {
  readonly host: string;
  readonly port: number;
  /** Ed25519, 32 bytes. */
  readonly publicKey: Buffer;
  faults(): QueryFaults & { readonly transport?: AdnlFaults };
  /** Replaces all faults, of answers and of the transport. `{}` makes the server honest. */
  setFaults(faults: QueryFaults & { readonly transport?: AdnlFaults }): Promise<void>;
  /** Resets every open connection to this server. */
  resetConnections(): void;
};

export type DevchainServerOptions = {
  /** 0 or absent: a free port. */
  readonly port?: number;
  /** Ed25519 seed, 32 bytes; random when absent. */
  readonly seed?: Buffer;
  readonly faults?: QueryFaults & { readonly transport?: AdnlFaults };
  /** False: it refuses non-final queries, as a node without `--nonfinal-ls`. */
  readonly nonFinal?: boolean;
};

/** Returns options of a lite server with the same, public key at every start. @param port 0 takes a free port */
export function ownLiteServer(port: number): DevchainServerOptions {
  return { port, seed: createHash('sha256').update('tonplane lite server').digest() };
}

/** Lite servers over the same chain. */
export type LiteServers = {
  /** In the order of the options. */
  readonly liteServers: readonly DevchainLiteServer[];
  /** Ends the head, the servers and every connection. */
  close(): Promise<void>;
};

/**
 * Starts lite servers that answer over ADNL. Resolves when they listen.
 * @throws DevchainError `listen_failed`
 */
export async function startLiteServers(
  host: string,
  servers: readonly DevchainServerOptions[],
  shared: QueryServerDependencies,
): Promise<LiteServers> {
  const running: RunningServer[] = [];

  async function close(): Promise<void> {
    shared.head.close();
    await Promise.all(running.map((server) => server.close()));
  }

  try {
    for (const server of servers) running.push(await startServer(host, server, shared));
  } catch (error) {
    await close();
    throw error;
  }
  return { liteServers: running.map((server) => server.liteServer), close };
}

type RunningServer = { readonly liteServer: DevchainLiteServer; close(): Promise<void> };

async function startServer(
  host: string,
  options: DevchainServerOptions,
  shared: QueryServerDependencies,
): Promise<RunningServer> {
  const { port = 0, seed = randomBytes(32), faults = {}, nonFinal = true } = options;
  const { signed, ...final } = shared;
  const queries = createQueryServer(nonFinal && signed !== undefined ? shared : final);
  const { transport, ...queryFaults } = faults;
  queries.setFaults(queryFaults);
  const adnl = await listen(host, port, seed, transport, {
    logger: shared.logger,
    handleQuery: (payload, connection) => queries.answer(payload, connection.signal),
  });
  return {
    liteServer: {
      host,
      port: adnl.port,
      publicKey: adnl.publicKeys[0]!,
      faults: () => ({ ...queries.faults(), transport: adnl.faults() }),
      async setFaults({ transport: nextTransport = {}, ...next }) {
        queries.setFaults(next);
        await adnl.setFaults(nextTransport);
      },
      resetConnections: () => adnl.resetConnections(),
    },
    async close() {
      queries.close();
      await adnl.close();
    },
  };
}

async function listen(
  host: string,
  port: number,
  seed: Buffer,
  faults: AdnlFaults | undefined,
  dependencies: Parameters<typeof createAdnlServer>[1],
): Promise<AdnlServer> {
  try {
    return await createAdnlServer({ host, port, seeds: [seed], ...(faults !== undefined && { faults }) }, dependencies);
  } catch (error) {
    throw new DevchainError({
      code: 'listen_failed',
      message: `A lite server cannot listen on ${host}:${port}.`,
      data: { host, port },
      retryable: false,
      cause: error,
    });
  }
}
