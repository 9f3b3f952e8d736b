import { waitingReason, isReadyPod } from '../status/pods.ts';
import type { Condition, KubernetesObject, ObjectMetadata } from '../kubernetes/object.ts';
import type { TonApi, TonApiKey } from '../resource.ts';
import { ageSeconds, ageText, type Column, type Listing, type Row } from './listing.ts';

const namespace: Column = { key: 'namespace', title: 'NAMESPACE' };
const age: Column = { key: 'ageSeconds', title: 'AGE', show: ageText };

/** TonApis, one a row. */
export function tonApiListing(tonApis: readonly TonApi[], nowMs: number): Listing {
  return {
    columns: [
      namespace,
      { key: 'name', title: 'NAME' },
      { key: 'network', title: 'NETWORK' },
      { key: 'ready', title: 'READY' },
      { key: 'reason', title: 'REASON' },
      { key: 'pods', title: 'PODS' },
      { key: 'liteServers', title: 'LITE-SERVERS' },
      { key: 'indexer', title: 'INDEXER' },
      { key: 'keys', title: 'KEYS' },
      { key: 'version', title: 'VERSION' },
      { key: 'url', title: 'URL' },
      age,
    ],
    rows: tonApis.map(({ metadata, spec, status }) => ({
      ...nameAndAge(metadata, nowMs),
      network: spec.network,
      ...readiness(status?.conditions),
      pods: status?.replicas === undefined ? undefined : `${status.readyReplicas ?? 0}/${status.replicas}`,
      liteServers: status?.liteServers,
      indexer: status?.indexer,
      keys: status?.keys,
      version: status?.version,
      url: status?.url,
    })),
  };
}

/** Conditions of a status, one a row. */
export function conditionListing(conditions: readonly Condition[], nowMs: number): Listing {
  return {
    columns: [
      { key: 'type', title: 'CONDITION' },
      { key: 'status', title: 'STATUS' },
      { key: 'reason', title: 'REASON' },
      { key: 'sinceSeconds', title: 'SINCE', show: ageText },
      { key: 'message', title: 'MESSAGE' },
    ],
    rows: conditions.map(({ type, status, reason, message, lastTransitionTime }) => ({
      type,
      status,
      reason,
      sinceSeconds: ageSeconds(lastTransitionTime, nowMs),
      message,
    })),
  };
}

/** TonApiKeys, one a row. The status has public parts of keys alone. */
export function keyListing(keys: readonly TonApiKey[], nowMs: number): Listing {
  return {
    columns: [
      namespace,
      { key: 'name', title: 'NAME' },
      { key: 'api', title: 'API' },
      { key: 'plan', title: 'PLAN' },
      { key: 'keyId', title: 'KEY' },
      { key: 'ready', title: 'READY' },
      { key: 'reason', title: 'REASON' },
      { key: 'secret', title: 'SECRET' },
      { key: 'expires', title: 'EXPIRES' },
      { key: 'rotates', title: 'ROTATES' },
      age,
    ],
    rows: keys.map(({ metadata, spec, status }) => ({
      ...nameAndAge(metadata, nowMs),
      api: spec.apiRef.namespace === undefined ? spec.apiRef.name : `${spec.apiRef.namespace}/${spec.apiRef.name}`,
      plan: spec.plan,
      keyId: status?.keyId,
      ...readiness(status?.conditions),
      secret: status?.secretName,
      expires: spec.expiresAt,
      rotates: status?.nextRotationTime,
    })),
  };
}

/** Pods of TonApis, one a row. */
export function podListing(pods: readonly KubernetesObject[], nowMs: number): Listing {
  return {
    columns: [
      namespace,
      { key: 'name', title: 'NAME' },
      { key: 'api', title: 'API' },
      { key: 'component', title: 'COMPONENT' },
      { key: 'ready', title: 'READY' },
      { key: 'state', title: 'STATE' },
      { key: 'restarts', title: 'RESTARTS' },
      { key: 'version', title: 'VERSION' },
      { key: 'node', title: 'NODE' },
      age,
    ],
    rows: pods.map((pod) => ({
      ...nameAndAge(pod.metadata, nowMs),
      ...componentOf(pod),
      ready: isReadyPod(pod),
      state: stateOf(pod),
      restarts: restartsOf(pod),
      version: pod.metadata.labels?.['app.kubernetes.io/version'],
      node: textOf(pod.spec?.['nodeName']),
    })),
  };
}

/** TonApi and component of a pod, from its labels. */
export function componentOf({ metadata }: KubernetesObject): Row {
  return {
    api: metadata.labels?.['app.kubernetes.io/instance'],
    component: metadata.labels?.['app.kubernetes.io/component'],
  };
}

function nameAndAge({ namespace: space, name, creationTimestamp }: ObjectMetadata, nowMs: number): Row {
  return { namespace: space, name, ageSeconds: ageSeconds(creationTimestamp, nowMs) };
}

function readiness(conditions: readonly Condition[] | undefined): Row {
  const ready = conditions?.find(({ type }) => type === 'Ready');
  return { ready: ready?.status ?? 'Unknown', reason: ready?.reason };
}

/** The cause that keeps a container from running, else the phase. */
function stateOf(pod: KubernetesObject): string | undefined {
  if (pod.metadata.deletionTimestamp !== undefined) return 'Terminating';
  return waitingReason(pod) ?? textOf(pod.status?.['phase']);
}

function restartsOf({ status }: KubernetesObject): number {
  const containers = (status?.['containerStatuses'] ?? []) as readonly { readonly restartCount?: number }[];
  return containers.reduce((sum, { restartCount = 0 }) => sum + restartCount, 0);
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
