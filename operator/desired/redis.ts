import type { TonApi } from '../resource.ts';
import { child } from './child.ts';
import { awakeReplicas } from './deployment.ts';
import { REDIS_PORT } from './mounts.ts';
import { childLabels, childNames, selectorLabels } from './names.ts';
import { containerSecurity, podPlacement, podSecurity } from './pod.ts';
import { podAnnotations, podLabels, withPodTemplate } from './pod-template.ts';
import type { DesiredObject, References, Release } from './references.ts';

/** Buckets of a million callers are some 200 MB; a trial has far fewer. */
const REDIS_MEMORY_MB = 96;

/** Memory of the container: the data and what the process itself needs. */
const containerMemory = '128Mi';

/**
 * Redis for trials, without a disk: after a restart all buckets are full again. `Recreate`, because two instances would hold two truths.
 * Eviction is off, because an evicted bucket would lift a limit.
 */
export function buildRedis(tonApi: TonApi, { rollout }: References, release: Release): DesiredObject[] {
  if (!tonApi.spec.rateLimits.redis.embedded) return [];
  const selector = selectorLabels(tonApi, 'redis');
  const annotations = podAnnotations(tonApi);
  const template = {
    metadata: {
      labels: { ...podLabels(tonApi), ...childLabels(tonApi, 'redis', redisVersion(release)) },
      ...(Object.keys(annotations).length > 0 && { annotations }),
    },
    spec: withPodTemplate(tonApi, 'redis', podSpec(tonApi, release)),
  };
  const shared = { stage: 'config', component: 'redis', name: childNames(tonApi).redis } as const;
  return [
    child(tonApi, release.version, {
      ...shared,
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      body: {
        spec: {
          replicas: awakeReplicas(tonApi, 1),
          selector: { matchLabels: selector },
          strategy: { type: 'Recreate' },
          revisionHistoryLimit: 2,
          template: rollout.held?.redis ?? template,
        },
      },
    }),
    child(tonApi, release.version, {
      ...shared,
      apiVersion: 'v1',
      kind: 'Service',
      body: {
        spec: {
          type: 'ClusterIP',
          selector,
          ports: [{ name: 'redis', port: REDIS_PORT, targetPort: 'redis', protocol: 'TCP' }],
        },
      },
    }),
  ];
}

function podSpec(tonApi: TonApi, release: Release): Record<string, unknown> {
  const settings = {
    port: REDIS_PORT,
    // The NetworkPolicy decides who may connect. There is no password.
    'protected-mode': 'no',
    save: '',
    appendonly: 'no',
    maxmemory: `${REDIS_MEMORY_MB}mb`,
    'maxmemory-policy': 'noeviction',
  };
  const probe = { tcpSocket: { port: 'redis' }, periodSeconds: 5, timeoutSeconds: 2, failureThreshold: 3 };
  return {
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    securityContext: podSecurity(release),
    containers: [
      {
        name: 'redis',
        image: release.redisImage,
        command: ['redis-server'],
        args: Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)]),
        workingDir: '/data',
        ports: [{ name: 'redis', containerPort: REDIS_PORT, protocol: 'TCP' }],
        resources: { requests: { cpu: '50m', memory: containerMemory }, limits: { memory: containerMemory } },
        securityContext: containerSecurity,
        readinessProbe: probe,
        livenessProbe: { ...probe, periodSeconds: 10 },
        volumeMounts: [{ name: 'data', mountPath: '/data' }],
      },
    ],
    volumes: [{ name: 'data', emptyDir: { sizeLimit: '64Mi' } }],
    ...podPlacement(tonApi, release),
  };
}

/** Tag of the Redis image, for the version label. The template changes only with the image and `podTemplate`, not with our releases. */
function redisVersion({ redisImage }: Release): string {
  return redisImage.slice(redisImage.lastIndexOf(':') + 1);
}
