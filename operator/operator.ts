import type { Registry } from 'prom-client';
import type { Logger } from 'pino';

import { createTracing } from '../service/telemetry/tracer.ts';
import { followAuthorities } from './collector-authorities.ts';
import { createControllers, type Controllers } from './controllers.ts';
import { createHttpPages, probePage, type Page, type PageRequest, type HttpPages } from './http-pages.ts';
import { createClient } from './kubernetes/client.ts';
import { systemClock, type Clock } from './kubernetes/clock.ts';
import { createCredentials } from './kubernetes/credentials.ts';
import { createDiscovery } from './kubernetes/discovery.ts';
import { createElector, type Elector } from './kubernetes/elector.ts';
import { createClientMetrics, createLeadingGauge } from './kubernetes/metrics.ts';
import { createMetricsAccess, type Access, type MetricsAccess } from './metrics-access.ts';
import type { OperatorOptions } from './options.ts';
import { fetchFromPod } from './pod-fetch.ts';
import { createTlsFiles } from './tls-files.ts';
import { createTraceRule } from './trace-rule.ts';
import type { PodFetch } from './reconcile/pod-reports.ts';

/** The operator, running. */
export type Operator = {
  readonly metricsPort: number;
  readonly healthPort: number;
  /** Resolves when this process led and lost the Lease: it must end, because it may not write any more. */
  readonly lost: Promise<void>;
  isLeading(): boolean;
  /** Takes no more keys, finishes the running ones, gives the Lease up, ends. */
  close(): Promise<void>;
};

type OperatorDependencies = {
  readonly version: string;
  readonly commit: string;
  readonly logger: Logger;
  readonly register: Registry;
  /** How pods are asked; default: at their address. */
  readonly fetchPage?: PodFetch;
};

/** Wires the operator from the API server on, and acts once it leads; standbys are as warm as the leader. */
export async function startOperator(options: OperatorOptions, dependencies: OperatorDependencies): Promise<Operator> {
  const { logger, register, version, commit } = dependencies;
  const clock = systemClock;
  const resource = { 'service.name': 'ton-operator', 'service.version': version };
  const keep = createTraceRule(Math.random);
  const tracing = await createTracing({ tracing: options.tracing, resource, keep }, { logger });
  const { tracer } = tracing;
  const endAuthorities =
    options.tracing?.caFile === undefined
      ? undefined
      : followAuthorities(options.tracing.caFile, {
          clock,
          onChange: (pem) => tracing.setAuthorities(pem),
          onFailure: (error) => logger.warn({ error }, 'the authorities of the collector cannot be read'),
        });
  const credentials = await createCredentials(options, { now: clock.now });
  let elector: Elector | undefined;
  const way = { credentials, metrics: createClientMetrics(register), tracer, now: clock.now };
  const client = createClient({ ...way, mayWrite: () => elector?.isLeading() === true });
  let controllers: Controllers | undefined;
  const discovery = await createDiscovery({
    client,
    clock,
    logger,
    ignoredGroups: options.ignoredApis,
    onChange: (served) => controllers?.setServed(served),
  });
  const parts = createControllers(options, {
    client,
    served: discovery.served,
    fetchPage: dependencies.fetchPage ?? fetchFromPod,
    build: { version, commit },
    register,
    logger,
    tracer,
    clock,
    random: Math.random,
  });
  controllers = parts;
  const namespace = options.namespace ?? credentials.namespace ?? 'default';
  // This client bypasses the leader check: for the election, and for requests that each process makes for itself.
  const reviewer = createClient(way);
  const leads = createElector(
    { namespace, name: options.leaseName, identity: options.identity },
    { client: reviewer, clock, random: Math.random, logger, leading: createLeadingGauge(register) },
  );
  elector = leads;
  const onFailure = (error: unknown): void => logger.warn({ error }, 'the caller of /metrics could not be identified');
  const access = options.metricsAuthorize
    ? createMetricsAccess({ client: reviewer, now: clock.now, onFailure })
    : undefined;
  const { metrics, health } = pagesOf(options, { register, parts, access, clock, logger });
  void startWhenReady(leads, parts);
  return {
    metricsPort: await metrics.listen(),
    healthPort: await health.listen(),
    lost: leads.lost,
    isLeading: () => leads.isLeading(),
    async close() {
      endAuthorities?.();
      await parts.stop();
      await leads.close();
      await Promise.all([parts.caches.close(), discovery.close()]);
      await Promise.all([metrics.close(), health.close(), tracing.close()]);
      await credentials.close();
    },
  };
}

async function startWhenReady(elector: Elector, controllers: Controllers): Promise<void> {
  await Promise.all([elector.elected, controllers.caches.synced]);
  controllers.start();
}

type PageParts = {
  readonly register: Registry;
  readonly parts: Controllers;
  /** Undefined: anybody may read the metrics. */
  readonly access: MetricsAccess | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
};

function pagesOf(
  { host, metricsPort, healthPort, metricsTlsFolder }: OperatorOptions,
  { register, parts: { caches }, access, clock, logger }: PageParts,
): { readonly metrics: HttpPages; readonly health: HttpPages } {
  const notReady = (): string[] => [
    ...(caches.hasSynced() ? [] : ['caches are being filled']),
    ...(caches.forbidden() ? ['the API server refuses a watch'] : []),
  ];
  const exposition = async ({ authorization }: PageRequest): Promise<Page> => {
    const allowed = access === undefined ? 'allowed' : await access.check(authorization);
    if (allowed !== 'allowed') return refusals[allowed];
    return { status: 200, contentType: register.contentType, body: await register.metrics() };
  };
  const onFailure = (error: unknown): void =>
    logger.warn({ error }, 'the new certificate of /metrics cannot be read: the one before it stays');
  const tls = metricsTlsFolder === undefined ? undefined : createTlsFiles(metricsTlsFolder, { clock, onFailure });
  return {
    metrics: createHttpPages({ host, port: metricsPort, tls }, { pages: { '/metrics': exposition } }),
    health: createHttpPages(
      { host, port: healthPort },
      { pages: { '/livez': () => probePage([]), '/readyz': () => probePage(notReady()) } },
    ),
  };
}

const contentType = 'text/plain';
const refusals: Readonly<Record<Exclude<Access, 'allowed'>, Page>> = {
  unauthenticated: { status: 401, contentType, body: 'Unauthorized' },
  forbidden: { status: 403, contentType, body: 'Forbidden' },
  unknown: { status: 503, contentType, body: 'the API server cannot be asked' },
};
