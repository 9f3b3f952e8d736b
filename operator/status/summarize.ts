import { contentHash } from '../desired/canonical.ts';
import { publicUrl } from '../desired/exposure.ts';
import { childNames, selectorLabels, selectorText } from '../desired/names.ts';
import type { KubernetesObject } from '../kubernetes/object.ts';
import { annotationOf, type TonApi, type TonApiStatus } from '../resource.ts';
import { settleConditions, type ConditionType, type Finding } from './conditions.ts';
import {
  availability,
  configuration,
  fetching,
  indexing,
  migration,
  progress,
  referencing,
  rolling,
} from './findings.ts';
import { hibernation, inHibernation, readyInHibernation } from './hibernation.ts';
import type { Observed, Refusal } from './observed.ts';
import { pendingReason, scaling, scalingForReady } from './scaling.ts';
import { isReadyPod, middleLiteServers, unanimous } from './pods.ts';
import { readyWithoutReplicas, zeroReplicas } from './zero-replicas.ts';

/**
 * Makes the status of a TonApi from observations, never from requests just made (operator/README.md#status).
 * Nothing that moves with the chain or the traffic is in it, so a steady state writes nothing.
 */
export function summarize(tonApi: TonApi, observed: Observed, nowMs: number): TonApiStatus {
  const { metadata, spec, status: previous } = tonApi;
  const deployment = deploymentOf(observed, childNames(tonApi).api);
  const says = observed.pods.filter(isReadyPod).map((pod) => observed.says.get(pod.metadata.uid ?? ''));
  const version = unanimous(says.map((pod) => pod?.version));
  const configHash = unanimous(says.map((pod) => pod?.configHash));
  const liteServers = middleLiteServers(says.filter((pod) => pod !== undefined));
  const conditions = settleConditions(
    findingsOf(tonApi, observed, deployment, nowMs),
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

/** Part of Ready. */
type Needed = Finding<ConditionType | 'Suspended'>;

/** Conditions that Ready aggregates, in dependency order, then informational ones. */
function findingsOf(
  tonApi: TonApi,
  observed: Observed,
  deployment: KubernetesObject | undefined,
  nowMs: number,
): Finding[] {
  const autoscaler = scaling(tonApi, observed);
  const others = [
    referencing(tonApi, observed),
    migration(observed.migration),
    availability(observed),
    configuration(observed),
    indexing(tonApi, observed),
    fetching(tonApi, observed, deploymentOf(observed, childNames(tonApi).metadata)),
  ].map((finding) => inHibernation(tonApi, finding));
  const asleep = hibernation(tonApi, observed);
  const needed: readonly Needed[] = tonApi.spec.hibernate
    ? [...suspension(observed), ...others.slice(0, 1), ...asleep]
    : [
        ...suspension(observed),
        ...others.slice(0, 4),
        rolledOut(observed, deployment),
        ...others.slice(4),
        ...scalingForReady(autoscaler, observed, tonApi.status?.conditions, nowMs),
      ];
  const failing = needed.find(({ status, reason }) => status !== 'True' && reason !== zeroReplicas);
  const ready = readiness(tonApi, failing, observed);
  const paused = annotationOf(tonApi, 'paused');
  return [
    ready,
    ...others,
    ...autoscaler,
    progress(observed, deployment),
    ...asleep,
    ...(paused === undefined
      ? []
      : [{ type: 'Paused', status: 'True', reason: 'PausedByAnnotation', message: paused } as const]),
    ...standing(ready, failing, observed),
  ];
}

function readiness({ spec }: TonApi, failing: Needed | undefined, observed: Observed): Finding {
  const refusal = firstRefusal(observed);
  if (refusal !== undefined) return { type: 'Ready', status: 'False', ...refused(refusal, observed) };
  if (failing === undefined) {
    if (spec.hibernate) return readyInHibernation;
    if (observed.readyMin === 0) return readyWithoutReplicas;
    return { type: 'Ready', status: 'True', reason: 'Serving', message: 'everything that is wanted is there' };
  }
  return { ...failing, type: 'Ready', message: `${failing.type}: ${failing.message}` };
}

/**
 * False while pods of the newest template are made or replaced, and after the template was abandoned.
 * A template that only another operator brings may wait for its turn or be frozen by policy. The resource is then as its author wants it.
 */
function rolledOut(observed: Observed, deployment: KubernetesObject | undefined): Finding {
  const type = 'Progressing';
  const { phase } = observed.rollout;
  const found = rolling(observed, deployment);
  return {
    type,
    ...found,
    status: phase === 'rolling' || phase === 'canary' || phase === 'rolledBack' ? 'False' : 'True',
  };
}

/** Changes of the author that a pause or a plan delays: a reason of Ready, and no condition of its own. */
function suspension({ suspended = [] }: Observed): Finding<'Suspended'>[] {
  if (suspended.length === 0) return [];
  const shown = suspended.slice(0, SHOWN_MAX).join(', ');
  const more = suspended.length > SHOWN_MAX ? ` and ${suspended.length - SHOWN_MAX} more` : '';
  const message = `changes wait until the annotation is gone: ${shown}${more}`;
  return [{ type: 'Suspended', status: 'False', reason: 'ChangesSuspended', message, waits: true }];
}

/** Objects that a message names. */
const SHOWN_MAX = 3;

/** Reasons that no retry of ours ends: a person must act. */
const endReasons: ReadonlySet<string> = new Set(['MigrationFailed', 'ProgressDeadlineExceeded', 'RolledBack']);

/** Conditions that can get worse later while everything is as wanted: no work is in progress then. */
const runningTypes: ReadonlySet<string> = new Set(['Available', 'ScalingActive']);

/**
 * State of a resource that is not Ready, by kstatus. `Stalled`: only a person helps. `Reconciling`: work is in progress.
 * Each condition exists only while it is True.
 */
function standing(ready: Finding, failing: Needed | undefined, observed: Observed): Finding[] {
  if (ready.status === 'True') return [];
  const { reason, message, waits } = ready;
  const found = { status: 'True', reason, message, ...(waits !== undefined && { waits }) } as const;
  const refusal = firstRefusal(observed);
  const isStalled = refusal === undefined ? endReasons.has(reason) : refusal.retried !== true;
  if (isStalled) return [{ type: 'Stalled', ...found }];
  return refusal === undefined && isBroken(failing, observed) ? [] : [{ type: 'Reconciling', ...found }];
}

/** Something that was as it is wanted is so no more. */
function isBroken(failing: Needed | undefined, { rollout: { phase } }: Observed): boolean {
  if (failing?.status !== 'False' || phase === 'rolling' || phase === 'canary') return false;
  if (failing.reason === pendingReason) return false;
  return runningTypes.has(failing.type) || (failing.type === 'IndexerLive' && failing.reason === 'Stalled');
}

/** Refusal that a person must see first. */
function firstRefusal({ refusals }: Observed): Refusal | undefined {
  return refusals.find(({ retried }) => retried !== true) ?? refusals[0];
}

function deploymentOf({ live }: Observed, name: string): KubernetesObject | undefined {
  return live.find(({ kind, metadata }) => kind === 'Deployment' && metadata.name === name);
}

/** With the words of all that is refused. */
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
  if (spec.indexer === undefined || schema.state === 'notNeeded' || spec.hibernate) return 'Off';
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
