import { ROOT_CONTEXT, SpanKind, SpanStatusCode, trace, type Span, type Tracer } from '@opentelemetry/api';
import {
  Client,
  Pool,
  types,
  type ClientBase,
  type ClientConfig,
  type CustomTypesConfig,
  type PoolClient,
  type QueryConfig,
  type QueryResult,
} from 'pg';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';

import { byteArrayType, readByteArray } from './byte-arrays.ts';
import { isConnectionSpent, StoreError, told } from './errors.ts';
import { createStoreMetrics } from './metrics.ts';
import type { ReadMode } from './queries/reader.ts';

export type StoreOptions = {
  /** Connection URI. A secret: never logged. */
  readonly url: string;
  /** Of a replica that may serve `read`; absent: `url`. */
  readonly readUrl?: string | undefined;
  /** Schema that holds the tables: lower-case letters, digits, underscores. */
  readonly schema: string;
  /** Connections to each of the two. */
  readonly poolSize: number;
  /** Bound on one query of `read`. Transactions have none unless they name one: writers bound their batches. */
  readonly statementTimeoutMs: number;
};

export type StoreUrls = Pick<StoreOptions, 'url' | 'readUrl'>;

export type StoreDependencies = {
  readonly logger: Logger;
  readonly register: Registry;
  readonly tracer: Tracer;
  /** Milliseconds, ascending. */
  readonly clock: () => number;
};

export type ReadOptions = ReadMode & {
  /** Less or more than the store's own. */
  readonly timeoutMs?: number;
  /** The span of whoever asks. */
  readonly span?: Span | undefined;
};

/** What `pg` takes as a value, and what it gives for a column: `bigint` and `numeric` are bigints, `bytea` a Buffer. */
export type Query = <R extends object>(sql: string, values?: readonly unknown[], mode?: ReadMode) => Promise<R[]>;

/** One connection inside a transaction. */
export type Session = {
  readonly query: Query;
  /** For COPY, whose streams need the connection itself. */
  readonly client: ClientBase;
};

export type TransactionOptions = {
  /** A view of one moment, of which nothing is written. */
  readonly snapshot?: boolean;
  /** False: a crash of Postgres may lose the transaction, never half of it. */
  readonly durable?: boolean;
  /** Bound on each statement; default: none. */
  readonly timeoutMs?: number;
};

/** The index in Postgres. */
export type Store = {
  readonly schema: string;
  /** One query, on the replica when there is one. */
  read<R extends object>(sql: string, values?: readonly unknown[], options?: ReadOptions): Promise<R[]>;
  /** Commits when `work` resolves, rolls back when it rejects. */
  transaction<T>(work: (session: Session) => Promise<T>, options?: TransactionOptions): Promise<T>;
  /** A connection of its own, outside the pool, for locks that end with it; the caller ends it. */
  connect(): Promise<Client>;
  /** Where further connections go, as after a password was rotated; calls under way end where they began. */
  setUrls(urls: StoreUrls): void;
  close(): Promise<void>;
};

/** A connection that is not there in this time is told as such. */
const connectTimeoutMs = 5000;

/** A new connection plans its first query of each table tens of times as long as the next ones: those of a minute's traffic stay. */
const idleConnectionMs = 60_000;

/** Bound on a look at a table of few rows: it takes milliseconds unless something is wrong. */
export const lookTimeoutMs = 5000;

/** A transaction whose process is stuck must not hold locks for ever. */
const idleTransactionTimeoutMs = 60_000;

/** Integers of up to 120 bits and more arrive as text. */
const columnTypes: CustomTypesConfig = {
  getTypeParser: (id: number, format?: 'text' | 'binary') =>
    (format === 'binary' ? undefined : ownParsers.get(id)) ??
    (types.getTypeParser(id, format ?? 'text') as (text: string) => unknown),
};

const ownParsers: ReadonlyMap<number, (text: string) => unknown> = new Map<number, (text: string) => unknown>([
  [types.builtins.INT8, BigInt],
  [types.builtins.NUMERIC, numeric],
  [byteArrayType, readByteArray],
]);

/** Amounts are whole numbers; what a query averages is not. */
function numeric(text: string): bigint | number {
  return /^-?\d+$/.test(text) ? BigInt(text) : Number(text);
}

export function createStore(options: StoreOptions, { logger, register, tracer, clock }: StoreDependencies): Store {
  let { url } = options;
  let pools = connectPools(options, options, logger);
  const metrics = createStoreMetrics(register, { connections: () => countConnections(pools) });
  const limitTime = createTimeLimit();
  const secondsSince = (began: number): number => (clock() - began) / 1000;

  return {
    schema: options.schema,
    async read<R extends object>(sql: string, values: readonly unknown[] = [], settings: ReadOptions = {}) {
      const began = clock();
      const span = startReadSpan(tracer, settings.span, sql);
      try {
        const rows = await borrowed(pools.replica, async (client) => {
          await limitTime(client, settings.timeoutMs ?? options.statementTimeoutMs);
          return (await ask<R>(client, queryOf(sql, values, settings))).rows;
        });
        metrics.read('ok', secondsSince(began));
        return rows;
      } catch (error) {
        metrics.read(error instanceof StoreError ? error.code : 'internal', secondsSince(began));
        span.setStatus({ code: SpanStatusCode.ERROR });
        throw error;
      } finally {
        span.end();
      }
    },
    async transaction(work, { snapshot = false, durable = true, timeoutMs = 0 } = {}) {
      const began = clock();
      const begin = snapshot ? 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY' : 'BEGIN';
      try {
        const result = await borrowed(snapshot ? pools.replica : pools.primary, async (client) => {
          await limitTime(client, snapshot ? options.statementTimeoutMs : timeoutMs);
          await told(client.query(durable ? begin : `${begin}; SET LOCAL synchronous_commit = off`));
          return await finishTransaction(client, work);
        });
        metrics.transaction('committed', secondsSince(began));
        return result;
      } catch (error) {
        metrics.transaction('rolled_back', secondsSince(began));
        throw error;
      }
    },
    async connect() {
      const client = new Client(connectionOf(url, options));
      client.on('error', (error) => logger.warn({ err: bare(error) }, 'connection to Postgres lost'));
      try {
        await told(client.connect());
        return client;
      } catch (error) {
        await client.end().catch(() => undefined);
        throw error;
      }
    },
    setUrls(urls) {
      void endPools(pools);
      url = urls.url;
      pools = connectPools(urls, options, logger);
    },
    close: () => endPools(pools),
  };
}

type Pools = { readonly primary: Pool; readonly replica: Pool };

function connectPools({ url, readUrl }: StoreUrls, options: StoreOptions, logger: Logger): Pools {
  const primary = connectPool(url, options, logger);
  return { primary, replica: readUrl === undefined ? primary : connectPool(readUrl, options, logger) };
}

/** Resolves when the last call under way has given its connection back. */
async function endPools({ primary, replica }: Pools): Promise<void> {
  await Promise.all([...new Set([primary, replica])].map((pool) => pool.end()));
}

/**
 * `options` of the start packet, so that a connection is never without them; those of the URI stay. What is read are pages cut from indexes: a worker
 * beside takes longer to start than they take.
 */
function connectionOf(uri: string, { schema }: StoreOptions): ClientConfig {
  const url = URL.canParse(uri) ? new URL(uri) : undefined;
  const given = url?.searchParams.get('options') ?? '';
  // `pg` would let those of the URI replace ours.
  url?.searchParams.delete('options');
  return {
    connectionString: url?.href ?? uri,
    options: [
      given,
      `-c search_path=${schema}`,
      `-c idle_in_transaction_session_timeout=${idleTransactionTimeoutMs}`,
      '-c max_parallel_workers_per_gather=0',
    ]
      .join(' ')
      .trim(),
    connectionTimeoutMillis: connectTimeoutMs,
    application_name: 'tonplane',
    keepAlive: true,
    types: columnTypes,
  };
}

/** The pool hangs the connection on its errors, with all that was asked there. */
function bare(error: Error): Error {
  return Object.assign(error, { client: undefined });
}

function connectPool(url: string, options: StoreOptions, logger: Logger): Pool {
  const pool = new Pool({ ...connectionOf(url, options), max: options.poolSize, idleTimeoutMillis: idleConnectionMs });
  // Of an idle connection: the next call opens another.
  pool.on('error', (error) => logger.warn({ err: bare(error) }, 'connection to Postgres lost'));
  // It may be lost in the packet that opens it, before whoever asked for it can listen: what it is asked then fails, and nothing else may.
  pool.on('connect', (client) => client.on('error', () => undefined));
  return pool;
}

/** A query that waits longer for a lock ends: it holds a connection that queries of other tables need. */
const lockTimeoutMs = 1000;

/** Sets the session's timeouts where they are others: callers seldom differ. Zero: none. */
function createTimeLimit() {
  const timeouts = new WeakMap<PoolClient, number>();
  return async (client: PoolClient, timeoutMs: number): Promise<void> => {
    if (timeouts.get(client) === timeoutMs) return;
    const lockMs = timeoutMs === 0 ? 0 : lockTimeoutMs;
    await told(client.query(`SET statement_timeout = ${Math.ceil(timeoutMs)}; SET lock_timeout = ${lockMs}`));
    timeouts.set(client, timeoutMs);
  };
}

/** A connection on which anything failed but a statement does not go back into the pool. */
async function borrowed<T>(pool: Pool, work: (client: PoolClient) => Promise<T>): Promise<T> {
  const client = await told(pool.connect());
  let isBroken = false;
  const onError = (): void => {
    isBroken = true;
  };
  client.on('error', onError);
  try {
    return await work(client);
  } catch (error) {
    isBroken ||= isConnectionSpent(error);
    throw error;
  } finally {
    client.off('error', onError);
    client.release(isBroken);
  }
}

/**
 * By a callback: with the promises that `pg` makes, all rows of an answer outlived it until V8 marked its whole heap (measured on Node 26 with pg 8.23: collections
 * of young objects kept 2 MB of 12, with callbacks nothing), which holds up requests for 10 to 20 ms each time.
 */
function ask<R extends object>(client: ClientBase, query: QueryConfig): Promise<QueryResult<R>> {
  const answer = Promise.withResolvers<QueryResult<R>>();
  client.query<R>(query, (error, result) => (error ? answer.reject(error) : answer.resolve(result)));
  return told(answer.promise);
}

function queryOf(text: string, values: readonly unknown[], { statement }: ReadMode): QueryConfig {
  return { text, values: [...values], ...(statement && { name: statement }) };
}

async function finishTransaction<T>(client: PoolClient, work: (session: Session) => Promise<T>): Promise<T> {
  const query: Query = async <R extends object>(sql: string, values: readonly unknown[] = [], mode: ReadMode = {}) =>
    (await ask<R>(client, queryOf(sql, values, mode))).rows;
  try {
    const result = await work({ query, client });
    const { command } = await told(client.query('COMMIT'));
    // Postgres answers so, without an error, when a statement before had failed.
    if (command === 'ROLLBACK') throw new StoreError('query_failed', 'a failed statement was passed over');
    return result;
  } catch (error) {
    // On a lost connection Postgres has rolled back itself.
    await client.query('ROLLBACK').catch(() => undefined);
    throw error;
  }
}

function startReadSpan(tracer: Tracer, parent: Span | undefined, sql: string): Span {
  const context = parent === undefined ? ROOT_CONTEXT : trace.setSpan(ROOT_CONTEXT, parent);
  const span = tracer.startSpan('store.read', { kind: SpanKind.CLIENT }, context);
  return span.isRecording() ? span.setAttributes({ 'db.system.name': 'postgresql', 'db.query.text': sql }) : span;
}

function countConnections({ primary, replica }: Pools): { busy: number; idle: number; waiting: number } {
  const counts = { busy: 0, idle: 0, waiting: 0 };
  for (const { totalCount, idleCount, waitingCount } of new Set([primary, replica])) {
    counts.busy += totalCount - idleCount;
    counts.idle += idleCount;
    counts.waiting += waitingCount;
  }
  return counts;
}
