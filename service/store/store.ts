import { ROOT_CONTEXT, SpanKind, SpanStatusCode, trace, type Span, type Tracer } from '@opentelemetry/api';
import type { Client, ClientBase, PoolClient, QueryConfig, QueryResult } from 'pg';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';

import type { ClientCertificate } from '../tls/client-certificate.ts';
import { borrowed, onBorrowed } from './borrowed.ts';
import { boundedTypes, createConnections, type Connections } from './connections.ts';
import { StoreError, withStoreErrors } from './errors.ts';
import { createStoreMetrics, type StoreMetrics } from './metrics.ts';
import { createPrimaryPositions, type PrimaryPositions } from './primary-positions.ts';
import type { ReadMode } from './queries/reader.ts';
import { inReadTime, type HoldConnection } from './read-time.ts';
import { createReplica, type BypassReason, type Replica } from './replica.ts';

export type StoreOptions = {
  /** Connection URI. A secret: never logged. */
  readonly url: string;
  /** URL of a replica that may serve `read`; absent: `url`. */
  readonly readUrl?: string | undefined;
  /** Authorities in PEM that must have signed the certificates of both servers; absent: the URLs decide. */
  readonly ca?: string | undefined;
  /** Certificate that both servers see; absent: the URLs decide. */
  readonly clientCertificate?: ClientCertificate | undefined;
  /** Schema that holds the tables: lower-case letters, digits, underscores. */
  readonly schema: string;
  /** Connections to each of the two. */
  readonly poolSize: number;
  /** Milliseconds that the replica may lag; beyond them the primary is asked. Default: no bound. */
  readonly replicaMaxLagMs?: number;
  /** Time limit of a query of `read`, with the wait for its connection. Transactions have no limit unless they name it: writers bound their batches. */
  readonly statementTimeoutMs: number;
};

export type StoreUrls = Pick<StoreOptions, 'url' | 'readUrl' | 'ca' | 'clientCertificate'>;

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
  /** Span of the caller. */
  readonly span?: Span | undefined;
};

/** Value types of `pg`, in both directions: `bigint` and `numeric` are bigints, `bytea` is a Buffer. */
export type Query = <R extends object>(sql: string, values?: readonly unknown[], mode?: ReadMode) => Promise<R[]>;

/** A connection inside a transaction. */
export type Session = {
  readonly query: Query;
  /** Connection for the streams of COPY. */
  readonly client: ClientBase;
};

export type TransactionOptions = {
  /** Read-only snapshot of a moment. */
  readonly snapshot?: boolean;
  /** False: a crash of Postgres may lose the transaction, never half of it. */
  readonly durable?: boolean;
  /** Time limit of each statement; default: none. */
  readonly timeoutMs?: number;
};

/** The index in Postgres. */
export type Store = {
  readonly schema: string;
  /** Runs a query, on the replica if there is one that is fit to answer. */
  read<R extends object>(sql: string, values?: readonly unknown[], options?: ReadOptions): Promise<R[]>;
  /** Commits when `work` resolves, rolls back when it rejects. */
  transaction<T>(work: (session: Session) => Promise<T>, options?: TransactionOptions): Promise<T>;
  /** Opens a separate connection outside the pool, for locks that end with it; the caller ends it. */
  connect(): Promise<Client>;
  /** Sets the URLs of further connections, such as after a password rotation. Calls in progress end on their connections. */
  setUrls(urls: StoreUrls): void;
  close(): Promise<void>;
};

/** Time limit of a read of a small table: the read takes milliseconds in normal operation. */
export const LOOK_TIMEOUT_MS = 5000;

export function createStore(options: StoreOptions, { logger, register, tracer, clock }: StoreDependencies): Store {
  const metrics = createStoreMetrics(register, {
    connections: () => countConnections(pools),
    replicaLagSeconds: () => pools.replica?.lagSeconds(),
  });
  const around = { logger, clock, metrics, positions: createPrimaryPositions() };
  let pools = connectPools(options, options, around);
  const limitTime = createTimeLimit();
  const secondsSince = (began: number): number => (clock() - began) / 1000;

  return {
    schema: options.schema,
    async read<R extends object>(sql: string, values: readonly unknown[] = [], settings: ReadOptions = {}) {
      const began = clock();
      const span = startReadSpan(tracer, settings.span, sql);
      try {
        const timeoutMs = settings.timeoutMs ?? options.statementTimeoutMs;
        const run = async (client: PoolClient, isSecond: boolean): Promise<R[]> => {
          await limitTime(client, isSecond ? Math.max(timeoutMs - (clock() - began), 1) : timeoutMs);
          return (await ask<R>(client, queryOf(sql, values, settings))).rows;
        };
        const rows = await inReadTime(timeoutMs, (hold) => onReader(() => pools, run, hold));
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
    async transaction<T>(
      work: (session: Session) => Promise<T>,
      { snapshot = false, durable = true, timeoutMs = 0 }: TransactionOptions = {},
    ) {
      const began = clock();
      const begin = snapshot ? 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY' : 'BEGIN';
      try {
        const run = async (client: PoolClient): Promise<T> => {
          await limitTime(client, snapshot ? options.statementTimeoutMs : timeoutMs);
          await withStoreErrors(client.query(durable ? begin : `${begin}; SET LOCAL synchronous_commit = off`));
          return await finishTransaction(client, work);
        };
        const result = await (snapshot ? onReader(() => pools, run, unbounded) : borrowed(pools.primary, run));
        metrics.transaction('committed', secondsSince(began));
        return result;
      } catch (error) {
        metrics.transaction('rolled_back', secondsSince(began));
        throw error;
      }
    },
    connect: () => pools.primary.open(),
    setUrls(urls) {
      const next = connectPools(urls, options, around);
      void endPools(pools);
      pools = next;
    },
    close: () => endPools(pools),
  };
}

type Pools = {
  readonly primary: Connections;
  /** Undefined: the primary answers all reads. */
  readonly replica: Replica | undefined;
};

type PoolsDependencies = Pick<StoreDependencies, 'logger' | 'clock'> & {
  readonly metrics: StoreMetrics;
  readonly positions: PrimaryPositions;
};

function connectPools(
  urls: StoreUrls,
  { schema, poolSize, replicaMaxLagMs = Number.POSITIVE_INFINITY }: StoreOptions,
  { metrics, ...dependencies }: PoolsDependencies,
): Pools {
  const { url, readUrl, ca, clientCertificate } = urls;
  const connect = (to: string): Connections =>
    createConnections({ url: to, ca, clientCertificate, schema, poolSize }, dependencies.logger);
  const primary = connect(url);
  if (readUrl === undefined) return { primary, replica: undefined };
  const onBypass = (reason: BypassReason): void => metrics.bypass(reason);
  return {
    primary,
    replica: createReplica(replicaMaxLagMs, { ...dependencies, primary, replica: connect(readUrl), onBypass }),
  };
}

/** Resolves when the last call in progress has returned its connection. */
async function endPools({ primary, replica }: Pools): Promise<void> {
  await replica?.end();
  await primary.end();
}

function countConnections({ primary, replica }: Pools): { busy: number; idle: number; waiting: number } {
  const all = { busy: 0, idle: 0, waiting: 0 };
  for (const pool of [primary, replica]) {
    if (pool === undefined) continue;
    const { total, idle, waiting } = pool.counts();
    all.busy += total - idle;
    all.idle += idle;
    all.waiting += waiting;
  }
  return all;
}

/**
 * Reads on the replica. Reads on the primary while the replica is unfit, and once more after the replica failed.
 *
 * @param pools the present pools: a read may outlast a change of URLs
 */
async function onReader<T>(
  pools: () => Pools,
  work: (client: PoolClient, isSecond: boolean) => Promise<T>,
  hold: HoldConnection,
): Promise<T> {
  const { replica } = pools();
  const onPrimary = (isSecond: boolean): Promise<T> =>
    borrowed(pools().primary, (client) =>
      hold(client, async () => {
        const result = await work(client, isSecond);
        await replica?.answered(client);
        return result;
      }),
    );
  const client = await replica?.borrow();
  if (client === undefined) return onPrimary(false);
  try {
    return await onBorrowed(client, (on) => hold(on, () => work(on, false)));
  } catch (error) {
    if (replica?.failed(error) !== true) throw error;
    return onPrimary(true);
  }
}

/** A transaction has no time of its own: its statements do. */
const unbounded: HoldConnection = (_client, work) => work();

/** A query that waits longer for a lock ends: its connection is needed by queries of other tables. */
const LOCK_TIMEOUT_MS = 1000;

/** Sets the session's timeouts if they differ: callers seldom differ. Zero: none. */
function createTimeLimit() {
  const timeouts = new WeakMap<PoolClient, number>();
  return async (client: PoolClient, timeoutMs: number): Promise<void> => {
    if (timeouts.get(client) === timeoutMs) return;
    const lockMs = timeoutMs === 0 ? 0 : LOCK_TIMEOUT_MS;
    await withStoreErrors(
      client.query(`SET statement_timeout = ${Math.ceil(timeoutMs)}; SET lock_timeout = ${lockMs}`),
    );
    timeouts.set(client, timeoutMs);
  };
}

/**
 * Queries with a callback. With promises of `pg`, all rows of an answer survived until V8 marked its whole heap. Such a mark delays
 * requests by 10 to 20 ms. Measured on Node 26 with pg 8.23: collections of young objects left 2 MB of 12, with callbacks nothing.
 */
function ask<R extends object>(client: ClientBase, query: QueryConfig): Promise<QueryResult<R>> {
  const answer = Promise.withResolvers<QueryResult<R>>();
  client.query<R>(query, (error, result) => (error ? answer.reject(error) : answer.resolve(result)));
  return withStoreErrors(answer.promise);
}

function queryOf(text: string, values: readonly unknown[], { statement, bytesMax }: ReadMode): QueryConfig {
  const bound = bytesMax === undefined ? {} : { types: boundedTypes(bytesMax) };
  return { text, values: [...values], ...(statement && { name: statement }), ...bound };
}

async function finishTransaction<T>(client: PoolClient, work: (session: Session) => Promise<T>): Promise<T> {
  const query: Query = async <R extends object>(sql: string, values: readonly unknown[] = [], mode: ReadMode = {}) =>
    (await ask<R>(client, queryOf(sql, values, mode))).rows;
  try {
    const result = await work({ query, client });
    const { command } = await withStoreErrors(client.query('COMMIT'));
    // Postgres answers so, without an error, when a statement before had failed.
    if (command === 'ROLLBACK') throw new StoreError('query_failed', 'a failed statement was passed over');
    return result;
  } catch (error) {
    // On a lost connection Postgres has already rolled back.
    await client.query('ROLLBACK').catch(() => undefined);
    throw error;
  }
}

function startReadSpan(tracer: Tracer, parent: Span | undefined, sql: string): Span {
  const context = parent === undefined ? ROOT_CONTEXT : trace.setSpan(ROOT_CONTEXT, parent);
  const span = tracer.startSpan('store.read', { kind: SpanKind.CLIENT }, context);
  return span.isRecording() ? span.setAttributes({ 'db.system.name': 'postgresql', 'db.query.text': sql }) : span;
}
