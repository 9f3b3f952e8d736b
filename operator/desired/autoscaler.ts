import type { TonApi } from '../resource.ts';
import { readDurationMs } from '../service-config.ts';
import { child } from './child.ts';
import { childNames } from './names.ts';
import type { DesiredObject, References, Release } from './references.ts';

type Autoscaling = NonNullable<TonApi['spec']['autoscaling']>;

/** Kind of KEDA's autoscaler. */
export const scaledObjectKind = 'ScaledObject';

type Cluster = Pick<References, 'served'>;

/** True when an autoscaler sets the number of pods, so that `replicas` is not ours. False in hibernation, and while a requested KEDA cannot scale. */
export function autoscaled(tonApi: TonApi, { served }: Cluster, release: Release): boolean {
  const { autoscaling, hibernate } = tonApi.spec;
  if (autoscaling === undefined || hibernate) return false;
  return (
    autoscaling.provider === 'HPA' ||
    (served.has(scaledObjectKind) && triggers(tonApi, autoscaling, release).length > 0)
  );
}

/** Reason why the wanted autoscaling cannot work in this cluster or installation; undefined when there is none. */
export function autoscalingProblem(
  { spec }: TonApi,
  { served }: Cluster,
  { prometheusUrl }: Release,
): { readonly reason: string; readonly message: string } | undefined {
  const { autoscaling } = spec;
  if (autoscaling?.provider !== 'KEDA') return undefined;
  if (!served.has(scaledObjectKind)) {
    const message =
      'the cluster has no KEDA (keda.sh/v1alpha1), so minReplicas pods run: install it, or set provider HPA';
    return { reason: 'ApiNotServed', message };
  }
  const asked = countsOf(autoscaling);
  if (asked.length === 0 || prometheusUrl !== undefined) return undefined;
  const rest = autoscaling.targetCPUUtilization === undefined ? 'minReplicas pods run' : 'only the CPU scales';
  const fields = asked.map(({ field }) => field).join(', ');
  const message = `the operator knows no Prometheus for ${fields}, so ${rest}: set operator.prometheusUrl of its chart`;
  return { reason: 'PrometheusUrlMissing', message };
}

/** The API that serves what a HorizontalPodAutoscaler of the TonApi scales by, and who brings it. */
export function metricsApis({ spec }: TonApi): readonly { readonly group: string; readonly from: string }[] {
  const { autoscaling } = spec;
  if (autoscaling?.provider !== 'HPA') return [];
  return [
    ...(autoscaling.targetCPUUtilization === undefined ? [] : [{ group: 'metrics.k8s.io', from: 'metrics-server' }]),
    ...(countsOf(autoscaling).length === 0
      ? []
      : [{ group: 'custom.metrics.k8s.io', from: 'prometheus-adapter with the rule that the chart tonplane brings' }]),
  ];
}

/** An HPA or a ScaledObject, never both: KEDA makes an HPA of its own. */
export function buildAutoscaler(tonApi: TonApi, references: References, release: Release): DesiredObject | undefined {
  const { autoscaling } = tonApi.spec;
  if (autoscaling === undefined || !autoscaled(tonApi, references, release)) return undefined;
  return autoscaling.provider === 'HPA'
    ? horizontalPodAutoscaler(tonApi, autoscaling, release)
    : scaledObject(tonApi, autoscaling, release);
}

function horizontalPodAutoscaler(tonApi: TonApi, autoscaling: Autoscaling, release: Release): DesiredObject {
  const { minReplicas, maxReplicas, targetCPUUtilization } = autoscaling;
  return child(tonApi, release.version, {
    stage: 'api',
    component: 'api',
    apiVersion: 'autoscaling/v2',
    kind: 'HorizontalPodAutoscaler',
    name: childNames(tonApi).api,
    body: {
      spec: {
        scaleTargetRef: target(tonApi),
        minReplicas,
        maxReplicas,
        metrics: [
          ...(targetCPUUtilization === undefined ? [] : [cpuMetric(targetCPUUtilization)]),
          ...countsOf(autoscaling).map(podMetric),
        ],
        behavior: behavior(autoscaling),
      },
    },
  });
}

function cpuMetric(averageUtilization: number): Record<string, unknown> {
  return {
    type: 'ContainerResource',
    containerResource: { name: 'cpu', container: 'api', target: { type: 'Utilization', averageUtilization } },
  };
}

/** Load of a pod that Prometheus counts, with its target. */
type Count = {
  readonly field: string;
  /** Name by which an adapter of custom metrics serves the load of a pod. */
  readonly metric: string;
  /** Load of the chosen pods as PromQL. */
  readonly sum: (pods: string) => string;
  readonly target: number;
};

/** Counted loads by which a TonApi scales. */
function countsOf({ targetRequestsPerSecond, targetStreamConnections }: Autoscaling): readonly Count[] {
  const requests = {
    field: 'targetRequestsPerSecond',
    metric: 'ton_requests_per_second',
    sum: (pods: string) => `sum(rate(ton_http_requests_total{${pods}}[1m]))`,
  };
  const streams = {
    field: 'targetStreamConnections',
    metric: 'ton_stream_connections',
    sum: (pods: string) => `sum(ton_streaming_connections{${pods}})`,
  };
  return [
    ...(targetRequestsPerSecond === undefined ? [] : [{ ...requests, target: targetRequestsPerSecond }]),
    ...(targetStreamConnections === undefined ? [] : [{ ...streams, target: targetStreamConnections }]),
  ];
}

function podMetric({ metric, target: average }: Count): Record<string, unknown> {
  return {
    type: 'Pods',
    pods: { metric: { name: metric }, target: { type: 'AverageValue', averageValue: String(average) } },
  };
}

/** Up at once, by doubling or by four; down by a tenth a minute after a quiet time. */
function behavior({ scaleDownStabilization }: Autoscaling): Record<string, unknown> {
  const seconds = Math.round(readDurationMs(scaleDownStabilization) / 1000);
  return {
    scaleUp: {
      stabilizationWindowSeconds: 0,
      selectPolicy: 'Max',
      policies: [
        { type: 'Percent', value: 100, periodSeconds: 15 },
        { type: 'Pods', value: 4, periodSeconds: 15 },
      ],
    },
    scaleDown: {
      stabilizationWindowSeconds: Math.min(seconds, STABILIZATION_SECONDS_MAX),
      selectPolicy: 'Max',
      policies: [{ type: 'Percent', value: 10, periodSeconds: 60 }],
    },
  };
}

/** Maximum that the API server accepts: an hour. */
const STABILIZATION_SECONDS_MAX = 3600;

/** KEDA queries Prometheus; while Prometheus is unavailable, the number of pods stays (operator/README.md#children). */
function scaledObject(tonApi: TonApi, autoscaling: Autoscaling, release: Release): DesiredObject {
  const { minReplicas, maxReplicas } = autoscaling;
  const asked = triggers(tonApi, autoscaling, release);
  // KEDA refuses a fallback for the CPU alone.
  const fallback = { failureThreshold: 3, replicas: minReplicas, behavior: 'currentReplicas' };
  const isFallible = asked.some(({ type }) => type !== 'cpu');
  return child(tonApi, release.version, {
    stage: 'api',
    component: 'api',
    apiVersion: 'keda.sh/v1alpha1',
    kind: scaledObjectKind,
    name: childNames(tonApi).api,
    body: {
      spec: {
        scaleTargetRef: target(tonApi),
        minReplicaCount: minReplicas,
        maxReplicaCount: maxReplicas,
        ...(isFallible && { fallback }),
        advanced: { horizontalPodAutoscalerConfig: { behavior: behavior(autoscaling) } },
        triggers: asked,
      },
    },
  });
}

type Trigger = { readonly type: string; readonly metadata: Readonly<Record<string, string>> };

function triggers({ metadata }: TonApi, autoscaling: Autoscaling, { prometheusUrl }: Release): readonly Trigger[] {
  const { targetCPUUtilization } = autoscaling;
  const cpu = {
    type: 'cpu',
    metricType: 'Utilization',
    metadata: { containerName: 'api', value: String(targetCPUUtilization) },
  };
  const pods = `namespace="${metadata.namespace}",tonapi="${metadata.name}"`;
  const counted = countsOf(autoscaling).map(({ sum, target: threshold }) => ({
    type: 'prometheus',
    metadata: { serverAddress: prometheusUrl ?? '', query: sum(pods), threshold: String(threshold) },
  }));
  return [...(targetCPUUtilization === undefined ? [] : [cpu]), ...(prometheusUrl === undefined ? [] : counted)];
}

function target(tonApi: TonApi): Record<string, unknown> {
  return { apiVersion: 'apps/v1', kind: 'Deployment', name: childNames(tonApi).api };
}
