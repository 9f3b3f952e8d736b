import type { Tracer } from '@opentelemetry/api';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import type { Connection } from './adnl/connection.ts';
import { openConnection } from './adnl/connection.ts';
import { payloadBytesMax } from './adnl/frame.ts';
import { backoffMs } from './backoff.ts';
import type { LiteServerErrorCode } from './errors.ts';
import { LiteServerError } from './errors.ts';
import type { LiteServerFunction } from './functions.ts';
import { functionOf } from './function-table.ts';
import { createLiteServerMetrics } from './metrics.ts';
import type { LiteServerOptions, QueryOptions } from './options.ts';
import { defaultTuning } from './options.ts';
import type { PendingQueries } from './pending-queries.ts';
import { createPendingQueries } from './pending-queries.ts';
import { encodeEnvelope } from './tl/envelope.ts';

export type { QueryOptions } from './options.ts';

/**
 * Lite server behind one ADNL connection, which opens at once, is pinged, and reopens when it breaks. During an attempt to connect, queries wait for
 * its end, at most their own timeout. Between attempts they fail at once with `unreachable`, so that the caller can ask another lite server. Queries
 * on a broken connection fail with `unreachable` too; the server may have executed them or not.
 */
export type LiteServer = {
  readonly name: string;
  /** Calls one function. @throws LiteServerError (also TlError `tl_value`, when `args` cannot be written) */
  query<Args, Answer>(fn: LiteServerFunction<Args, Answer>, args: Args, options: QueryOptions): Promise<Answer>;
  /**
   * Sends a function's bytes (id first, no envelope) and returns the answer's bytes (id first). Throws an error answer. The answer is a view of a
   * frame of its own. @throws LiteServerError
   */
  queryBytes(request: Buffer, options: QueryOptions): Promise<Buffer>;
  status(): LiteServerStatus;
  /** Fails every open query with `closed`; resolves when the connection's handle is gone. */
  close(): Promise<void>;
};

export type LiteServerStatus = {
  /** True when queries can be sent now. */
  readonly connected: boolean;
  readonly inFlight: number;
  /** Failed attempts to connect since the last good connection. */
  readonly failures: number;
  /** Reason why the last connection ended or failed. */
  readonly lastError: string | undefined;
};

export type LiteServerDependencies = {
  readonly logger: Logger;
  readonly register: Registry;
  readonly tracer?: Tracer | undefined;
  /** Random number in 0..1 that varies the pauses between attempts; `Math.random` when absent. */
  readonly random?: () => number;
};

/** Connects at once and stays connected until `close`. Throws on an impossible port or public key. */
export function createLiteServer(options: LiteServerOptions, dependencies: LiteServerDependencies): LiteServer {
  const { name, host, port, publicKey } = options;
  const tuning = { ...defaultTuning, ...options.tuning };
  const { register, tracer, random = Math.random } = dependencies;
  const logger = dependencies.logger.child({ liteServer: name });
  const metrics = createLiteServerMetrics(register, name);
  const pending: PendingQueries = createPendingQueries({ liteServer: name, metrics, tracer });
  let connection: Connection | undefined;
  let readySinceMs: number | undefined;
  let everReady = false;
  let failures = 0;
  let lastError: string | undefined;
  let pauseTimer: NodeJS.Timeout | undefined;
  let closed = false;
  let onGone: (() => void) | undefined;

  function open(): void {
    pauseTimer = undefined;
    connection = openConnection(
      { host, port, publicKey, ...tuning },
      {
        onReady,
        onClosed,
        onAnswer: (queryId, answer) => pending.answered(queryId, answer),
        onTraffic: (direction, bytes) => metrics.traffic(direction, bytes),
      },
    );
  }

  function onReady(): void {
    metrics.connect('ready', everReady);
    metrics.connected(true);
    everReady = true;
    readySinceMs = performance.now();
    logger.debug('lite server connected');
    pending.sendThrough((queryId, query) => connection?.sendQuery(queryId, query));
  }

  function onClosed(cause: Error | undefined): void {
    const lastedMs = readySinceMs === undefined ? 0 : performance.now() - readySinceMs;
    const wasReady = readySinceMs !== undefined;
    connection = undefined;
    readySinceMs = undefined;
    pending.stopSending();
    if (closed) {
      onGone?.();
      return;
    }
    lastError = cause?.message ?? 'the connection ended';
    failures = wasReady && lastedMs >= tuning.stableMs ? 0 : failures + 1;
    if (wasReady) metrics.connected(false);
    else metrics.connect('failed', everReady);
    const pauseMs = failures === 0 ? 0 : backoffMs(failures, tuning.backoffMinMs, tuning.backoffMaxMs, random);
    // Only the first failure of a row is a warning, because the next ones add no information.
    logger[wasReady || failures === 1 ? 'warn' : 'debug']({ reason: lastError, failures, pauseMs }, 'lite server lost');
    pending.failAll('unreachable', lastError, cause);
    if (pauseMs === 0) open();
    else pauseTimer = setTimeout(open, pauseMs);
  }

  /** Returns the reason if a query cannot even start. */
  function refusal(request: Buffer, { signal, timeoutMs }: QueryOptions): [LiteServerErrorCode, string] | undefined {
    if (closed) return ['closed', 'the lite server was closed'];
    if (signal?.aborted) return ['aborted', 'the caller gave up'];
    if (timeoutMs <= 0) return ['timeout', 'no time was left'];
    if (connection === undefined) return ['unreachable', lastError ?? 'not connected'];
    if (pending.size() >= tuning.inFlightMax) return ['busy', `${tuning.inFlightMax} queries are in flight`];
    if (request.length > requestBytesMax) return ['client', `the request has ${request.length} bytes`];
    return undefined;
  }

  function ask<T>(
    functionName: string,
    request: Buffer,
    queryOptions: QueryOptions,
    read: (answer: Buffer) => T,
  ): Promise<T> {
    const refused = refusal(request, queryOptions);
    if (refused !== undefined) {
      const [code, text] = refused;
      metrics.query(functionName, code, 0);
      return Promise.reject(new LiteServerError(code, { serverCode: undefined, text, function: functionName }));
    }
    const query = encodeEnvelope(request, queryOptions.waitMasterchain);
    return pending.start({ functionName, query, read, ...queryOptions });
  }

  open();
  return {
    name,
    async query(fn, args, queryOptions) {
      return ask(fn.name, fn.encode(args), queryOptions, (answer) => fn.decode(answer));
    },
    queryBytes(request, queryOptions) {
      const fn = functionOf(request);
      return ask(fn?.name ?? 'unknown', request, queryOptions, (answer) => answer);
    },
    status() {
      const connected = readySinceMs !== undefined;
      return { connected, inFlight: pending.size(), failures: connected ? 0 : failures, lastError };
    },
    async close() {
      if (closed) return;
      closed = true;
      clearTimeout(pauseTimer);
      pending.failAll('closed', 'the lite server was closed');
      metrics.close();
      if (connection === undefined) return;
      const gone = new Promise<void>((resolve) => {
        onGone = resolve;
      });
      connection.close();
      await gone;
    },
  };
}

/** Most bytes of a request, which leaves room for the envelope, the wait prefix and two length prefixes. */
const requestBytesMax = payloadBytesMax - 128;
