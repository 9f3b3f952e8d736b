import { randomBytes } from 'node:crypto';

import type { Tracer } from '@opentelemetry/api';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';

import { ports } from './desired/deployment.ts';
import { childNames } from './desired/names.ts';
import type { KubernetesClient } from './kubernetes/client.ts';
import type { Clock } from './kubernetes/clock.ts';
import type { Discovery } from './kubernetes/discovery.ts';
import { createEventRecorder } from './kubernetes/event-recorder.ts';
import { createQueueMetrics, createWatchMetrics } from './kubernetes/metrics.ts';
import { keyOf, splitKey, type ObjectKey } from './kubernetes/object.ts';
import { createQueue, type Queue } from './kubernetes/queue.ts';
import type { OptionalKind } from './kubernetes/resources.ts';
import type { OperatorOptions } from './options.ts';
import { createCanaryWatch } from './reconcile/canary-watch.ts';
import { createCaches, type Caches } from './reconcile/caches.ts';
import { createConsent } from './reconcile/consent.ts';
import { createDriftLog } from './reconcile/drift-log.ts';
import { createReconcileMetrics } from './reconcile/metrics.ts';
import { createPodRefresh } from './reconcile/pod-refresh.ts';
import { createMountFailures } from './reconcile/mount-failures.ts';
import { createPodReports, type PodFetch } from './reconcile/pod-reports.ts';
import { createTimeToReady } from './reconcile/time-to-ready.ts';
import { createReferencedTexts } from './reconcile/references.ts';
import { createRevocations } from './reconcile/revocations.ts';
import { isReplacing } from './reconcile/rollout.ts';
import { createRolloutQueue } from './reconcile/rollout-queue.ts';
import { createKeyrings } from './reconcile/keyrings.ts';
import { createTonApiReconciler } from './reconcile/tonapi.ts';
import { createTonApiKeyReconciler } from './reconcile/tonapikey.ts';
import { createWriter } from './reconcile/writer.ts';
import { releaseOf } from './release.ts';
import type { TonApi } from './resource.ts';

/** Both controllers and their caches. Caches are warm from the start; controllers begin to work on request. */
export type Controllers = {
  readonly caches: Caches;
  start(): void;
  /** The cluster serves other optional APIs than before. */
  setServed(served: ReadonlySet<OptionalKind>): void;
  /** Takes no more keys, waits for the running ones. */
  stop(): Promise<void>;
};

type ControllersDependencies = {
  readonly client: KubernetesClient;
  readonly served: Discovery['served'];
  readonly fetchPage: PodFetch;
  readonly build: { readonly version: string; readonly commit: string };
  readonly register: Registry;
  readonly logger: Logger;
  readonly tracer: Tracer;
  readonly clock: Clock;
  readonly random: () => number;
};

type Process = Parameters<typeof createQueue>[1]['process'];

/** Limit of one reconcile of a resource, all its requests included. */
const WORK_TIMEOUT_MS = 60_000;

/**
 * Interval of a reconcile without events; it also asks the pods for lite servers and versions.
 * At this interval a thousand TonApis take half of the CPU budget at rest (operator/README.md#targets).
 */
const TON_API_LOOK_MS = 300_000;
const TON_API_KEY_LOOK_MS = 1_800_000;

/** Interval of looking whether a namespace that the API server refuses is readable again. */
const FORBIDDEN_LOOK_MS = 30_000;

/** Limit of everything that runs at the end of the process. */
const CLOSE_GRACE_MS = 20_000;

/** Wires the controllers in the order that a change flows: caches, queues, reconcilers, writes. */
export function createControllers(options: OperatorOptions, dependencies: ControllersDependencies): Controllers {
  const { client, served, clock, random, logger, register, tracer, fetchPage } = dependencies;
  const metrics = createReconcileMetrics(register, dependencies.build, { rolloutsWaiting: () => rollouts.waiting() });
  const queueMetrics = createQueueMetrics(register);
  const release = releaseOf(options, dependencies.build.version);

  const caches = createCaches(
    { namespaces: options.namespaces, served: served() },
    {
      client,
      clock,
      random,
      logger,
      metrics: createWatchMetrics(register),
      onTonApi: (key, initial) => tonApis.add(key, initial ? 'initial' : 'live'),
      onTonApiKey: (key, initial) => tonApiKeys.add(key, initial ? 'initial' : 'live'),
    },
  );
  const writer = createWriter({ client, caches, metrics });
  const events = createEventRecorder({ client, clock, logger, instance: options.identity });
  const consent = createConsent({ client, clock });
  const keyrings = createKeyrings({ caches });
  const rollouts = createRolloutQueue(options.rollouts, {
    clock,
    replacing: () => caches.tonApis().filter(isReplacingPods).map(keyOf),
    onTurn: (key) => tonApis.add(key, 'live'),
  });
  const readyTimes = createTimeToReady({ clock, metrics });
  const shared = { readyTimes, client, caches, consent, keyrings, writer, events, metrics, clock, tracer };

  function isReplacingPods(tonApi: TonApi): boolean {
    const deployment = caches.child('Deployment', `${tonApi.metadata.namespace}/${childNames(tonApi).api}`);
    return deployment !== undefined && isReplacing(deployment);
  }

  /** Nothing is decided in a namespace whose objects are unknown. */
  const inKnownNamespace =
    (process: Process): Process =>
    async (key, work) =>
      caches.isUnknown(splitKey(key).namespace)
        ? { type: 'done', requeueAfterMs: FORBIDDEN_LOOK_MS }
        : process(key, work);

  const queueOf = (name: string, lookMs: number, process: Process): Queue =>
    createQueue(
      { name, concurrency: options.concurrency, workTimeoutMs: WORK_TIMEOUT_MS, lookMs },
      { process: inKnownNamespace(process), clock, random, logger, metrics: queueMetrics },
    );
  const tonApis = queueOf(
    'tonapi',
    TON_API_LOOK_MS,
    createTonApiReconciler({
      ...shared,
      release,
      upgradePolicy: options.rollouts.upgradePolicy,
      served,
      texts: createReferencedTexts({ client }),
      reports: createPodReports({ port: ports.internal }, { fetchPage }),
      mounts: createMountFailures({ client, clock }),
      rollouts,
      canaries: createCanaryWatch({ port: ports.internal }, { fetchPage, clock }),
      nudge: createPodRefresh({ enabled: options.nudgePods }, { writer, logger }),
      drift: createDriftLog({ now: clock.now }),
      onKeyringAcknowledged: (tonApi) => addKeysOf(keyOf(tonApi)),
    }),
  );
  const tonApiKeys = queueOf(
    'tonapikey',
    TON_API_KEY_LOOK_MS,
    createTonApiKeyReconciler({ ...shared, revocations: createRevocations({ client, logger }), randomBytes }),
  );
  const addKeysOf = (tonApi: ObjectKey): void => {
    for (const tonApiKey of caches.tonApiKeysOf(tonApi)) tonApiKeys.add(keyOf(tonApiKey), 'live');
  };

  return {
    caches,
    start() {
      tonApis.start();
      tonApiKeys.start();
    },
    setServed(now) {
      caches.setServed(now);
      for (const tonApi of caches.tonApis()) tonApis.add(keyOf(tonApi), 'live');
    },
    async stop() {
      await Promise.all([tonApis.close(CLOSE_GRACE_MS), tonApiKeys.close(CLOSE_GRACE_MS)]);
    },
  };
}
