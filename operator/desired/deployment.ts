import { annotationOf, annotations as personal, type TonApi } from '../resource.ts';
import { readDurationMs, hotFields } from '../service-config.ts';
import { autoscaled } from './autoscaler.ts';
import { canonicalJson, contentHash } from './canonical.ts';
import { child } from './child.ts';
import { shardCount } from './keyring.ts';
import {
  configMounts,
  joined,
  keyringMounts,
  postgresMounts,
  redisMounts,
  scratchMounts,
  tracingMounts,
  shardCapacity,
} from './mounts.ts';
import { childAnnotations, childLabels, childNames, selectorLabels, trafficLabel, type Component } from './names.ts';
import { indexNodeOptions, podSpec, versionOf } from './pod.ts';
import { podAnnotations, podLabels, withPodTemplate } from './pod-template.ts';
import type { DesiredObject, References, Release } from './references.ts';
import { containerResources } from './resources.ts';

/**
 * Raise with every change of the template that this code makes from the same manifest. A new number makes the operator roll out pods, TonApi by
 * TonApi.
 */
export const TEMPLATE_REVISION = 8;

/** Ports of the service in a pod: callers, and probes with metrics. */
export const ports = { http: 8081, internal: 8082 } as const;
export const metricsContainerPort = { name: 'metrics', containerPort: ports.internal } as const;

/** The endpoints of a pod that ends are taken out everywhere in this time; until then it still serves. */
const ENDPOINTS_SECONDS = 5;

/** Between the last request and the end of the process. */
const CLOSE_SECONDS = 5;

const DEFAULT_DRAIN_SECONDS = 20;
const defaultRequests = { cpu: '250m', memory: '256Mi' } as const;
/**
 * Memory of a v3 pod: 120 MiB for 4,000 rows in progress, 136 MiB of caches, 130 MiB awaiting garbage collection.
 * The larger young generation comes on top.
 */
const indexRequests = { ...defaultRequests, memory: '1Gi' } as const;

/** Builds the Deployment of the API (operator/README.md#children). A rollout that waits leaves the live template. */
export function buildApiDeployment(tonApi: TonApi, references: References, release: Release): DesiredObject {
  const replicas = autoscaled(tonApi, references, release) ? undefined : fixedReplicas(tonApi);
  return deployment(tonApi, release, {
    component: 'api',
    name: childNames(tonApi).api,
    replicas,
    template: references.rollout.held?.api ?? apiTemplate(tonApi, references, release, 'api'),
  });
}

/** Builds the canary with the new template (operator/README.md#rollouts); undefined without a canary. */
export function buildCanaryDeployment(
  tonApi: TonApi,
  references: References,
  release: Release,
): DesiredObject | undefined {
  const { canary } = references.rollout;
  if (canary === undefined) return undefined;
  return deployment(tonApi, release, {
    component: 'api-canary',
    name: childNames(tonApi).canary,
    replicas: canary.replicas,
    annotations: { [childAnnotations.canary]: canonicalJson(canary.state) },
    template: apiTemplate(tonApi, references, release, 'api-canary'),
  });
}

/** Pods where no autoscaler counts them: none in hibernation, else `replicas`, or the fewest that the absent one may have. */
export function fixedReplicas(tonApi: TonApi): number {
  const { autoscaling, replicas } = tonApi.spec;
  return awakeReplicas(tonApi, autoscaling?.minReplicas ?? replicas);
}

/** Pods of a workload: none while the TonApi hibernates. */
export function awakeReplicas({ spec }: TonApi, replicas: number): number {
  return spec.hibernate ? 0 : replicas;
}

/**
 * Fields of `spec` that are hot, affect only the number of pods and their exposure, or belong to another workload. Any other field restarts the pods.
 * A hot field with a dot in its path lies in a field that `coldHash` takes apart.
 */
const warmFields: ReadonlySet<string> = new Set([
  ...hotFields.filter((path) => !path.includes('.')),
  'replicas',
  'hibernate',
  'autoscaling',
  'exposure',
  'service',
  'keys',
  'networkPolicy',
  'metadata',
  'ignoreDifferences',
  'indexer',
]);

/** Fields of `streaming` that are not hot; undefined for none. */
function coldStreaming(streaming: TonApi['spec']['streaming']): object | undefined {
  const hot: readonly string[] = hotFields;
  const cold = Object.entries(streaming ?? {}).filter(([name]) => !hot.includes(`streaming.${name}`));
  return cold.length === 0 ? undefined : Object.fromEntries(cold);
}

/**
 * Hash of the parts of the template that a person can change. A new operator or release alone does not change it.
 * Unknown fields count: an unneeded restart is better than a setting that never takes effect.
 */
export function coldHash(tonApi: TonApi, references: Pick<References, 'keyring' | 'keyringShardsSettled'>): string {
  const { rateLimits, observability, rollout, liteServerConfigRef, tokenMetadata, streaming, ...rest } = tonApi.spec;
  return contentHash({
    ...Object.fromEntries(Object.entries(rest).filter(([name]) => !warmFields.has(name))),
    // The API queues what is to be fetched, however that is done.
    tokenMetadata: tokenMetadata && true,
    redis: rateLimits.redis,
    streaming: coldStreaming(streaming),
    drainSeconds: rollout?.drainSeconds,
    tracingEndpoint: observability?.tracing?.endpoint,
    tracingCa: observability?.tracing?.caBundle,
    liteServerSecret: liteServerConfigRef?.kind === 'Secret' ? liteServerConfigRef : undefined,
    keyringShards: shardCapacity(shardCount(references)),
    restart: annotationOf(tonApi, 'restart'),
  });
}

type DeploymentParts = {
  readonly component: Component;
  readonly name: string;
  readonly replicas: number | undefined;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly template: Readonly<Record<string, unknown>>;
};

function deployment(tonApi: TonApi, release: Release, parts: DeploymentParts): DesiredObject {
  const { component, name, replicas, annotations, template } = parts;
  return child(tonApi, versionOf(tonApi, release), {
    stage: 'api',
    component,
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    name,
    annotations: { ...annotations, ...(replicas !== undefined && { [childAnnotations.appliedReplicas]: 'true' }) },
    body: {
      spec: {
        ...(replicas !== undefined && { replicas }),
        selector: { matchLabels: selectorLabels(tonApi, component) },
        strategy: { type: 'RollingUpdate', rollingUpdate: replacement(tonApi) },
        minReadySeconds: 5,
        progressDeadlineSeconds: 600,
        revisionHistoryLimit: 5,
        template,
      },
    },
  });
}

/** Pods that may be missing or on top while pods are replaced. */
export function replacement({ spec }: TonApi): Record<string, number | string> {
  const { maxUnavailable = 0, maxSurge = '25%' } = spec.rollout ?? {};
  return { maxUnavailable, maxSurge };
}

function apiTemplate(
  tonApi: TonApi,
  references: References,
  release: Release,
  component: 'api' | 'api-canary',
): Record<string, unknown> {
  const { spec } = tonApi;
  const drainSeconds = spec.rollout?.drainSeconds ?? DEFAULT_DRAIN_SECONDS;
  const requestSeconds = Math.ceil(readDurationMs(spec.requestTimeout) / 1000);
  const restart = annotationOf(tonApi, 'restart');
  const labels = childLabels(tonApi, component, versionOf(tonApi, release));
  const selector = selectorLabels(tonApi, component);
  const readsIndex = readsDatabase(tonApi, release);
  return {
    metadata: {
      labels: { ...podLabels(tonApi), ...labels, [trafficLabel]: 'api' },
      annotations: {
        ...podAnnotations(tonApi),
        [childAnnotations.coldHash]: coldHash(tonApi, references),
        [childAnnotations.templateRevision]: String(TEMPLATE_REVISION),
        ...(restart !== undefined && { [personal.restart]: restart }),
      },
    },
    spec: withPodTemplate(tonApi, 'api', {
      ...podSpec(tonApi, release, {
        container: 'api',
        args: ['api', '--host', '0.0.0.0', '--port', String(ports.http), '--internal-port', String(ports.internal)],
        mounts: joined([
          configMounts(tonApi),
          keyringMounts(tonApi, shardCount(references)),
          redisMounts(tonApi),
          readsIndex ? postgresMounts(tonApi, true) : joined([]),
          tracingMounts(tonApi),
          scratchMounts(),
        ]),
        resources: containerResources(spec.resources, readsIndex ? indexRequests : defaultRequests),
        nodeOptions: readsIndex ? indexNodeOptions : undefined,
        ports: [{ name: 'http', containerPort: ports.http }, metricsContainerPort],
        extra: { ...probes, lifecycle: { preStop: { sleep: { seconds: ENDPOINTS_SECONDS } } } },
      }),
      terminationGracePeriodSeconds: ENDPOINTS_SECONDS + drainSeconds + requestSeconds + CLOSE_SECONDS,
      topologySpreadConstraints: ['topology.kubernetes.io/zone', 'kubernetes.io/hostname'].map((topologyKey) => ({
        maxSkew: 1,
        topologyKey,
        whenUnsatisfiable: 'ScheduleAnyway',
        labelSelector: { matchLabels: selector },
      })),
    }),
  };
}

/** v3 is read from the database; a release that has none serves the other surfaces. */
function readsDatabase({ spec }: TonApi, { schemaVersion }: Release): boolean {
  return spec.surfaces.includes('v3') && schemaVersion !== undefined;
}

/** A probe of one page of the internal listener. */
function probe(path: string, periodSeconds: number, failureThreshold: number): Record<string, unknown> {
  return { httpGet: { path, port: 'metrics' }, periodSeconds, timeoutSeconds: 2, failureThreshold };
}

/**
 * Startup: two minutes for handshakes with slow lite servers. Readiness: out of the endpoints within 10 s.
 * Liveness checks only that the event loop runs: a restart heals no fault outside of the process.
 */
export const probes = {
  startupProbe: probe('/livez', 2, 60),
  readinessProbe: probe('/readyz', 5, 2),
  livenessProbe: probe('/livez', 10, 3),
} as const;
