import { readFileSync } from 'node:fs';

import { Client, Pool, types, type ClientConfig, type CustomTypesConfig, type PoolClient } from 'pg';
import type { Logger } from 'pino';

import type { ClientCertificate } from '../tls/client-certificate.ts';
import { BYTE_ARRAY_TYPE, readByteArray } from './byte-arrays.ts';
import { StoreError, withStoreErrors } from './errors.ts';
import { postgresTls } from './tls.ts';
import { createTurns } from './turns.ts';

/** Connections to a Postgres: a pool, and further connections outside of the pool. */
export type Connections = {
  /** @throws StoreError */
  borrow(): Promise<PoolClient>;
  /** Opens a separate connection; the caller ends it. @throws StoreError */
  open(): Promise<Client>;
  counts(): { readonly total: number; readonly idle: number; readonly waiting: number };
  /** Resolves when the last borrowed connection is back. */
  end(): Promise<void>;
};

export type ConnectionsOptions = {
  /** A secret: never logged. */
  readonly url: string;
  /** Authorities in PEM that must have signed the server's certificate. */
  readonly ca: string | undefined;
  /** Certificate that the server sees; a secret too. */
  readonly clientCertificate: ClientCertificate | undefined;
  readonly schema: string;
  readonly poolSize: number;
};

/** Longest time to open a connection; then the call fails. */
const CONNECT_TIMEOUT_MS = 5000;

/**
 * A new connection plans its first query of each table tens of times slower than later queries. Connections of a minute's traffic stay
 * open.
 */
const IDLE_CONNECTION_MS = 60_000;

/** A transaction of a stuck process must not hold locks for ever. */
const IDLE_TRANSACTION_TIMEOUT_MS = 60_000;

/** Integers of up to 120 bits and more arrive as text. */
const columnTypes: CustomTypesConfig = {
  getTypeParser: (id: number, format?: 'text' | 'binary') =>
    (format === 'binary' ? undefined : ownParsers.get(id)) ??
    (types.getTypeParser(id, format ?? 'text') as (text: string) => unknown),
};

const ownParsers: ReadonlyMap<number, (text: string) => unknown> = new Map<number, (text: string) => unknown>([
  [types.builtins.INT8, BigInt],
  [types.builtins.NUMERIC, numeric],
  [BYTE_ARRAY_TYPE, readByteArray],
]);

const BYTES_TYPE: number = types.builtins.BYTEA;

/** The same for one query whose rows have at most `bytesMax` of `bytea`: `pg` drops the rows behind the error of a parser. */
export function boundedTypes(bytesMax: number): CustomTypesConfig {
  let left = bytesMax;
  const readBytes = types.getTypeParser(BYTES_TYPE) as (text: string) => unknown;
  const readBounded = (text: string): unknown => {
    // `\\x`, then two letters a byte.
    left -= (text.length - 2) / 2;
    if (left < 0) throw new StoreError('rows_too_large', `rows of a read have more than ${bytesMax} bytes`);
    return readBytes(text);
  };
  return {
    getTypeParser: (id: number, format?: 'text' | 'binary') =>
      id === BYTES_TYPE && format !== 'binary' ? readBounded : columnTypes.getTypeParser(id, format),
  };
}

/** Amounts are whole numbers; averages of a query are not. */
function numeric(text: string): bigint | number {
  return /^-?\d+$/.test(text) ? BigInt(text) : Number(text);
}

/** @throws StoreError `store_refused` for contradictory parameters of TLS */
export function createConnections(options: ConnectionsOptions, logger: Logger): Connections {
  const configs = configsOf(options);
  // A pool opens no connection before its first call.
  const ways = configs.map((config) => ({ config, pool: createPool(config, options.poolSize, logger) }));
  const inTurn = createTurns(ways);
  const sum = (count: (pool: Pool) => number): number => ways.reduce((total, { pool }) => total + count(pool), 0);
  const borrowing = new Set<Promise<PoolClient>>();
  return {
    borrow() {
      const borrowed = inTurn(({ pool }) => withStoreErrors(pool.connect()));
      borrowing.add(borrowed);
      return borrowed.finally(() => borrowing.delete(borrowed));
    },
    open: () => inTurn(({ config }) => openClient(config, logger)),
    counts: () => ({
      total: sum(({ totalCount }) => totalCount),
      idle: sum(({ idleCount }) => idleCount),
      waiting: sum(({ waitingCount }) => waitingCount),
    }),
    async end() {
      // An ended pool refuses a second way to connect, and forgets callers that wait for a connection.
      await Promise.allSettled(borrowing);
      await Promise.all(ways.map(({ pool }) => pool.end()));
    },
  };
}

/**
 * A configuration for each way to connect. Every connection has our `options` in its start packet; options of the URI stay. Queries read
 * pages cut from indexes: a parallel worker takes longer to start than such a query.
 */
function configsOf({ url: uri, ca, clientCertificate, schema }: ConnectionsOptions): ClientConfig[] {
  const tls = postgresTls(uri, {
    ca,
    clientCertificate,
    mode: process.env['PGSSLMODE'],
    readFile: (path) => readFileSync(path, 'utf8'),
  });
  if ('problem' in tls) throw new StoreError('store_refused', tls.problem);
  const url = URL.canParse(tls.url) ? new URL(tls.url) : undefined;
  const given = url?.searchParams.get('options') ?? '';
  // `pg` lets options of the URI replace ours.
  url?.searchParams.delete('options');
  const config: ClientConfig = {
    connectionString: url?.href ?? tls.url,
    options: [
      given,
      `-c search_path=${schema}`,
      `-c idle_in_transaction_session_timeout=${IDLE_TRANSACTION_TIMEOUT_MS}`,
      '-c max_parallel_workers_per_gather=0',
    ]
      .join(' ')
      .trim(),
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    application_name: 'tonplane',
    keepAlive: true,
    types: columnTypes,
  };
  return tls.ways.map((ssl) => ({ ...config, ssl }));
}

async function openClient(config: ClientConfig, logger: Logger): Promise<Client> {
  const client = new Client(config);
  client.on('error', (error) => logger.warn({ err: bare(error) }, 'connection to Postgres lost'));
  try {
    await withStoreErrors(client.connect());
    return client;
  } catch (error) {
    await client.end().catch(() => undefined);
    throw error;
  }
}

/** The pool attaches the connection to its errors, with all of its queries. */
function bare(error: Error): Error {
  return Object.assign(error, { client: undefined });
}

function createPool(config: ClientConfig, size: number, logger: Logger): Pool {
  const pool = new Pool({ ...config, max: size, idleTimeoutMillis: IDLE_CONNECTION_MS });
  // Error of an idle connection: the next call opens another connection. A pool that ends leaves its connections open for a moment.
  pool.on('error', (error) => {
    if (!pool.ending) logger.warn({ err: bare(error) }, 'connection to Postgres lost');
  });
  // A connection may be lost in its first packet, before its caller can listen. The caller's query then fails, and no other work.
  pool.on('connect', (client) => client.on('error', () => undefined));
  return pool;
}
