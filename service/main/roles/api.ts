import { EventEmitter } from 'node:events';

import type { Tracer } from '@opentelemetry/api';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';

import type { ServiceConfig } from '#service/config.ts';
import type { ReadContext } from '#service/contract/answer.ts';
import type { Operation } from '#service/contract/operation.ts';
import type { CallerConditions } from '#service/http/conditions.ts';
import type { Readiness } from '#service/http/internal-server.ts';
import type { HttpOptions } from '#service/http/options.ts';
import type { OwnPage } from '#service/http/pages.ts';
import type { PostHandler } from '#service/http/post-route.ts';
import { createHttpServer } from '#service/http/server.ts';
import { createDetector, type Detector } from '#service/interfaces/detector.ts';
import type { OnSent } from '#service/live/send/send.ts';
import type { Pool } from '#service/pool/pool.ts';
import { createTvm } from '#service/tvm/tvm.ts';
import { createV2 } from '#service/v2/v2.ts';
import { followConfiguration, type ConfigurationSource } from '../wiring/follow-configuration.ts';
import { createEmulation } from '../wiring/emulate.ts';
import { createExplorers, type ExplorerOptions, type ListenerUrls } from '../wiring/explorer.ts';
import { createInternal, type InternalOptions } from '../wiring/internal-listener.ts';
import { openIndexService, type IndexService, type IndexServiceOptions } from '../wiring/index-service.ts';
import { startLimits, type LimitsOptions } from '../wiring/limits.ts';
import { closePart, closingLast } from '../closing.ts';
import { listenOn, urlOf } from '../listen.ts';
import { createLive, type Live } from '../wiring/live.ts';
import { startPool } from '../wiring/pool.ts';
import { redisServerOf } from '../wiring/redis.ts';
import { readinessOf } from '../wiring/readiness.ts';
import { createStatus, type IndexStatus } from '../status/status.ts';
import { startStreaming } from '../wiring/streaming.ts';
import { startTracing } from '../wiring/tracing.ts';
import { tvmOptions } from '../configuration/tvm-options.ts';

/** The API, running. */
export type Api = {
  /** Actual address of the listener: `http://127.0.0.1:8081`. */
  readonly url: string;
  readonly internalUrl: string;
  readonly pool: Pool;
  /** Status of the index; undefined without an index. */
  index(): IndexStatus | undefined;
  /** True if the index has the masterchain blocks from one seqno to another, with their tokens and actions. */
  hasIndexed(from: number, to: number): Promise<boolean>;
  /** HTTP requests answered since the start. */
  requests(): Promise<number>;
  /**
   * Sets readiness to false and accepts no new connections. Requests in flight finish within the drain time. Then everything ends in
   * reverse order.
   */
  close(): Promise<void>;
};

export type ApiOptions = ConfigurationSource &
  InternalOptions &
  IndexServiceOptions &
  LimitsOptions & {
    /**
     * Milliseconds for requests in flight at shutdown; new requests are not awaited. Default: the time that the configuration gives a pod.
     */
    readonly drainMs?: number;
    /** Operations of the public listener outside the contracts. */
    readonly posts?: ReadonlyMap<string, PostHandler>;
    /** Changes how operations run: a forked network reads again what came over while it answered. */
    readonly around?: <C extends ReadContext>(operation: Operation<C>) => Operation<C>;
    /** Pages of the public listener besides its own, and examples for its documents. */
    readonly ownPages?: ReadonlyMap<string, () => OwnPage>;
    readonly examples?: Readonly<Record<string, string>>;
    /** Names the network of a laptop in the explorer. */
    readonly explorer?: ExplorerOptions;
    /** Simulated treatment of callers, for tests of clients. */
    readonly conditions?: () => CallerConditions;
    /** Returns additional content of `/status`. */
    readonly status?: () => Readonly<Record<string, unknown>>;
  };

export type ApiDependencies = {
  /** Version of the release, `MAJOR.MINOR.PATCH`. PATCH is also the last number of the API version. */
  readonly version: string;
  readonly logger: Logger;
  readonly register: Registry;
};

/**
 * Builds the API, then starts its listeners. A failure closes what was built.
 * @throws StartError, LimitsError (keyring)
 */
export async function startApi(
  config: ServiceConfig,
  options: ApiOptions,
  dependencies: ApiDependencies,
): Promise<Api> {
  let urls = { url: '', internalUrl: '' };
  await using building = new AsyncDisposableStack();
  const built = await buildApi(config, options, { ...dependencies, urls: () => urls, parts: building });
  const { http, internal, reload, pool, ledger } = built;
  // Probes and metrics are answered until all other parts have ended.
  await using parts = closingLast(internal, building);
  const at = await listenOn('--port', config.listen.port, () => http.listen());
  const internalAt = await listenOn('--internal-port', config.listen.internalPort, () => internal.listen());
  urls = { url: urlOf(at), internalUrl: urlOf(internalAt) };
  const { logger, register } = dependencies;
  const { network } = config;
  logger.info({ configHash: reload.hash, network, ...at, internalPort: internalAt.port }, 'started');
  const running = parts.move();
  return {
    ...urls,
    pool,
    index: () => ledger?.status(),
    hasIndexed: async (from, to) => (await ledger?.hasWhole(from, to)) ?? false,
    requests: () => countRequests(register),
    close: () => running.disposeAsync(),
  };
}

type BuildDependencies = ApiDependencies & {
  /** URLs of the listeners, known after their start. */
  readonly urls: () => ListenerUrls;
  /** Takes each part that must be closed. It closes them in reverse order. */
  readonly parts: AsyncDisposableStack;
};

/** Wires the API from the far end of a request. The order is: lite servers, trust, pool, live answers, the index, limits, v2 and v3, listeners. */
async function buildApi(
  config: ServiceConfig,
  options: ApiOptions,
  { urls, parts, ...dependencies }: BuildDependencies,
) {
  const { version, logger, register } = dependencies;
  const tracing = parts.adopt(await startTracing(config, options.tracingCa, version, logger), closePart);
  const { tracer } = tracing;
  const { pool, signatures, trusted } = startPool(config, options, { ...dependencies, tracer });
  parts.adopt(signatures, closePart);
  parts.adopt(pool, closePart);
  const tvm = parts.adopt(createTvm(tvmOptions(), { register, logger, now: () => performance.now() }), closePart);
  const sending = new EventEmitter<{ sent: Parameters<OnSent> }>();
  const live = createLive(config, { pool, signatures, tvm, onSent: (...sent) => void sending.emit('sent', ...sent) });
  const detector = createDetector(config, { register });
  const ledger = ledgerOf(config, options, { ...dependencies, pool, live, detector, tracer });
  parts.adopt(ledger, closePart);
  if (ledger !== undefined) sending.on('sent', ledger.onSent);
  const { keyring, shared, limits } = startLimits(config, options, dependencies);
  parts.adopt(limits, closePart);
  const { around } = options;
  const emulate = createEmulation(config, { pool, live, detector, index: ledger?.annotations, register, around });
  const redis = redisServerOf(options);
  const streamed = { index: ledger?.streamed, pool, live, detector, shared, redis, logger, register };
  const streams = parts.adopt(startStreaming(config, streamed), closePart);
  const explorers = createExplorers(config, version, urls, options.explorer);
  const http = createHttpServer(httpOptions(config, options), {
    v2: createV2({ release: releaseOf(version), ...config.api.v2, ...(around && { around }) }, live),
    ...(ledger && config.surfaces.includes('v3') && { v3: ledger.v3 }),
    ...(emulate && { emulate }),
    ...(streams && { streaming: streams.streaming }),
    ...(explorers.public && { explorer: explorers.public }),
    limits,
    logger,
    tracer,
    register,
    clock,
    headSeqno: () => pool.head()?.block.seqno,
    ...(options.posts !== undefined && { posts: options.posts }),
    ...(options.conditions !== undefined && { conditions: options.conditions }),
    ...(options.ownPages !== undefined && { ownPages: options.ownPages }),
    ...(options.examples !== undefined && { examples: options.examples }),
  });
  parts.adopt(http, closePart);
  const followers = { limits, shared, pool, http, tracing, ledger, streams };
  const reload = followConfiguration(config, options, followers, dependencies);
  parts.adopt(reload, closePart);
  const readiness = (): Readiness =>
    readinessOf(pool, { draining: http.status().draining, unreadable: ledger?.unreadable() });
  const status = createStatus(config, version, {
    further: options.status ?? (() => ({})),
    pool,
    trusted,
    readiness,
    http: () => http.status(),
    configHash: () => reload.hash,
    keyring: () => ({ keys: keyring.size, sha256: keyring.sha256 }),
    ...(ledger && { index: () => ledger.status() }),
    ...(streams && { streaming: () => ({ ...streams.streaming.status(), ...streams.streaming.health().components }) }),
  });
  const internal = createInternal(config, options, { register, readiness, status, explorer: explorers.internal });
  return { pool, ledger, http, reload, internal };
}

/** Creates the index that v3 and streams read; undefined when neither is served. */
function ledgerOf(
  config: ServiceConfig,
  options: ApiOptions,
  dependencies: Pick<ApiDependencies, 'logger' | 'register'> & {
    readonly pool: Pool;
    readonly live: Live;
    readonly detector: Detector;
    readonly tracer: Tracer;
  },
): IndexService | undefined {
  const isRead = config.surfaces.some((surface) => surface === 'v3' || surface === 'stream');
  return isRead ? openIndexService(config, options, dependencies) : undefined;
}

const clock = { nowMs: () => performance.now(), unixMs: Date.now };

/** PATCH of `MAJOR.MINOR.PATCH`. */
function releaseOf(version: string): number {
  return Number(version.split('.')[2]);
}

function httpOptions(config: ServiceConfig, options: ApiOptions): HttpOptions {
  return {
    host: config.listen.host,
    port: config.listen.port,
    requestTimeoutMs: config.requestTimeoutMs,
    ...drainOf(config, options),
    trustedProxies: config.trustedProxies,
    connectionsPerAddress: config.http.connectionsPerAddress,
    compression: config.http.compression,
    unknownParameters: config.api.v3.unknownParameters,
    rest: config.surfaces.includes('v2'),
    rpc: config.surfaces.includes('v2') || config.surfaces.includes('jsonrpc'),
  };
}

/** The grace period of a pod has both times: for requests that still come, and for requests still in flight. */
function drainOf(config: ServiceConfig, { drainMs }: ApiOptions): Pick<HttpOptions, 'drainMs' | 'lateMsMax'> {
  if (drainMs !== undefined) return { drainMs };
  return { lateMsMax: config.drainSeconds * 1000, drainMs: config.requestTimeoutMs };
}

async function countRequests(register: Registry): Promise<number> {
  const metric = await register.getSingleMetric('ton_http_requests_total')?.get();
  return metric?.values.reduce((sum, { value }) => sum + value, 0) ?? 0;
}
