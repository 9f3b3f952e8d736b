import { join } from 'node:path';

import type { Logger } from 'pino';
import type { Registry } from 'prom-client';

import type { ServiceConfig } from '../config.ts';
import type { HttpOptions } from '../http/options.ts';
import { createHttpServer, type HttpServerStatus } from '../http/server.ts';
import { createInternalServer, type InternalPage, type InternalPost, type Readiness } from '../http/internal-server.ts';
import type { PostHandler } from '../http/post-route.ts';
import type { KeyRow } from '../limits/keyring.ts';
import { connectRedis, isClusterUrl } from '../limits/redis/connection.ts';
import { createLiteServer } from '../liteserver/liteserver.ts';
import { createPool, type Pool } from '../pool/pool.ts';
import { createProofMetrics } from '../proof/metrics.ts';
import { createSignatureChecker, type SignatureChecker } from '../proof/signature-checker.ts';
import { createTrustChain, type TrustChain } from '../proof/trust-chain.ts';
import { createTracing, type Tracing } from '../telemetry/tracer.ts';
import { createTvm } from '../tvm/tvm.ts';
import type { Operation } from '../contract/operation.ts';
import { createV2, type V2 } from '../v2/v2.ts';
import { StartError, systemCode } from './errors.ts';
import { createLive } from './live.ts';
import { followConfiguration, type ConfigurationSource } from './follow-configuration.ts';
import { startLimits } from './limits.ts';
import { createStatus } from './status.ts';
import { renderStatus, statusPagePolicy } from './status-page.ts';

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

export type ApiOptions = ConfigurationSource & {
  /** Keys besides those of the keyring file. */
  readonly keys?: readonly KeyRow[];
  /** Requests in flight have this long at shutdown; default: the configuration's `drainSeconds`. */
  readonly drainMs?: number;
  /** Pages of the internal listener besides its own. */
  readonly pages?: ReadonlyMap<string, () => InternalPage>;
  /** Operations besides those of the contracts: of the public listener, and of the internal one. */
  readonly posts?: ReadonlyMap<string, PostHandler>;
  readonly internalPosts?: ReadonlyMap<string, InternalPost>;
  /** Address of the internal listener; default: that of the public one. */
  readonly internalHost?: string;
  /** Changes how operations run: a forked network reads again what came over while it answered. */
  readonly around?: (operation: Operation) => Operation;
  /** What `/status` shows besides its own. */
  readonly status?: () => Readonly<Record<string, unknown>>;
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
  const { keyring, shared, limits } = startLimits(config, options, dependencies);
  const tracing = await startTracing(config, version, logger);
  const { tracer } = tracing;
  const { pool, signatures, trusted } = startPool(config, options.redisUrl, { ...dependencies, tracer });
  const tvm = createTvm({ workerUrl: tvmWorkerUrl }, { register, logger, now: () => performance.now() });
  const live = createLive(config, { pool, signatures, tvm });
  const v2 = around(createV2({ release: releaseOf(version), ...config.api.v2 }, live), options.around);
  const headSeqno = (): number | undefined => pool.head()?.block.seqno;
  const http = createHttpServer(httpOptions(config, options), {
    v2,
    limits,
    logger,
    tracer,
    register,
    clock,
    headSeqno,
    ...(options.posts !== undefined && { posts: options.posts }),
  });
  const readiness = (): Readiness => readinessOf(pool, http.status());
  const status = createStatus(config, version, {
    further: options.status ?? (() => ({})),
    pool,
    trusted,
    readiness,
    http: () => http.status(),
    configHash: () => reload.hash,
    keyring: () => ({ keys: keyring.size, sha256: keyring.sha256 }),
  });
  const internal = createInternalServer(
    { host: options.internalHost ?? config.listen.host, port: config.listen.internalPort },
    {
      register,
      readiness,
      status,
      statusPage: () => ({
        contentType: 'text/html; charset=utf-8',
        body: renderStatus(status(), performance.now()),
        contentSecurityPolicy: statusPagePolicy,
      }),
      pages: options.pages ?? new Map(),
      posts: options.internalPosts ?? new Map(),
    },
  );
  const parts = { limits, shared, pool, http, tracing };
  const reload = followConfiguration(config, options, parts, dependencies);
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

const clock = { nowMs: () => performance.now(), unixMs: Date.now };

function around(v2: V2, change: ApiOptions['around']): V2 {
  if (change === undefined) return v2;
  const operations = v2.operations.map(change);
  const byName = new Map(operations.flatMap((one) => [one.name, ...one.aliases].map((name) => [name, one] as const)));
  return { ...v2, operations, find: (name) => byName.get(name) };
}

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
export function startPool(
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
      shared:
        redisUrl === undefined || isClusterUrl(redisUrl)
          ? undefined
          : {
              connect: () => connectRedis({ url: redisUrl, retryMs: () => 100 + Math.random() * 200 }),
              api: config.name,
            },
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
