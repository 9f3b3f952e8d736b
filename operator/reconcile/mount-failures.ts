import type { KubernetesClient, RequestBounds } from '../kubernetes/client.ts';
import type { Clock } from '../kubernetes/clock.ts';
import { isApiError } from '../kubernetes/errors.ts';
import type { KubernetesObject } from '../kubernetes/object.ts';
import { resources } from '../kubernetes/resources.ts';
import type { ReferenceProblem } from './references.ts';

/** Keys that mounts name and that no Secret or ConfigMap has, by the kubelet's word: the operator reads no values of others. */
export type MountFailures = {
  /** @param children whose templates have the volumes of the pods */
  read(
    pods: readonly KubernetesObject[],
    children: readonly KubernetesObject[],
    bounds: RequestBounds,
  ): Promise<FoundFailures>;
};

type FoundFailures = {
  readonly problems: readonly ReferenceProblem[];
  /** When pods that wait for their mounts are due: an event of a kubelet starts no reconcile. */
  readonly requeueAfterMs: number | undefined;
};

/** A kubelet mounts within seconds. Events of pods that wait no longer are not read. */
const GRACE_MS = 10_000;

/** A kubelet tries a mount again after two minutes at most. */
const AGAIN_MS = 60_000;

/** Pods asked about in one reconcile. Pods of one template wait for the same key. */
const ASKED_MAX = 4;

/** Events read of a pod. */
const EVENTS_MAX = 20;

/** The kubelet's words about a Secret or a ConfigMap. */
const missingKey = /for volume "([^"]+)" : .*references non-existent (?:secret|config) key: (\S+)/;

type ContainerState = { readonly state?: { readonly waiting?: { readonly reason?: string } } };
type Condition = { readonly type: string; readonly status?: string; readonly lastTransitionTime?: string };
type MountEvent = {
  readonly note?: string;
  readonly eventTime?: string | null;
  readonly deprecatedLastTimestamp?: string | null;
  readonly series?: { readonly lastObservedTime?: string };
};
type Item = { readonly key: string };
type Source = {
  readonly secret?: { readonly name?: string; readonly secretName?: string; readonly items?: readonly Item[] };
  readonly configMap?: { readonly name?: string; readonly items?: readonly Item[] };
};
type Volume = Source & { readonly name: string; readonly projected?: { readonly sources?: readonly Source[] } };

export function createMountFailures({
  client,
  clock,
}: {
  readonly client: Pick<KubernetesClient, 'list'>;
  readonly clock: Pick<Clock, 'unixMs'>;
}): MountFailures {
  /** Newest words of the kubelet about the mounts of a pod. Without the right to read events there are none. */
  async function wordsOf({ metadata }: KubernetesObject, bounds: RequestBounds): Promise<string | undefined> {
    const { namespace, uid } = metadata;
    const fieldSelector = `reason=FailedMount,regarding.uid=${uid}`;
    try {
      const { items } = await client.list(resources.Event, { namespace, fieldSelector, limit: EVENTS_MAX }, bounds);
      const events = items as unknown as readonly MountEvent[];
      return events.toSorted((a, b) => timeOf(a).localeCompare(timeOf(b))).at(-1)?.note;
    } catch (error) {
      bounds.signal?.throwIfAborted();
      if (!isApiError(error)) throw error;
      return undefined;
    }
  }

  return {
    async read(pods, children, bounds) {
      const waits = pods.flatMap((pod) => {
        const sinceMs = waitsForMountsSinceMs(pod);
        return sinceMs === undefined ? [] : [{ pod, waitedMs: clock.unixMs() - sinceMs }];
      });
      if (waits.length === 0) return { problems: [], requeueAfterMs: undefined };
      const late = waits.filter(({ waitedMs }) => waitedMs >= GRACE_MS).slice(0, ASKED_MAX);
      const words = await Promise.all(late.map(({ pod }) => wordsOf(pod, bounds)));
      const volumes = children.flatMap(volumesOf);
      const messages = new Set(words.flatMap((note) => keyProblems(note, volumes)));
      return {
        problems: [...messages].toSorted().map((message) => ({ reason: 'KeyMissing', message })),
        requeueAfterMs: Math.min(
          ...waits.map(({ waitedMs }) => (waitedMs < GRACE_MS ? GRACE_MS - waitedMs : AGAIN_MS)),
        ),
      };
    },
  };
}

/** When a pod got its node, if none of its containers has begun and none says why. */
function waitsForMountsSinceMs({ metadata, status }: KubernetesObject): number | undefined {
  const conditions = (status?.['conditions'] ?? []) as readonly Condition[];
  const scheduled = conditions.find(({ type, status: value }) => type === 'PodScheduled' && value === 'True');
  if (metadata.deletionTimestamp !== undefined || status?.['phase'] !== 'Pending' || scheduled === undefined)
    return undefined;
  const containers = ['initContainerStatuses', 'containerStatuses'].flatMap(
    (field) => (status[field] ?? []) as readonly ContainerState[],
  );
  const isCreated = containers.some(
    ({ state }) => !['ContainerCreating', 'PodInitializing'].includes(state?.waiting?.reason ?? ''),
  );
  const sinceMs = Date.parse(scheduled.lastTransitionTime ?? '');
  return isCreated || Number.isNaN(sinceMs) ? undefined : sinceMs;
}

function timeOf({ series, deprecatedLastTimestamp, eventTime }: MountEvent): string {
  return series?.lastObservedTime ?? deprecatedLastTimestamp ?? eventTime ?? '';
}

function volumesOf({ spec }: KubernetesObject): readonly Volume[] {
  const template = spec?.['template'] as { readonly spec?: { readonly volumes?: readonly Volume[] } } | undefined;
  return template?.spec?.volumes ?? [];
}

/** The objects whose key the volume mounts, as sentences. */
function keyProblems(note: string | undefined, volumes: readonly Volume[]): string[] {
  const [, name, key] = missingKey.exec(note ?? '') ?? [];
  const sources = volumes
    .filter((volume) => volume.name === name)
    .flatMap((volume) => [volume, ...(volume.projected?.sources ?? [])]);
  return sources.flatMap(({ secret, configMap }) => {
    const named = (items: readonly Item[] = []): boolean => items.some((item) => item.key === key);
    if (secret !== undefined && named(secret.items))
      return [`Secret ${secret.secretName ?? secret.name} has no key ${key}`];
    return configMap !== undefined && named(configMap.items) ? [`ConfigMap ${configMap.name} has no key ${key}`] : [];
  });
}
