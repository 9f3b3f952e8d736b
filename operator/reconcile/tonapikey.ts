import type { Tracer } from '@opentelemetry/api';

import { decideKey, revokeFinalizer, type KeyDecision } from '../keys/key.ts';
import { secretNameOf } from '../keys/key-secret.ts';
import { expiryMs } from '../keys/rotation.ts';
import type { KubernetesClient, RequestBounds } from '../kubernetes/client.ts';
import type { Clock } from '../kubernetes/clock.ts';
import { isApiError } from '../kubernetes/errors.ts';
import type { EventRecorder } from '../kubernetes/event-recorder.ts';
import { controllerOf, keyOf, type KubernetesObject, type ObjectKey } from '../kubernetes/object.ts';
import type { Outcome, Work } from '../kubernetes/queue.ts';
import { resources } from '../kubernetes/resources.ts';
import { annotationOf, type TonApiKey, type TonApiKeyStatus } from '../resource.ts';
import { conditionOf } from '../status/conditions.ts';
import { failedConditions } from '../status/failure.ts';
import { apiKeyOf, type Caches } from './caches.ts';
import type { Consent } from './consent.ts';
import { createGrowingPauses } from './growing-pauses.ts';
import { createKeyRevocation } from './key-revocation.ts';
import { internalErrorOf } from './internal-error.ts';
import type { ReconcileMetrics } from './metrics.ts';
import type { TimeToReady } from './time-to-ready.ts';
import { refusalOf } from './refusal.ts';
import type { Revocations } from './revocations.ts';
import { spanning } from './spans.ts';
import { writeStatus } from './status-writer.ts';
import type { Keyrings } from './keyrings.ts';
import type { Writer } from './writer.ts';

type TonApiKeyDependencies = {
  readonly client: KubernetesClient;
  readonly caches: Caches;
  readonly consent: Consent;
  readonly keyrings: Keyrings;
  readonly readyTimes: TimeToReady;
  readonly revocations: Revocations;
  readonly writer: Writer;
  readonly events: EventRecorder;
  readonly metrics: ReconcileMetrics;
  readonly randomBytes: (length: number) => Buffer;
  readonly clock: Clock;
  readonly tracer: Tracer;
};

/** Pauses of a key on its way into or out of the pods. Pods that have read the keyring cause an event, so these are for a lost one. */
const underWayPauses = { firstMs: 2000, maxMs: 300_000 } as const;

/** Reasons of Ready that end by an event of the pods. A hibernating TonApi has none. */
const underWay: ReadonlySet<string | undefined> = new Set(['Propagating', 'Revoking']);

/** Makes, rotates and revokes the key of a TonApiKey, one reconcile at a time (operator/README.md#keys). */
export function createTonApiKeyReconciler(
  dependencies: TonApiKeyDependencies,
): (key: ObjectKey, work: Work) => Promise<Outcome> {
  const { caches, writer, metrics, tracer, keyrings, clock } = dependencies;
  const revocation = createKeyRevocation(dependencies);
  const pauses = createGrowingPauses(underWayPauses);

  /** The object that has the Secret's name: ours from the cache; a stranger's metadata alone. */
  async function secretOf(tonApiKey: TonApiKey, bounds: RequestBounds): Promise<KubernetesObject | undefined> {
    const { namespace = '' } = tonApiKey.metadata;
    const name = { namespace, name: secretNameOf(tonApiKey) };
    const cached = caches.child('Secret', `${namespace}/${name.name}`);
    if (cached !== undefined && controllerOf(cached)?.uid === tonApiKey.metadata.uid) return cached;
    const metadata = await dependencies.client.getMetadata(resources.Secret, name, bounds);
    if (metadata === undefined) return undefined;
    const { apiVersion, kind } = resources.Secret;
    const named = { ...metadata, apiVersion, kind };
    const mayRead = controllerOf(named)?.uid === tonApiKey.metadata.uid || annotationOf(named, 'adopt') === 'true';
    return mayRead ? dependencies.client.get(resources.Secret, name, bounds) : named;
  }

  async function decide(tonApiKey: TonApiKey, bounds: RequestBounds): Promise<KeyDecision> {
    const tonApi = caches.tonApi(apiKeyOf(tonApiKey));
    return decideKey({
      tonApiKey,
      tonApi,
      permitted: tonApi !== undefined && (await dependencies.consent(tonApi, tonApiKey, bounds)),
      secret: await secretOf(tonApiKey, bounds),
      inKeyring: (id) => tonApi !== undefined && keyrings.has(tonApi, id),
      acknowledged: tonApi !== undefined && keyrings.isAcknowledged(tonApi),
      isOthers: (id) => caches.tonApiKeysWith(id).some((other) => keyOf(other) !== keyOf(tonApiKey)),
      randomBytes: dependencies.randomBytes,
      nowMs: clock.unixMs(),
    });
  }

  /** A refusal that ends the reconcile goes into the status, which would not report it otherwise. */
  async function reportedLook(tonApiKey: TonApiKey, work: Work): Promise<Outcome> {
    try {
      return await look(tonApiKey, work);
    } catch (error) {
      const refusal = refusalOf(error, work.failures) ?? internalErrorOf(error, work.failures);
      const { metadata, status } = tonApiKey;
      if (refusal !== undefined && metadata.deletionTimestamp === undefined) {
        metrics.refused(tonApiKey.kind, refusal.reason);
        const conditions = failedConditions(status?.conditions, refusal, metadata.generation, clock.unixMs());
        await tell(tonApiKey, { ...status, conditions }, work);
      }
      throw error;
    }
  }

  async function look(tonApiKey: TonApiKey, { signal }: Work): Promise<Outcome> {
    const bounds = { signal };
    const decision = await spanning(tracer, 'observe', () => decide(tonApiKey, bounds));
    const endMs = expiryMs(tonApiKey);
    metrics.keyExpiry(keyOf(tonApiKey), endMs === undefined ? undefined : endMs / 1000);
    // A pause holds changes back, not an end.
    const isEnding = tonApiKey.metadata.deletionTimestamp !== undefined;
    if (annotationOf(tonApiKey, 'paused') !== undefined && !isEnding) return { type: 'done' };
    // Before a key is made: from then on its end must be announced.
    if (decision.finalizer === 'add') await setFinalizer(tonApiKey, true, bounds);
    if (decision.secret !== undefined) await writer.apply(decision.secret, bounds);
    const isWritten = await revocation.writeToRedis(tonApiKey, decision, bounds);
    if (decision.finalizer === 'remove' && (isWritten || revocation.isOut(tonApiKey))) {
      await setFinalizer(tonApiKey, false, bounds);
      return { type: 'done' };
    }
    // The status reports the state in force. It waits for Redis, while the keyring revokes independently.
    if (!isWritten && !revocation.isOut(tonApiKey)) {
      const state = isEnding ? 'deleted' : tonApiKey.spec.disabled ? 'disabled' : undefined;
      const until = 'until Redis or every pod refuses it';
      if (state !== undefined) await reportRedis(tonApiKey, `the ${state} key may be accepted ${until}`, bounds);
      return { type: 'unfinished' };
    }
    if (!isWritten && decision.restore.length > 0) {
      await reportRevoked(tonApiKey, bounds);
      return { type: 'unfinished' };
    }
    if (decision.status !== undefined) await tell(tonApiKey, decision.status, bounds);
    const ready = conditionOf(decision.status?.conditions, 'Ready');
    if (ready?.reason === 'NameTaken') return { type: 'terminal' };
    const pauseMs = pauses.next(keyOf(tonApiKey), underWay.has(ready?.reason) ? ready?.reason : undefined);
    const soonest = [decision.requeueAfterMs, pauseMs].filter((ms) => ms !== undefined);
    return soonest.length === 0 ? { type: 'done' } : { type: 'done', requeueAfterMs: Math.min(...soonest) };
  }

  /** The status gets the ids of a restored key after Redis. Until then each reconcile tries again. */
  async function reportRevoked(tonApiKey: TonApiKey, bounds: RequestBounds): Promise<void> {
    // The reason Disabled means that Redis has the ids of the status.
    if (conditionOf(tonApiKey.status?.conditions, 'Ready')?.reason === 'Disabled') return;
    await reportRedis(tonApiKey, 'Redis may still refuse the restored key', bounds);
  }

  /** The status of a key that waits for Redis. The operator's log has the error of Redis. */
  async function reportRedis(tonApiKey: TonApiKey, effect: string, bounds: RequestBounds): Promise<void> {
    const { metadata, status } = tonApiKey;
    const message = `the operator does not reach Redis; ${effect}`;
    const refusal = { reason: 'RedisUnavailable', message, retried: true } as const;
    const conditions = failedConditions(status?.conditions, refusal, metadata.generation, clock.unixMs());
    await tell(tonApiKey, { ...status, conditions }, bounds);
  }

  async function tell(tonApiKey: TonApiKey, status: TonApiKeyStatus, bounds: RequestBounds): Promise<void> {
    dependencies.readyTimes.note(tonApiKey, status.conditions);
    const before = conditionOf(tonApiKey.status?.conditions, 'Ready');
    if (!(await writeStatus(tonApiKey, status, writer, bounds))) return;
    const now = conditionOf(status.conditions, 'Ready');
    if (now === undefined || now.reason === before?.reason) return;
    const type = now.status === 'True' || underWay.has(now.reason) ? 'Normal' : 'Warning';
    const happening = { type, reason: now.reason, action: 'Reconcile', note: now.message } as const;
    await dependencies.events.record(tonApiKey, happening, bounds.signal);
  }

  async function setFinalizer(tonApiKey: TonApiKey, wanted: boolean, bounds: RequestBounds): Promise<void> {
    const { name, namespace, finalizers = [], resourceVersion } = tonApiKey.metadata;
    const others = finalizers.filter((finalizer) => finalizer !== revokeFinalizer);
    // With the version: a list of finalizers is replaced whole, and another's must not be lost.
    const metadata = { finalizers: wanted ? [...others, revokeFinalizer] : others, resourceVersion };
    try {
      caches.put(await writer.patch(resources.TonApiKey, { name, namespace }, { metadata }, bounds));
    } catch (error) {
      if (!isApiError(error, 'not_found')) throw error;
    }
  }

  return async (key, work) => {
    const tonApiKey = caches.tonApiKey(key);
    if (tonApiKey === undefined) {
      metrics.forget(key);
      pauses.next(key, undefined);
      return { type: 'done' };
    }
    const attributes = {
      'k8s.namespace.name': tonApiKey.metadata.namespace ?? '',
      'k8s.object.name': tonApiKey.metadata.name,
      'k8s.object.generation': tonApiKey.metadata.generation ?? 0,
    };
    return spanning(tracer, 'reconcile TonApiKey', () => reportedLook(tonApiKey, work), attributes);
  };
}
