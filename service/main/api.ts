import { join } from 'node:path';

import type { Logger } from 'pino';
import type { Registry } from 'prom-client';

import { canonicalHash, hotConfig, type ServiceConfig } from '../config.ts';
import type { HttpOptions } from '../http/options.ts';
import { createHttpServer, type HttpServer, type HttpServerStatus } from '../http/server.ts';
import { createInternalServer, type InternalPage, type Readiness } from '../http/internal-server.ts';
import { createKeyring, keyringPollMs, type KeyRow } from '../limits/keyring.ts';
import { createLimits, type Limits } from '../limits/limits.ts';
import { createRedisMetrics } from '../limits/metrics.ts';
import { isClusterUrl } from '../limits/redis/connection.ts';
import { createSharedLimits, type SharedLimits } from '../limits/redis/shared-limits.ts';
import { createLiteServer } from '../liteserver/liteserver.ts';
import { createPool, type Pool } from '../pool/pool.ts';
import { createProofMetrics } from '../proof/metrics.ts';
import { createSignatureChecker, type SignatureChecker } from '../proof/signature-checker.ts';
import { createTrustChain, type TrustChain } from '../proof/trust-chain.ts';
import { setLogLevel } from '../telemetry/logger.ts';
import { createTracing, type Tracing } from '../telemetry/tracer.ts';
import { createTvm } from '../tvm/tvm.ts';
import { createV2 } from '../v2/v2.ts';
import { StartError, systemCode } from './errors.ts';
import { createLive } from './live.ts';
import { createHotReload, hotReloadPollMs, type Loaded } from './hot-reload.ts';
import { createStatus } from './status.ts';

/** The API, running. */
export type Api = {
  /** Where it really listens: `http://127.0.0.1:8081`. */
  readonly url: string;
  readonly internalUrl: string;
  readonly pool: Pool;
  /** HTTP requests answered since the start. */
  requests(): Promise<number>;
  /** Readiness false, no new connections, requests in flight finish within the drain time; then everything ends in reverse order. */
  close(): Promise<void>;
};

export type ApiOptions = {
  /** Keys besides those of the keyring file. */
  readonly keys?: readonly KeyRow[];
  /** Of the Redis that limits are shared in; a secret. Default: limits of this process alone. */
  readonly redisUrl?: string | undefined;
  /** What is told of the configuration until its files change; default: the hash of its hot part. */
  readonly configHash?: string;
  /** What the configuration was read from, to be followed while the process runs. */
  readonly source?: { readonly files: readonly string[]; readonly load: () => Loaded };
  /** Requests in flight have this long at shutdown; default: the configuration's `drainSeconds`. */
  readonly drainMs?: number;
  /** Pages of the internal listener besides its own. */
  readonly pages?: ReadonlyMap<string, () => InternalPage>;
};

export type ApiDependencies = {
  /** Of the release, `0.1.0`: its last number is also that of the API (v2 sheet section 11). */
  readonly version: string;
  readonly logger: Logger;
  readonly register: Registry;
};

/** Modules that run in threads: beside the sources, or beside the bundle. */
const isSource = import.meta.url.endsWith('.ts');
const workerSuffix = isSource ? '../proof/signature-worker.ts' : './signature-worker.js';
const tvmWorkerUrl = new URL(isSource ? '../tvm/worker.ts' : './worker.js', import.meta.url);

/**
 * Wires the API in the order a request flows, from the far end: lite servers, trust, pool, live answers, v2, limits, listeners.
 * @throws StartError, LimitsError (keyring)
 */
export async function startApi(
  config: ServiceConfig,
  options: ApiOptions,
  dependencies: ApiDependencies,
): Promise<Api> {
  const { version, logger, register } = dependencies;
  const keyring = createKeyring(
    {
      file: config.keyringFile ?? undefined,
      rows: options.keys ?? [],
      plans: new Set(config.plans.map(({ name }) => name)),
      pollMs: keyringPollMs,
    },
    { logger, register },
  );
  const shared = sharedLimits(config, options.redisUrl, dependencies);
  const limits = createLimits(
    { plans: config.plans, anonymousPlan: config.anonymousPlan, network: config.network },
    { keyring, now: unixMs, register, ...(shared && { shared }) },
  );
  const tracing = await startTracing(config, version, logger);
  const { tracer } = tracing;
  const { pool, signatures, trusted } = startPool(config, options.redisUrl, { ...dependencies, tracer });
  const tvm = createTvm({ workerUrl: tvmWorkerUrl }, { register, logger, now: () => performance.now() });
  const v2 = createV2({ release: releaseOf(version), ...config.api.v2 }, createLive(config, { pool, signatures, tvm }));
  const headSeqno = (): number | undefined => pool.head()?.block.seqno;
  const http = createHttpServer(httpOptions(config, options), {
    v2,
    limits,
    logger,
    tracer,
    register,
    clock,
    headSeqno,
  });
  const readiness = (): Readiness => readinessOf(pool, http.status());
  const internal = createInternalServer(
    { host: config.listen.host, port: config.listen.internalPort },
    {
      register,
      readiness,
      status: createStatus(config, version, {
        pool,
        trusted,
        readiness,
        http: () => http.status(),
        configHash: () => reload.hash,
        keyring: () => ({ keys: keyring.size, sha256: keyring.sha256 }),
      }),
      pages: options.pages ?? new Map(),
    },
  );
  const start = { config, hash: options.configHash ?? canonicalHash(hotConfig(config)), redisUrl: options.redisUrl };
  const reload = createHotReload(
    start,
    { files: options.source?.files ?? [], pollMs: hotReloadPollMs },
    {
      load: options.source?.load ?? (() => start),
      apply: (next, before) => putInForce(next, before, { limits, shared, pool, http, tracing, logger }),
      logger,
      register,
    },
  );
  const close = async (): Promise<void> => {
    reload.close();
    await http.close();
    await Promise.all([pool.close(), limits.close()]);
    await Promise.all([signatures.close(), tvm.close()]);
    await Promise.all([tracing.close(), internal.close()]);
  };
  try {
    const at = await listenOn('--port', config.listen.port, () => http.listen());
    const internalAt = await listenOn('--internal-port', config.listen.internalPort, () => internal.listen());
    const { network } = config;
    logger.info({ configHash: reload.hash, network, ...at, internalPort: internalAt.port }, 'started');
    const requests = (): Promise<number> => countRequests(register);
    return { url: urlOf(at), internalUrl: urlOf(internalAt), pool, requests, close };
  } catch (error) {
    await close();
    throw error;
  }
}

type HotParts = {
  readonly limits: Limits;
  readonly shared: SharedLimits | undefined;
  readonly pool: Pool;
  readonly http: HttpServer;
  readonly tracing: Tracing;
  readonly logger: Logger;
};

/** Puts what is hot of a configuration in force. Throws LimitsError when a key names a plan that it does not have; then nothing has changed. */
function putInForce(next: Loaded, before: Loaded, { limits, shared, pool, http, tracing, logger }: HotParts): void {
  const hot = hotConfig(next.config);
  limits.setPlans(hot);
  limits.setOnRedisFailure(hot.onRedisFailure);
  if (next.redisUrl !== undefined && next.redisUrl !== before.redisUrl) shared?.setUrl(next.redisUrl);
  pool.reconfigure(hot.liteServers);
  http.setTrustedProxies(hot.trustedProxies);
  if (hot.sampleRatio !== null) tracing.setSampleRatio(hot.sampleRatio);
  setLogLevel(logger, hot.logLevel);
}

/** Unix time that no step of the system's clock moves back. */
const unixMs = (): number => performance.timeOrigin + performance.now();

/** Limits shared by all pods where a Redis is named; without one each process has its own. */
function sharedLimits(
  config: ServiceConfig,
  url: string | undefined,
  { logger, register }: ApiDependencies,
): SharedLimits | undefined {
  const metrics = createRedisMetrics(register);
  if (url === undefined) {
    if (config.rateLimits.redis !== null) logger.warn('no URL of the Redis for limits: this process has its own');
    return undefined;
  }
  const { onRedisFailure } = config.rateLimits;
  return createSharedLimits({ url, api: config.name, onRedisFailure }, { logger, metrics, now: unixMs });
}

const clock = { nowMs: () => performance.now(), unixMs: Date.now };

/** The last number of `0.1.0`. */
function releaseOf(version: string): number {
  return Number(version.split('.')[2]);
}

function startTracing(config: ServiceConfig, version: string, logger: Logger): Promise<Tracing> {
  const resource = {
    'service.name': 'tonplane',
    'service.version': version,
    'tonplane.api': config.name,
    'tonplane.network': config.network,
  };
  return createTracing({ tracing: config.observability.tracing, resource }, { logger });
}

function httpOptions(config: ServiceConfig, options: ApiOptions): HttpOptions {
  return {
    host: config.listen.host,
    port: config.listen.port,
    requestTimeoutMs: config.requestTimeoutMs,
    drainMs: options.drainMs ?? config.drainSeconds * 1000,
    trustedProxies: config.trustedProxies,
    rest: config.surfaces.includes('v2'),
  };
}

type PoolParts = {
  readonly pool: Pool;
  readonly trusted: () => TrustChain | undefined;
  readonly signatures: SignatureChecker;
};

/** The pool with the trust chain over it and the threads that check signatures. */
function startPool(
  config: ServiceConfig,
  redisUrl: string | undefined,
  shared: ApiDependencies & { readonly tracer: Parameters<typeof createPool>[1]['tracer'] },
): PoolParts {
  const { logger, register } = shared;
  const workerUrl = new URL(workerSuffix, import.meta.url);
  const signatures = createSignatureChecker({ workerUrl }, { register, logger });
  const { anchors, stateDir } = config;
  let trusted: TrustChain | undefined;
  const pool = createPool(
    { liteServers: config.liteServers, zeroState: anchors.zeroState, trust: config.trust },
    {
      ...shared,
      proofs: createProofMetrics(register),
      createLiteServer: (liteServer) => createLiteServer(liteServer, shared),
      createTrustChain: (fetchProof) => {
        trusted = createTrustChain(
          {
            initBlock: anchors.initBlock,
            zeroState: anchors.zeroState,
            ...(stateDir !== null && { file: join(stateDir, 'trusted-blocks.json') }),
          },
          { fetchProof, signatures, register, logger },
        );
        return trusted;
      },
      now: () => performance.now(),
      random: Math.random,
      // Floors are told by messages, and answers kept, in one server: over a cluster each pod has its own.
      shared: redisUrl === undefined || isClusterUrl(redisUrl) ? undefined : { url: redisUrl, api: config.name },
    },
  );
  return { pool, trusted: () => trusted, signatures };
}

function readinessOf(pool: Pool, { draining }: HttpServerStatus): Readiness {
  const reasons = [
    ...(draining ? ['draining'] : []),
    ...(pool.head() === undefined ? ['waiting for the first masterchain head'] : []),
    ...(pool.ready() || pool.head() === undefined ? [] : ['no usable lite server']),
  ];
  return { ready: reasons.length === 0, reasons };
}

async function listenOn<T>(option: string, port: number, listen: () => Promise<T>): Promise<T> {
  try {
    return await listen();
  } catch (cause) {
    const reason = systemCode(cause);
    if (reason === '') throw cause;
    const inUse = reason === 'EADDRINUSE';
    throw new StartError({
      code: inUse ? 'port_in_use' : 'address_unusable',
      message: inUse
        ? `${option}: port ${port} is in use; give another one, or 0 for a free one`
        : `${option}: cannot listen on port ${port} (${reason}); check --host and ${option}`,
      data: { option, port, reason },
      retryable: false,
      cause,
    });
  }
}

function urlOf({ host, port }: { host: string; port: number }): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

async function countRequests(register: Registry): Promise<number> {
  const metric = await register.getSingleMetric('ton_http_requests_total')?.get();
  return metric?.values.reduce((sum, { value }) => sum + value, 0) ?? 0;
}
