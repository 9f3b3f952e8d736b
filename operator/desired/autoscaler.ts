import type { TonApi } from '../resource.ts';
import { durationMs } from '../service-config.ts';
import { child } from './child.ts';
import { childNames } from './names.ts';
import type { DesiredObject, References, Release } from './references.ts';

type Autoscaling = NonNullable<TonApi['spec']['autoscaling']>;

/** True when somebody else counts the pods, and so `replicas` is not ours to set: never while KEDA is asked for and absent. */
export function autoscaled({ spec }: TonApi, { apis }: Pick<References, 'apis'>): boolean {
  return spec.autoscaling !== undefined && (spec.autoscaling.provider === 'HPA' || apis.has('keda.sh'));
}

/** An HPA or a ScaledObject, never both: KEDA makes an HPA of its own. */
export function buildAutoscaler(tonApi: TonApi, references: References, release: Release): DesiredObject | undefined {
  const { autoscaling } = tonApi.spec;
  if (autoscaling === undefined || !autoscaled(tonApi, references)) return undefined;
  return autoscaling.provider === 'HPA'
    ? horizontalPodAutoscaler(tonApi, autoscaling, release)
    : scaledObject(tonApi, autoscaling, release);
}

function horizontalPodAutoscaler(tonApi: TonApi, autoscaling: Autoscaling, release: Release): DesiredObject {
  const { minReplicas, maxReplicas, targetCPUUtilization, targetRequestsPerSecond } = autoscaling;
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
          ...(targetRequestsPerSecond === undefined ? [] : [requestsMetric(targetRequestsPerSecond)]),
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

/** Served by an adapter of custom metrics from `ton_http_requests_total`. */
function requestsMetric(averageValue: number): Record<string, unknown> {
  return {
    type: 'Pods',
    pods: {
      metric: { name: 'ton_requests_per_second' },
      target: { type: 'AverageValue', averageValue: String(averageValue) },
    },
  };
}

/** Up at once, by doubling or by four; down by a tenth a minute after a quiet time. */
function behavior({ scaleDownStabilization }: Autoscaling): Record<string, unknown> {
  const seconds = Math.round((durationMs(scaleDownStabilization) ?? 0) / 1000);
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
      stabilizationWindowSeconds: Math.min(seconds, stabilizationSecondsMax),
      selectPolicy: 'Max',
      policies: [{ type: 'Percent', value: 10, periodSeconds: 60 }],
    },
  };
}

/** What the API server takes at most: an hour. */
const stabilizationSecondsMax = 3600;

/** KEDA asks Prometheus itself; while that is away it keeps the pods that there are (operator sheet 5.2). */
function scaledObject(tonApi: TonApi, autoscaling: Autoscaling, release: Release): DesiredObject {
  const { minReplicas, maxReplicas } = autoscaling;
  return child(tonApi, release.version, {
    stage: 'api',
    component: 'api',
    apiVersion: 'keda.sh/v1alpha1',
    kind: 'ScaledObject',
    name: childNames(tonApi).api,
    body: {
      spec: {
        scaleTargetRef: target(tonApi),
        minReplicaCount: minReplicas,
        maxReplicaCount: maxReplicas,
        fallback: { failureThreshold: 3, replicas: minReplicas, behavior: 'currentReplicas' },
        advanced: { horizontalPodAutoscalerConfig: { behavior: behavior(autoscaling) } },
        triggers: triggers(tonApi, autoscaling, release),
      },
    },
  });
}

function triggers({ metadata }: TonApi, autoscaling: Autoscaling, { prometheusUrl }: Release): object[] {
  const { targetCPUUtilization, targetRequestsPerSecond } = autoscaling;
  const cpu = {
    type: 'cpu',
    metricType: 'Utilization',
    metadata: { containerName: 'api', value: String(targetCPUUtilization) },
  };
  const pods = `namespace="${metadata.namespace}",tonapi="${metadata.name}"`;
  const requests = {
    type: 'prometheus',
    metadata: {
      serverAddress: prometheusUrl ?? '',
      query: `sum(rate(ton_http_requests_total{${pods}}[1m]))`,
      threshold: String(targetRequestsPerSecond),
    },
  };
  return [
    ...(targetCPUUtilization === undefined ? [] : [cpu]),
    ...(targetRequestsPerSecond === undefined || prometheusUrl === undefined ? [] : [requests]),
  ];
}

function target(tonApi: TonApi): Record<string, unknown> {
  return { apiVersion: 'apps/v1', kind: 'Deployment', name: childNames(tonApi).api };
}
