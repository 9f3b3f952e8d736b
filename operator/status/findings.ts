import { resourceKindOfRoute, routeProblem } from './route.ts';
import type { KubernetesObject } from '../kubernetes/object.ts';
import type { TonApi } from '../resource.ts';
import { ordinal, type Finding } from './conditions.ts';
import { withoutReplicas } from './zero-replicas.ts';
import type { MigrationState, Observed } from './observed.ts';
import { exceededDeadline, indexerPods, isReadyPod, replicaFailure, waitingReason } from './pods.ts';

type Found = Omit<Finding, 'type'>;

/** Pods that a message names. */
const SHOWN_MAX = 3;

/** Reports if everything that the spec names exists and accepts us. */
export function referencing({ spec }: TonApi, { problems, unserved, live }: Observed): Finding {
  const type = 'ReferencesResolved';
  const [first] = problems;
  if (first !== undefined) {
    const message = problems.map((problem) => problem.message).join('; ');
    return { type, status: 'False', reason: first.reason, message, waits: true };
  }
  const route = live.find(({ kind }) => kind === resourceKindOfRoute);
  const refused = route && routeProblem(route);
  if (refused !== undefined) return { type, status: 'False', ...refused, waits: true };
  if (spec.exposure?.kind === resourceKindOfRoute && unserved.includes(resourceKindOfRoute)) {
    const message = 'the cluster has no Gateway API, so there is no HTTPRoute and callers outside reach nothing';
    return { type, status: 'False', reason: 'ApiNotServed', message, waits: true };
  }
  const notes = [
    'everything that is named is there',
    ...(unserved.length > 0 ? [`left out, because the cluster lacks the API: ${unserved.join(', ')}`] : []),
    ...(spec.rateLimits.redis.embedded ? ['the embedded Redis is for trials, not for production'] : []),
  ];
  return { type, status: 'True', reason: 'Resolved', message: notes.join('; ') };
}

/** Reports if the schema is what this release needs. */
export function migration(schema: MigrationState): Finding {
  const message = 'message' in schema ? schema.message : '';
  const found: Record<MigrationState['state'], Found> = {
    notNeeded: { status: 'True', reason: 'NotNeeded', message: 'this release and this manifest need no schema' },
    current: { status: 'True', reason: 'SchemaCurrent', message: 'the schema is what this release needs' },
    running: { status: 'False', reason: 'MigrationRunning', message, waits: true },
    suspended: { status: 'False', reason: 'Hibernated', message },
    failed: {
      status: 'False',
      reason: 'MigrationFailed',
      message: `${message}; pods that run go on, new ones wait`,
      waits: true,
    },
  };
  return { type: 'Migrated', ...found[schema.state] };
}

/** Reports if enough pods are ready, and otherwise why the other pods are not. */
export function availability({ live, pods, says, readyMin }: Observed): Finding {
  const type = 'Available';
  if (readyMin === 0) return { type, ...withoutReplicas };
  const ready = pods.filter(isReadyPod);
  if (ready.length >= readyMin) {
    return { type, status: 'True', reason: 'EnoughReadyPods', message: `at least ${readyMin} ready pods` };
  }
  const others = pods.filter((pod) => !isReadyPod(pod) && pod.metadata.deletionTimestamp === undefined);
  const unreachable = others.some((pod) => says.get(pod.metadata.uid ?? '')?.liteServers?.usable === 0);
  const found = [...live.map(replicaFailure), ...others.map((pod) => causeOf(pod, says))];
  const causes = [...new Set(found.filter((cause) => cause !== undefined))];
  const what = ready.length === 0 ? 'no pod is ready' : `fewer than ${readyMin} pods are ready`;
  const reason = unreachable ? 'LiteServersUnreachable' : ready.length === 0 ? 'NoReadyPods' : 'TooFewReadyPods';
  return { type, status: 'False', reason, message: [what, ...causes.slice(0, SHOWN_MAX)].join('; '), waits: true };
}

/** Why pods are not ready, each cause once. */
function causesOf(pods: readonly KubernetesObject[], says: Observed['says']): string[] {
  const waiting = pods.filter((pod) => !isReadyPod(pod) && pod.metadata.deletionTimestamp === undefined);
  const causes = new Set(waiting.map((pod) => causeOf(pod, says)).filter((cause) => cause !== undefined));
  return [...causes].slice(0, SHOWN_MAX);
}

function causeOf(pod: KubernetesObject, says: Observed['says']): string | undefined {
  const said = says.get(pod.metadata.uid ?? '');
  if (said?.liteServers?.usable === 0) return `none of ${said.liteServers.total} lite servers can be used`;
  return waitingReason(pod) ?? (said?.reasons === undefined ? undefined : said.reasons.join(', '));
}

/** Reports if every ready pod, of the API and of the metadata, has the wanted hot configuration. */
export function configuration({ pods, metadataPods, says, hotHash, readyMin }: Observed): Finding {
  const type = 'ConfigApplied';
  const ready = pods.filter(isReadyPod);
  if (ready.length === 0 && readyMin === 0) return { type, ...withoutReplicas };
  if (ready.length === 0) {
    return { type, status: 'Unknown', reason: 'NoReadyPods', message: 'no ready pod could say', waits: true };
  }
  const behind = [...ready, ...metadataPods.filter(isReadyPod)].filter(
    (pod) => says.get(pod.metadata.uid ?? '')?.configHash !== hotHash,
  );
  if (behind.length === 0) {
    return { type, status: 'True', reason: 'Applied', message: 'every ready pod has the configuration' };
  }
  const names = behind.map(({ metadata }) => metadata.name).toSorted();
  const message = `waits for pods to take over the configuration: ${names.slice(0, SHOWN_MAX).join(', ')}`;
  const more = names.length > SHOWN_MAX ? ` and ${names.length - SHOWN_MAX} more` : '';
  return { type, status: 'False', reason: 'Propagating', message: `${message}${more}`, waits: true };
}

/** Reports if the index follows the chain. */
export function indexing({ spec }: TonApi, observed: Observed): Finding {
  const { indexer, migration: schema, otherPods = [], says } = observed;
  const type = 'IndexerLive';
  if (spec.indexer === undefined) return { type, status: 'True', reason: 'NotWanted', message: 'no indexer is wanted' };
  if (schema.state === 'notNeeded') {
    const message = 'this release has no database, and so no indexer';
    return { type, status: 'False', reason: 'NotInRelease', message, waits: true };
  }
  if (schema.state !== 'current') {
    return { type, status: 'False', reason: 'Migrating', message: 'waits for the schema', waits: true };
  }
  if (indexer === 'Live') return { type, status: 'True', reason: 'Live', message: 'the index follows the chain' };
  const because = (head: string): string => [head, ...causesOf(indexerPods(otherPods), says)].join('; ');
  if (indexer === 'Stalled') {
    const message = because('no block was written for too long');
    return { type, status: 'False', reason: 'Stalled', message, waits: true };
  }
  const head = indexer === undefined ? 'waits for the indexer to say how far it is' : 'catches up with the chain';
  const message = because(head);
  return { type, status: 'False', reason: 'CatchingUp', message, waits: true };
}

/** Reports if pods of the newest template fetch token metadata from outside of the chain. */
export function fetching(
  { spec }: TonApi,
  { metadataPods: pods, says, migration: schema }: Observed,
  deployment: KubernetesObject | undefined,
): Finding {
  const type = 'MetadataRunning';
  if (spec.tokenMetadata === undefined) {
    return { type, status: 'True', reason: 'NotWanted', message: 'no metadata of tokens is wanted' };
  }
  if (schema.state === 'notNeeded') {
    const message = 'this release has no database, and so nowhere to put metadata';
    return { type, status: 'False', reason: 'NotInRelease', message, waits: true };
  }
  const because = (head: string): string => [head, ...causesOf(pods, says)].join('; ');
  if (!pods.some(isReadyPod)) {
    return schema.state === 'current'
      ? { type, status: 'False', reason: 'NoReadyPods', message: because('no pod fetches metadata'), waits: true }
      : { type, status: 'False', reason: 'Migrating', message: 'waits for the schema', waits: true };
  }
  if (deployment && exceededDeadline(deployment)) {
    const message = because('the new pods that fetch metadata do not become ready');
    return { type, status: 'False', reason: 'ProgressDeadlineExceeded', message, waits: true };
  }
  return { type, status: 'True', reason: 'Running', message: 'metadata of tokens is fetched' };
}

/** Reports if pods are being replaced, wait for replacement, or stay. */
export function progress(observed: Observed, deployment: KubernetesObject | undefined): Finding {
  const type = 'Progressing';
  if (observed.fights.length > 0) {
    const message = `somebody changes back what we set, again and again: ${observed.fights.join(', ')}`;
    return { type, status: 'True', reason: 'FieldFight', message, waits: true };
  }
  return { type, ...rolling(observed, deployment) };
}

/** Reports if the newest template is out, for the operator and the pods. Manual edits of fields are a separate finding. */
export function rolling(observed: Observed, deployment: KubernetesObject | undefined): Found {
  const { rollout } = observed;
  switch (rollout.phase) {
    case 'waiting': {
      const message = `waits for a rollout slot, ${ordinal(rollout.position)} of ${rollout.waiting}`;
      return { status: 'True', reason: 'WaitingForRolloutSlot', message, waits: true };
    }
    case 'frozen':
      return {
        status: 'False',
        reason: 'UpgradeHeld',
        message:
          'keeps the pods of an older operator until a cold field of the resource is edited, as upgradePolicy OnChange says',
        waits: true,
      };
    case 'canary': {
      const message = `canary at step ${rollout.step + 1} with ${rollout.weight} % of the traffic: ${rollout.why}`;
      return { status: 'True', reason: 'CanaryHold', message, waits: true };
    }
    case 'rolledBack':
      return { status: 'False', reason: 'RolledBack', message: `the canary was given up: ${rollout.why}`, waits: true };
    case 'hibernated':
      return { status: 'False', reason: 'Hibernated', message: 'the canary begins when hibernate is false' };
    case 'settled':
      return { status: 'False', reason: 'RolledOut', message: 'all pods are of the wanted template' };
    default:
      return underWay(observed, deployment, rollout.waits);
  }
}

/** New pods start. Pods that cannot start report why; after the deadline a person must act. */
function underWay(observed: Observed, deployment: KubernetesObject | undefined, waits: string | undefined): Found {
  const causes = podCauses(observed);
  const because = (head: string): string => [head, ...causes.slice(0, SHOWN_MAX)].join('; ');
  if (deployment && exceededDeadline(deployment)) {
    const message = because('the new pods do not become ready');
    return { status: 'False', reason: 'ProgressDeadlineExceeded', message, waits: true };
  }
  const head = waits === undefined ? 'starts new pods' : `new pods wait for ${waits}`;
  return { status: 'True', reason: 'RollingOut', message: because(head), waits: true };
}

/** Why pods do not start, in the words of their controllers and of the kubelet, each once. */
function podCauses({ live, pods, metadataPods, otherPods = [] }: Observed): string[] {
  const starting = [...pods, ...metadataPods, ...otherPods].filter(
    (pod) => !isReadyPod(pod) && pod.metadata.deletionTimestamp === undefined,
  );
  const causes = [...live.map(replicaFailure), ...starting.map(waitingReason)];
  return [...new Set(causes.filter((cause) => cause !== undefined))];
}
