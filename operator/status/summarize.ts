import { contentHash } from '../desired/canonical.ts';
import { publicUrl } from '../desired/exposure.ts';
import { childNames, selectorLabels, selectorText } from '../desired/names.ts';
import type { KubernetesObject } from '../kubernetes/object.ts';
import { annotationOf, type TonApi, type TonApiStatus } from '../resource.ts';
import { settleConditions, type Finding } from './conditions.ts';
import { availability, configuration, fetching, indexing, migration, progress, referencing } from './findings.ts';
import type { Observed, Refusal } from './observed.ts';
import { isReadyPod, middleLiteServers, unanimous } from './pods.ts';

/**
 * The status of a TonApi (operator sheet 2.3): from what is observed, never from what was just asked for. Nothing that moves with the chain or the traffic
 * is in it, so that a steady state writes nothing.
 */
export function summarize(tonApi: TonApi, observed: Observed, nowMs: number): TonApiStatus {
  const { metadata, spec, status: previous } = tonApi;
  const deployment = deploymentOf(observed, childNames(tonApi).api);
  const says = observed.pods.filter(isReadyPod).map((pod) => observed.says.get(pod.metadata.uid ?? ''));
  const version = unanimous(says.map((pod) => pod?.version));
  const configHash = unanimous(says.map((pod) => pod?.configHash));
  const liteServers = middleLiteServers(says.filter((pod) => pod !== undefined));
  const conditions = settleConditions(
    findingsOf(tonApi, observed, deployment),
    previous?.conditions,
    metadata.generation,
    nowMs,
  );
  return {
    ...(metadata.generation !== undefined && { observedGeneration: metadata.generation }),
    replicas: countOf(deployment, 'replicas'),
    readyReplicas: countOf(deployment, 'readyReplicas'),
    updatedReplicas: countOf(deployment, 'updatedReplicas'),
    selector: selectorText(selectorLabels(tonApi, 'api')),
    ...(version !== undefined && { version }),
    ...(configHash !== undefined && { configHash }),
    url: publicUrl(tonApi),
    ...(liteServers && { liteServers: `${liteServers.usable}/${liteServers.total}` }),
    indexer: indexerOf(spec, observed),
    keys: observed.keys,
    rollout: rolloutOf(observed, previous?.rollout),
    conditions,
  };
}

/** Hash by which status and canaries name a template. */
export function templateHash(template: Readonly<Record<string, unknown>>): string {
  return contentHash(template);
}

/** Those that Ready sums up, in the order in which one keeps the next from holding; then those that tell what goes on. */
function findingsOf(tonApi: TonApi, observed: Observed, deployment: KubernetesObject | undefined): Finding[] {
  const needed = [
    referencing(tonApi, observed),
    migration(observed.migration),
    availability(observed),
    configuration(observed),
    indexing(tonApi, observed),
    fetching(tonApi, observed, deploymentOf(observed, childNames(tonApi).metadata)),
  ];
  const paused = annotationOf(tonApi, 'paused');
  const [refusal] = observed.refusals;
  return [
    readiness(needed, observed),
    ...needed,
    progress(observed, deployment),
    ...(paused === undefined
      ? []
      : [{ type: 'Paused', status: 'True', reason: 'PausedByAnnotation', message: paused } as const]),
    ...(refusal === undefined ? [] : [{ type: 'Stalled', status: 'True', ...refused(refusal, observed) } as const]),
  ];
}

function readiness(needed: readonly Finding[], observed: Observed): Finding {
  const [refusal] = observed.refusals;
  if (refusal !== undefined) return { type: 'Ready', status: 'False', ...refused(refusal, observed) };
  const failing = needed.find(({ status }) => status !== 'True');
  if (failing === undefined)
    return { type: 'Ready', status: 'True', reason: 'Serving', message: 'everything that is wanted is there' };
  return { ...failing, type: 'Ready', message: `${failing.type}: ${failing.message}` };
}

function deploymentOf({ live }: Observed, name: string): KubernetesObject | undefined {
  return live.find(({ kind, metadata }) => kind === 'Deployment' && metadata.name === name);
}

/** Waits for a person. */
function refused({ reason }: Refusal, { refusals }: Observed): Pick<Finding, 'reason' | 'message' | 'waits'> {
  return { reason, message: refusals.map(({ message }) => message).join('; '), waits: true };
}

function countOf(deployment: KubernetesObject | undefined, field: string): number {
  const count = deployment?.status?.[field];
  return typeof count === 'number' ? count : 0;
}

function indexerOf(
  spec: TonApi['spec'],
  { migration: schema, indexer }: Observed,
): NonNullable<TonApiStatus['indexer']> {
  if (spec.indexer === undefined || schema.state === 'notNeeded') return 'Off';
  if (schema.state === 'running' || schema.state === 'failed') return 'Migrating';
  return indexer ?? 'CatchingUp';
}

function rolloutOf({ rollout }: Observed, previous: TonApiStatus['rollout']): NonNullable<TonApiStatus['rollout']> {
  const stableHash = rollout.phase === 'settled' ? rollout.hash : previous?.stableHash;
  return {
    hash: rollout.hash,
    ...(stableHash !== undefined && { stableHash }),
    ...(rollout.phase === 'canary' && { step: rollout.step, weight: rollout.weight }),
  };
}
