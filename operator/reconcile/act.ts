import { handoverManager } from '../desired/names.ts';
import type { Stage } from '../desired/references.ts';
import type { Change, UpdateChange } from '../diff/diff.ts';
import { driftManagers } from '../diff/drift.ts';
import type { KubernetesClient, RequestBounds } from '../kubernetes/client.ts';
import { isApiError } from '../kubernetes/errors.ts';
import type { Events } from '../kubernetes/events.ts';
import type { KubernetesObject } from '../kubernetes/object.ts';
import { resourceOf } from '../kubernetes/resources.ts';
import type { Refusal } from '../status/observed.ts';
import type { DriftLog } from './drift-log.ts';
import type { ReconcileMetrics } from './metrics.ts';
import type { Writer } from './writer.ts';

/** What was done of a plan, and what stood in the way. */
export type Acted = {
  readonly writes: number;
  /** A child that only a person can make possible: its name is another's, or the server refuses it. */
  readonly refusals: readonly Refusal[];
  /** When a correction that waits in a fight over a field is due. */
  readonly lookAgainMs: number | undefined;
};

export type ActDependencies = {
  readonly client: KubernetesClient;
  readonly writer: Writer;
  readonly events: Events;
  readonly metrics: Pick<ReconcileMetrics, 'driftCorrected'>;
  readonly drift: DriftLog;
};

/**
 * Carries changes out in order. A refusal ends the work before the next stage, as later stages build on earlier ones; any other error ends it at once
 * and is thrown: the next look begins anew.
 */
export async function act(
  about: KubernetesObject,
  changes: readonly Change[],
  dependencies: ActDependencies,
  bounds: RequestBounds,
): Promise<Acted> {
  const refusals: Refusal[] = [];
  const waits: number[] = [];
  let writes = 0;
  let refusedStage: Stage | undefined;
  for (const batch of batchesOf(changes)) {
    const [{ stage }] = batch;
    if (refusedStage !== undefined && stage !== refusedStage) break;
    const due = batch.filter(({ change }) => {
      const waitMs = isDrift(change) ? dependencies.drift.waitMs(change.live.metadata.uid ?? '') : 0;
      if (waitMs > 0) waits.push(waitMs);
      return waitMs === 0;
    });
    // All have ended before the first error is thrown: nothing of this look runs on into the next.
    const results = await Promise.allSettled(due.map(({ change }) => carryOut(about, change, dependencies, bounds)));
    const refused = results.map(valueOf).filter((refusal) => refusal !== undefined);
    writes += results.length - refused.length;
    refusals.push(...refused);
    if (refused.length > 0) refusedStage = stage;
  }
  return { writes, refusals, lookAgainMs: waits.length === 0 ? undefined : Math.min(...waits) };
}

type Staged = { readonly stage: Stage; readonly change: Change };

/** Writes at once: new objects of one stage, which do not know each other; everything else one by one, in order. */
const batchMax = 8;

function batchesOf(changes: readonly Change[]): [Staged, ...Staged[]][] {
  const batches: [Staged, ...Staged[]][] = [];
  for (const change of changes) {
    const staged = { stage: 'desired' in change ? change.desired.stage : change.stage, change };
    const last = batches.at(-1);
    const fits = last?.[0].stage === staged.stage && last.length < batchMax;
    if (fits && change.action === 'create' && last[0].change.action === 'create') last.push(staged);
    else batches.push([staged]);
  }
  return batches;
}

function valueOf<T>(result: PromiseSettledResult<T>): T {
  if (result.status === 'rejected') throw result.reason;
  return result.value;
}

function isDrift(change: Change): change is UpdateChange {
  return change.action === 'update' && change.cause === 'drift';
}

async function carryOut(
  about: KubernetesObject,
  change: Change,
  dependencies: ActDependencies,
  bounds: RequestBounds,
): Promise<Refusal | undefined> {
  if (change.action === 'refuse') return { reason: 'NameTaken', message: change.message };
  if (change.action === 'delete') {
    await dependencies.writer.delete(change.live, bounds);
    return undefined;
  }
  const { object } = change.desired;
  return refusalOf(object, async () => {
    if (change.action === 'create') await dependencies.writer.create(object, bounds);
    else await update(about, change, dependencies, bounds);
  });
}

/**
 * Applies; where the server refuses, the lists of the spec are replaced as a whole before: an element of ours whose key somebody changed is another's
 * element to server-side apply, and ours beside it may be one too many, as two ports of one name.
 */
async function applyOver(object: KubernetesObject, { writer }: ActDependencies, bounds: RequestBounds): Promise<void> {
  try {
    await writer.apply(object, bounds);
  } catch (error) {
    const lists = Object.entries(object.spec ?? {}).filter(([, value]) => Array.isArray(value));
    if (!isApiError(error, 'refused') || lists.length === 0) throw error;
    await writer.patch(resourceOf(object), object.metadata, { spec: Object.fromEntries(lists) }, bounds);
    await writer.apply(object, bounds);
  }
}

async function update(
  about: KubernetesObject,
  change: UpdateChange,
  dependencies: ActDependencies,
  bounds: RequestBounds,
): Promise<void> {
  const { writer } = dependencies;
  const { object } = change.desired;
  if (change.cause === 'drift') await tellDrift(about, change, dependencies, bounds);
  if (change.handover !== undefined) {
    const { apiVersion, kind, metadata } = object;
    const { name, namespace = '' } = metadata;
    const handover = { apiVersion, kind, metadata: { name, namespace }, spec: { replicas: change.handover } };
    await writer.apply(handover, bounds, handoverManager);
  }
  await applyOver(object, dependencies, bounds);
  if (!change.adopt) return;
  const note = `${object.kind} ${object.metadata.name} was nobody's and is ours now`;
  await dependencies.events.record(about, { type: 'Normal', reason: 'Adopted', action: 'Adopt', note }, bounds.signal);
}

/** Who did it stands in the records of managers, which the cache does not keep. */
async function tellDrift(
  about: KubernetesObject,
  { live, fields }: UpdateChange,
  { client, events, metrics, drift }: ActDependencies,
  bounds: RequestBounds,
): Promise<void> {
  const whole = await client.get(resourceOf(live), live.metadata, bounds);
  const paths = fields.map(({ path }) => path);
  const managers = driftManagers(whole ?? live, paths);
  for (const name of managers) metrics.driftCorrected(live.kind, name);
  const object = `${live.kind} ${live.metadata.name}`;
  drift.corrected(live.metadata.uid ?? '', paths);
  const shown = paths.slice(0, shownPathsMax).join(', ');
  const note = `${managers.join(', ')} changed ${shown} of ${object}; undone`;
  await events.record(about, { type: 'Warning', reason: 'DriftCorrected', action: 'Apply', note }, bounds.signal);
}

/** Enough to know what it is about. */
const shownPathsMax = 5;

/** A name that was taken in this moment, or an object that the server will not have: no retry helps. */
async function refusalOf(object: KubernetesObject, write: () => Promise<unknown>): Promise<Refusal | undefined> {
  try {
    await write();
    return undefined;
  } catch (error) {
    const name = `${object.kind} ${object.metadata.name}`;
    if (isApiError(error, 'conflict') && error.data.causes.length > 0) {
      return { reason: 'NameTaken', message: `${name} belongs to another: ${error.message}` };
    }
    if (isApiError(error, 'refused')) return { reason: 'InvalidReference', message: error.message };
    throw error;
  }
}
