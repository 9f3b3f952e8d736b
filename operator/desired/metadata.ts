import type { TonApi } from '../resource.ts';
import { contentHash } from './canonical.ts';
import { child } from './child.ts';
import {
  awakeReplicas,
  coldHash,
  metricsContainerPort,
  ports,
  probes,
  replacement,
  TEMPLATE_REVISION,
} from './deployment.ts';
import { hasDatabase } from './indexer.ts';
import { configMounts, gatewayMounts, joined, postgresMounts, scratchMounts, tracingMounts } from './mounts.ts';
import { childAnnotations, childLabels, childNames, selectorLabels } from './names.ts';
import { podSpec, versionOf } from './pod.ts';
import { podAnnotations, podLabels, withPodTemplate } from './pod-template.ts';
import type { DesiredObject, References, Release } from './references.ts';
import { containerResources } from './resources.ts';
import { buildMetricsService } from './service.ts';

const requests = { cpu: '50m', memory: '256Mi' } as const;

/** Work in progress returns to the queue. That takes no longer than a query. */
const GRACE_SECONDS = 15;

/**
 * Builds the pods that fetch token metadata from outside of the chain. They have neither keys nor Redis, and share a queue in Postgres.
 * Any number of them may run, old and new together, or none for a while. `rollout` replaces them as it replaces API pods.
 * By default a new pod comes first, so a template that fails leaves the old pod at work. A quota without room for one more pod needs `maxSurge: 0`.
 */
export function buildMetadata(tonApi: TonApi, references: References, release: Release): DesiredObject[] {
  const { tokenMetadata } = tonApi.spec;
  if (tokenMetadata === undefined || !hasDatabase(tonApi, release)) return [];
  const { replicas, ...settings } = tokenMetadata;
  const { metadata: name } = childNames(tonApi);
  const shared = { stage: 'api', component: 'metadata', name } as const;
  const template = {
    metadata: {
      labels: { ...podLabels(tonApi), ...childLabels(tonApi, 'metadata', versionOf(tonApi, release)) },
      annotations: {
        ...podAnnotations(tonApi),
        [childAnnotations.coldHash]: contentHash({ cold: coldHash(tonApi, references), settings }),
        [childAnnotations.templateRevision]: String(TEMPLATE_REVISION),
      },
    },
    spec: withPodTemplate(tonApi, 'metadata', {
      ...podSpec(tonApi, release, {
        container: 'metadata',
        args: ['metadata', '--internal-port', String(ports.internal), '--host', '0.0.0.0'],
        mounts: joined([
          configMounts(tonApi),
          postgresMounts(tonApi, false),
          tracingMounts(tonApi),
          gatewayMounts(tonApi),
          scratchMounts(),
        ]),
        resources: containerResources(settings.resources, requests),
        ports: [metricsContainerPort],
        extra: probes,
      }),
      terminationGracePeriodSeconds: GRACE_SECONDS,
    }),
  };
  return [
    child(tonApi, versionOf(tonApi, release), {
      ...shared,
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      body: {
        spec: {
          replicas: awakeReplicas(tonApi, replicas),
          selector: { matchLabels: selectorLabels(tonApi, 'metadata') },
          strategy: { type: 'RollingUpdate', rollingUpdate: replacement(tonApi) },
          revisionHistoryLimit: 5,
          template: references.rollout.held?.metadata ?? template,
        },
      },
    }),
    buildMetricsService(tonApi, release, shared),
  ];
}
