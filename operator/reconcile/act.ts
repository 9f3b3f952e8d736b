import { handoverManager } from '../desired/names.ts';
import type { Stage } from '../desired/references.ts';
import type { Change, UpdateChange } from '../diff/diff.ts';
import { driftManagers } from '../diff/drift.ts';
import type { KubernetesClient, RequestBounds } from '../kubernetes/client.ts';
import { isApiError, type ApiError } from '../kubernetes/errors.ts';
import type { EventRecorder } from '../kubernetes/event-recorder.ts';
import type { KubernetesObject } from '../kubernetes/object.ts';
import { resourceOf } from '../kubernetes/resources.ts';
import type { Refusal } from '../status/observed.ts';
import type { DriftLog } from './drift-log.ts';
import type { ReconcileMetrics } from './metrics.ts';
import { refusalOf } from './refusal.ts';
import type { Writer } from './writer.ts';

/** Result of carrying out a plan, with its obstacles. */
export type Acted = {
  readonly writes: number;
  /** Children that the server does not take, and names that are another's. */
  readonly refusals: readonly Refusal[];
  /** Changes that were not made. */
  readonly undone: readonly Change[];
  /** First error that a retry may mend. Throw it after writing the status. */
  readonly failure: ApiError | undefined;
  /** When a correction that waits in a fight over a field is due. */
  readonly requeueAfterMs: number | undefined;
};

type ActDependencies = {
  readonly client: KubernetesClient;
  readonly writer: Writer;
  readonly events: EventRecorder;
  readonly metrics: Pick<ReconcileMetrics, 'driftCorrected' | 'refused'>;
  readonly drift: DriftLog;
};

/** Later stages depend on these. If one of their objects is refused, no object of a later stage is made. */
const foundations: ReadonlySet<Stage> = new Set(['config', 'migration']);

/**
 * Carries changes out in order. An object that the server refuses holds back only the objects that depend on it.
 * An error that is not about an object ends the writes, but not the reconcile: the status must follow.
 *
 * @param failures of the resource in a row so far
 * @throws the reason of an aborted signal, and errors of the operator itself
 */
export async function act(
  about: KubernetesObject,
  changes: readonly Change[],
  dependencies: ActDependencies,
  bounds: RequestBounds,
  failures = 0,
): Promise<Acted> {
  const refused: Refused[] = [];
  const waits: number[] = [];
  const made = new Set<Change>();
  let endedBy: Stage | undefined;
  let end: ApiError | undefined;
  for (const batch of batchesOf(changes)) {
    const [{ stage }] = batch;
    if (end !== undefined || (endedBy !== undefined && stage !== endedBy)) break;
    const due = batch.filter(({ change }) => {
      const waitMs = isDrift(change) ? dependencies.drift.waitMs(change.live.metadata.uid ?? '') : 0;
      if (waitMs > 0) waits.push(waitMs);
      return waitMs === 0;
    });
    // All writes end before the first error counts: no work of this reconcile continues into the next.
    const results = await Promise.allSettled(due.map(({ change }) => carryOut(about, change, dependencies, bounds)));
    bounds.signal?.throwIfAborted();
    for (const [at, { change }] of due.entries()) if (isMade(results[at])) made.add(change);
    end = endOf(results);
    const found = results.flatMap((result) => (result.status === 'fulfilled' ? (result.value ?? []) : []));
    refused.push(...found);
    if (found.length > 0 && foundations.has(stage)) endedBy = stage;
  }
  return {
    writes: made.size,
    refusals: [
      ...refused.flatMap(({ change, error }) => refusalOfChange(change, error, failures) ?? []),
      ...(end === undefined || failures === 0 ? [] : [serverError(end)]),
    ],
    undone: changes.filter((change) => !made.has(change) && !isDrift(change)),
    failure: end ?? refused.map(({ error }) => error).find((error) => isApiError(error, 'forbidden', 'server')),
    requeueAfterMs: waits.length === 0 ? undefined : Math.min(...waits),
  };
}

/** A change that the server answered with an error about the object; without an error its name was another's before. */
type Refused = { readonly change: Change; readonly error: ApiError | undefined };

type Staged = { readonly stage: Stage; readonly change: Change };

/** Concurrent writes of new objects of one stage, which are independent. All other writes go one after the other, in order. */
const BATCH_MAX = 8;

function batchesOf(changes: readonly Change[]): [Staged, ...Staged[]][] {
  const batches: [Staged, ...Staged[]][] = [];
  for (const change of changes) {
    const staged = { stage: 'desired' in change ? change.desired.stage : change.stage, change };
    const last = batches.at(-1);
    const fits = last?.[0].stage === staged.stage && last.length < BATCH_MAX;
    if (fits && change.action === 'create' && last[0].change.action === 'create') last.push(staged);
    else batches.push([staged]);
  }
  return batches;
}

function isMade(result: PromiseSettledResult<Refused | undefined> | undefined): boolean {
  return result?.status === 'fulfilled' && result.value === undefined;
}

/** First error of the way to the server. @throws any other error, which is a bug of the operator */
function endOf(results: readonly PromiseSettledResult<unknown>[]): ApiError | undefined {
  const reasons = results.flatMap((result) => (result.status === 'rejected' ? [result.reason as unknown] : []));
  const bug = reasons.find((reason) => !isApiError(reason));
  if (bug !== undefined) throw bug;
  return reasons.find((reason) => isApiError(reason));
}

/** An error about no object, such as a kind that the server does not know any more. */
function serverError({ message }: ApiError): Refusal {
  return { reason: 'ServerError', message, retried: true };
}

function isDrift(change: Change): change is UpdateChange {
  return change.action === 'update' && change.cause === 'drift';
}

async function carryOut(
  about: KubernetesObject,
  change: Change,
  dependencies: ActDependencies,
  bounds: RequestBounds,
): Promise<Refused | undefined> {
  if (change.action === 'refuse') return { change, error: undefined };
  try {
    if (change.action === 'delete') await dependencies.writer.delete(change.live, bounds);
    else if (change.action === 'create') await dependencies.writer.create(change.desired.object, bounds);
    else await update(about, change, dependencies, bounds);
    return undefined;
  } catch (error) {
    if (!isAboutObject(error)) throw error;
    const { kind } = change.action === 'delete' ? change.live : change.desired.object;
    dependencies.metrics.refused(kind, refusalOfChange(change, error, Infinity)?.reason ?? 'ServerError');
    return { change, error };
  }
}

/** True if the refusal of a write is about its object: another owner, a value, an admission, a quota, a webhook. */
function isAboutObject(error: unknown): error is ApiError {
  if (isApiError(error, 'conflict')) return error.data.causes.length > 0;
  return isApiError(error, 'refused', 'forbidden', 'server');
}

function refusalOfChange(change: Change, error: ApiError | undefined, failures: number): Refusal | undefined {
  if (error === undefined) return change.action === 'refuse' ? nameTaken(change.message) : undefined;
  if (!isApiError(error, 'conflict')) return refusalOf(error, failures);
  const { kind, metadata } = change.action === 'delete' ? change.live : change.desired.object;
  return nameTaken(`${kind} ${metadata.name} belongs to another: ${error.message}`);
}

function nameTaken(message: string): Refusal {
  return { reason: 'NameTaken', message };
}

/**
 * Applies an object. If the server refuses, replaces the lists of the spec as a whole before a second try.
 * Somebody may have changed the key of our element. Server-side apply then sees a foreign element, and ours may duplicate it, such as two ports of
 * one name.
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
  if (change.cause === 'drift') await reportDrift(about, change, dependencies, bounds);
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

/** Reports drift. The managers are in records that the cache lacks. */
async function reportDrift(
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
  const shown = paths.slice(0, SHOWN_PATHS_MAX).join(', ');
  const note = `${managers.join(', ')} changed ${shown} of ${object}; undone`;
  await events.record(about, { type: 'Warning', reason: 'DriftCorrected', action: 'Apply', note }, bounds.signal);
}

/** Paths in a text for a person; more add no information. */
const SHOWN_PATHS_MAX = 5;
