import { Agent, request } from 'undici';
import { Gauge, type Registry } from 'prom-client';
import type { Logger } from 'pino';

import { createTracing } from '../service/telemetry/tracer.ts';
import { ports } from './desired/deployment.ts';
import type { Release } from './desired/references.ts';
import { createPages, probePage } from './health.ts';
import { createClient } from './kubernetes/client.ts';
import { systemClock } from './kubernetes/clock.ts';
import { createCredentials } from './kubernetes/credentials.ts';
import { createDiscovery } from './kubernetes/discovery.ts';
import { createElector, type Elector } from './kubernetes/elector.ts';
import { createEvents } from './kubernetes/events.ts';
import { createClientMetrics, createQueueMetrics, createWatchMetrics } from './kubernetes/metrics.ts';
import { keyOf } from './kubernetes/object.ts';
import { createQueue } from './kubernetes/queue.ts';
import type { OperatorOptions } from './options.ts';
import { createCanaryWatch } from './reconcile/canary-watch.ts';
import { createCaches } from './reconcile/caches.ts';
import { createDriftLog } from './reconcile/drift-log.ts';
import { createReconcileMetrics } from './reconcile/metrics.ts';
import { createPodNudge } from './reconcile/pod-nudge.ts';
import { createPodReports, pageBytesMax, type PodFetch } from './reconcile/pod-reports.ts';
import { createReferencedTexts } from './reconcile/references.ts';
import { createRolloutQueue } from './reconcile/rollout-queue.ts';
import { createTonApiReconciler } from './reconcile/tonapi.ts';
import { createWriter } from './reconcile/writer.ts';

/** The operator, running. */
export type Operator = {
  readonly metricsPort: number;
  readonly healthPort: number;
  /** Resolves when this process led and lost the Lease: it must end, as it may not write any more. */
  readonly lost: Promise<void>;
  isLeading(): boolean;
  /** Takes no more keys, finishes the running ones, gives the Lease up, ends. */
  close(): Promise<void>;
};

export type OperatorDependencies = {
  readonly version: string;
  readonly commit: string;
  readonly logger: Logger;
  readonly register: Registry;
  /** How pods are asked; default: at their address. */
  readonly fetchPage?: PodFetch;
};

/** One look at a resource, all its requests included. */
const workTimeoutMs = 60_000;

/** What runs at the end may finish within this. */
const closeGraceMs = 20_000;

const leaseName = 'ton-operator';

/** Wires the operator in the order that a change flows: API server, caches, queues, reconcilers, writes; it acts once it leads. */
export async function startOperator(options: OperatorOptions, dependencies: OperatorDependencies): Promise<Operator> {
  const { logger, register, version } = dependencies;
  const clock = systemClock;
  const random = Math.random;
  const tracing = await createTracing(
    { tracing: options.tracing, resource: { 'service.name': 'ton-operator', 'service.version': version } },
    { logger },
  );
  const { tracer } = tracing;
  const credentials = await createCredentials(options, { now: clock.now });
  let elector: Elector | undefined;
  const shared = { credentials, metrics: createClientMetrics(register), tracer, now: clock.now };
  const leases = createClient(shared);
  const client = createClient({ ...shared, mayWrite: () => elector?.isLeading() === true });
  const reconcileMetrics = createReconcileMetrics(
    register,
    { version, commit: dependencies.commit },
    {
      rolloutsWaiting: () => rollouts.waiting(),
    },
  );
  const rollouts = createRolloutQueue(options.rollouts, { clock, onTurn: (key) => tonApis.add(key, 'live') });

  const discovery = await createDiscovery({
    client,
    clock,
    logger,
    onChange(served) {
      caches.setServed(served);
      for (const tonApi of caches.tonApis()) tonApis.add(keyOf(tonApi), 'live');
    },
  });
  const caches = createCaches(
    { namespaces: options.namespaces, served: discovery.served() },
    {
      client,
      clock,
      random,
      logger,
      metrics: createWatchMetrics(register),
      onTonApi: (key, initial) => tonApis.add(key, initial ? 'initial' : 'live'),
      onTonApiKey: () => {},
    },
  );
  const writer = createWriter({ client, caches, metrics: reconcileMetrics });
  const events = createEvents({ client, clock, logger, instance: options.identity });
  const queueMetrics = createQueueMetrics(register);
  const fetchPage = dependencies.fetchPage ?? fetchFromPod;
  const reconcileTonApi = createTonApiReconciler({
    release: releaseOf(options, version),
    upgradePolicy: options.rollouts.upgradePolicy,
    client,
    caches,
    served: discovery.served,
    texts: createReferencedTexts({ client }),
    writer,
    events,
    reports: createPodReports({ port: ports.internal }, { fetchPage }),
    keyring: () => [],
    rollouts,
    canaries: createCanaryWatch({ port: ports.internal }, { fetchPage, clock }),
    nudge: createPodNudge({ enabled: options.nudgePods }, { writer, logger }),
    drift: createDriftLog({ now: clock.now }),
    metrics: reconcileMetrics,
    clock,
    logger,
    tracer,
  });
  const tonApis = createQueue(
    { name: 'tonapi', concurrency: options.concurrency, workTimeoutMs },
    { process: reconcileTonApi, clock, random, logger, metrics: queueMetrics },
  );
  elector = createElector(
    { namespace: options.namespace ?? credentials.namespace ?? 'default', name: leaseName, identity: options.identity },
    { client: leases, clock, random, logger, leading: leadingGauge(register) },
  );
  const notReady = (): string[] => [
    ...(caches.hasSynced() ? [] : ['caches are being filled']),
    ...(caches.forbidden() ? ['the API server refuses a watch'] : []),
  ];
  const metricsPages = createPages(
    { host: options.host, port: options.metricsPort },
    {
      pages: {
        '/metrics': async () => ({ status: 200, contentType: register.contentType, body: await register.metrics() }),
      },
    },
  );
  const healthPages = createPages(
    { host: options.host, port: options.healthPort },
    { pages: { '/livez': () => probePage([]), '/readyz': () => probePage(notReady()) } },
  );
  const begin = async (leads: Elector): Promise<void> => {
    await Promise.all([leads.elected, caches.synced]);
    tonApis.start();
  };
  void begin(elector);
  const leads = elector;
  return {
    metricsPort: await metricsPages.listen(),
    healthPort: await healthPages.listen(),
    lost: leads.lost,
    isLeading: () => leads.isLeading(),
    async close() {
      await tonApis.close(closeGraceMs);
      await leads.close();
      await Promise.all([caches.close(), discovery.close()]);
      await Promise.all([metricsPages.close(), healthPages.close(), tracing.close()]);
      await credentials.close();
    },
  };
}

function releaseOf(options: OperatorOptions, version: string): Release {
  const { redisImage, prometheusUrl, monitoringNamespace, runbookUrl, namespace } = options;
  return {
    version,
    image: options.image ?? `tonplane/service:${version}`,
    redisImage,
    prometheusUrl,
    monitoringNamespace,
    runbookUrl,
    operatorNamespace: namespace,
  };
}

function leadingGauge(register: Registry): Gauge<'name'> {
  return new Gauge({
    name: 'leader_election_master_status',
    help: '1 while this process leads and may write',
    labelNames: ['name'],
    registers: [register],
  });
}

/** Connections to pods are not kept: each is asked once a minute. */
const podAgent = new Agent({ keepAliveTimeout: 1, connections: 1 });

const fetchFromPod: PodFetch = async (address, port, path, signal) => {
  const host = address.includes(':') ? `[${address}]` : address;
  const { body, statusCode } = await request(`http://${host}:${port}${path}`, {
    dispatcher: podAgent,
    signal,
  });
  let text = '';
  for await (const chunk of body.setEncoding('utf8') as AsyncIterable<string>) {
    text += chunk;
    if (text.length > pageBytesMax) throw new RangeError(`${path} of ${address} is longer than ${pageBytesMax}`);
  }
  if (statusCode !== 200) throw new Error(`${path} of ${address}: ${statusCode}`);
  return text;
};
