import { publicUrl } from '../desired/exposure.ts';
import { isReservedSecretName } from '../desired/names.ts';
import { judgeAdoption } from '../diff/adoption.ts';
import { compareFields } from '../diff/compare.ts';
import { secondsTime, type KubernetesObject } from '../kubernetes/object.ts';
import { group, isFrozen, type TonApi, type TonApiKey, type TonApiKeyStatus } from '../resource.ts';
import { conditionOf, settleConditions, type Finding } from '../status/conditions.ts';
import { planInForce } from './keyring.ts';
import { idsOf, keySecret, readMaterial, secretNameOf, type KeyMaterial } from './key-secret.ts';
import { hasExpired, nextDueMs, rotate, rotationMs } from './rotation.ts';
import { unreadableTimes } from './stored-times.ts';
import { unknownOperations } from './unknown-operations.ts';

/** Finalizer: a deleted TonApiKey stays until its key is out of force everywhere (operator/README.md#finalizers). */
export const revokeFinalizer = `${group}/revoke`;

/** Observed state of a TonApiKey. */
export type KeyInput = {
  readonly tonApiKey: TonApiKey;
  readonly tonApi: TonApi | undefined;
  /** True if the TonApi allows keys of this namespace. */
  readonly permitted: boolean;
  /** Object with the Secret's name, of any owner. */
  readonly secret: KubernetesObject | undefined;
  /** True if the stored keyring Secrets contain the id. */
  readonly inKeyring: (id: string) => boolean;
  /** True if every ready pod has loaded the stored keyring. */
  readonly acknowledged: boolean;
  /** True if the status of another TonApiKey has the id. The id is then not ours, even if our Secret has it. */
  readonly isOthers: (id: string) => boolean;
  readonly randomBytes: (length: number) => Buffer;
  readonly nowMs: number;
};

/** Actions for a TonApiKey. */
export type KeyDecision = {
  /** To be applied; undefined when the Secret is as it must be, or is not ours to write. */
  readonly secret: KubernetesObject | undefined;
  /** Ids to refuse from now on, independent of a pod's keyring. Put them into the revocation set. */
  readonly revoke: readonly string[];
  /** Ids that a Secret restored, for example from a backup. Remove them from the revocation set before the status has them. */
  readonly restore: readonly string[];
  /** `add` before a key is made; `remove` only when `revoke` has been carried out. */
  readonly finalizer: 'add' | 'keep' | 'remove';
  /** Undefined for a key whose finalizer goes. */
  readonly status: TonApiKeyStatus | undefined;
  /** Time of the next reconcile without an event. */
  readonly requeueAfterMs: number | undefined;
};

/** Decides everything about one TonApiKey: Secret, rotation, revocation, status. Pure except for the given randomness. */
export function decideKey(input: KeyInput): KeyDecision {
  const { tonApiKey, tonApi, secret } = input;
  const adoption = judgeAdoption(secret, tonApiKey.metadata.uid ?? '');
  const mayRead = adoption.verdict === 'ours' || adoption.verdict === 'adopt';
  const stored = mayRead && secret !== undefined ? ownMaterial(secret, input.isOthers) : undefined;
  if (tonApiKey.metadata.deletionTimestamp !== undefined) return endOf(input, stored);
  const finalizer = tonApiKey.metadata.finalizers?.includes(revokeFinalizer) === true ? 'keep' : 'add';
  const problem = referenceProblem(input, stored);
  const plan = tonApi && planInForce(tonApi, tonApiKey, stored);
  const unfit = nameProblem(tonApiKey, adoption);
  if (tonApi === undefined || plan === undefined || !input.permitted || unfit !== undefined) {
    return {
      secret: undefined,
      revoke: [],
      restore: [],
      finalizer,
      requeueAfterMs: undefined,
      status: statusOf(input, stored, problem, unfit),
    };
  }
  const material = rotate({
    ...input,
    plan,
    material: stored,
    inForce: (id) => input.acknowledged && input.inKeyring(id),
  });
  const wanted = keySecret(tonApiKey, material, publicUrl(tonApi));
  const due = nextDueMs(tonApiKey, material, input.nowMs);
  return {
    secret: isApplied(wanted, secret) ? undefined : wanted,
    revoke: lost(input, stored),
    restore: broughtBack(tonApiKey, stored),
    finalizer,
    requeueAfterMs: due === undefined ? undefined : due - input.nowMs,
    status: statusOf(input, material, problem, undefined),
  };
}

/** Key of a Secret, unless the Secret has the id of another key. */
function ownMaterial(secret: KubernetesObject, isOthers: (id: string) => boolean): KeyMaterial | undefined {
  const material = readMaterial(secret);
  return material === undefined || idsOf(material).some(isOthers) ? undefined : material;
}

/**
 * Decides about a deleted key: every id goes into the revocation set. The resource goes when no keyring has the ids any more.
 * The keyring of a paused or planned TonApi does not change, so there the revocation set alone ends the key. Without the TonApi no pod is left.
 */
function endOf({ tonApiKey, tonApi, inKeyring, nowMs }: KeyInput, material: KeyMaterial | undefined): KeyDecision {
  const { metadata, status } = tonApiKey;
  const ids = [...new Set([...(status?.activeKeyIds ?? []), ...(material ? idsOf(material) : [])])];
  const gone = tonApi === undefined;
  const isOver = gone || isFrozen(tonApi) || !ids.some(inKeyring);
  const waits = notReady('Revoking', 'the deleted key is refused by Redis and stays until no keyring has it');
  const findings = [waits, ...standing(waits)];
  return {
    secret: undefined,
    revoke: gone ? [] : ids,
    restore: [],
    finalizer: isOver ? 'remove' : 'keep',
    status: isOver
      ? undefined
      : { ...status, conditions: settleConditions(findings, status?.conditions, metadata.generation, nowMs) },
    requeueAfterMs: undefined,
  };
}

/** Ids that were in force and whose Secret is gone or overwritten. A reader of the old Secret could still use them, so they must end. */
function lost({ tonApiKey, inKeyring }: KeyInput, stored: KeyMaterial | undefined): string[] {
  const present = new Set(stored && idsOf(stored));
  return (tonApiKey.status?.activeKeyIds ?? []).filter((id) => !present.has(id) && inKeyring(id));
}

/** Ids of a Secret that the status lacks. They may have been revoked with this key or an earlier key of the same name. */
function broughtBack({ spec, status }: TonApiKey, stored: KeyMaterial | undefined): string[] {
  if (stored === undefined || spec.disabled) return [];
  return idsOf(stored).filter((id) => status?.activeKeyIds?.includes(id) !== true);
}

type Problem = { readonly reason: string; readonly message: string };

/** Why the Secret's name cannot be used. A stored key may have a name that the definition refuses today. */
function nameProblem({ metadata, spec }: TonApiKey, adoption: ReturnType<typeof judgeAdoption>): Problem | undefined {
  const name = spec.secretName ?? metadata.name;
  if (isReservedSecretName(name)) {
    const field = spec.secretName === undefined ? 'metadata.name' : 'spec.secretName';
    const message = `${field}: expected a name that does not end in -keyring-NUMBER, got ${name}`;
    return { reason: 'NameReserved', message };
  }
  return adoption.verdict === 'taken' ? { reason: 'NameTaken', message: adoption.message } : undefined;
}

function referenceProblem(
  { tonApiKey, tonApi, permitted }: KeyInput,
  material: KeyMaterial | undefined,
): Problem | undefined {
  const { apiRef, plan } = tonApiKey.spec;
  const name = `TonApi ${apiRef.namespace ?? tonApiKey.metadata.namespace}/${apiRef.name}`;
  if (tonApi === undefined) return { reason: 'TonApiNotFound', message: `${name} is not there` };
  if (!permitted) {
    return { reason: 'RefNotPermitted', message: `${name} allows no keys of this namespace; its spec.keys decides` };
  }
  if (tonApi.spec.plans.some((known) => known.name === plan)) return undefined;
  const inForce = planInForce(tonApi, tonApiKey, material);
  const consequence = inForce === undefined ? 'no key is made until it is there' : `plan ${inForce} stays in force`;
  return { reason: 'PlanNotFound', message: `${name} has no plan ${plan}; ${consequence}` };
}

function statusOf(
  input: KeyInput,
  material: KeyMaterial | undefined,
  problem: Problem | undefined,
  unfit: Problem | undefined,
): TonApiKeyStatus {
  const { tonApiKey, nowMs } = input;
  const { metadata, status: previous } = tonApiKey;
  const rotatesMs = material && !hasExpired(tonApiKey, nowMs) ? rotationMs(tonApiKey, material) : undefined;
  const ready = readiness(input, material, problem, unfit);
  const findings: Finding[] = [ready, resolution(tonApiKey, problem), ...standing(ready)];
  return {
    ...(metadata.generation !== undefined && { observedGeneration: metadata.generation }),
    secretName: secretNameOf(tonApiKey),
    ...(material && {
      keyId: material.keyId,
      activeKeyIds: idsOf(material),
      lastRotationTime: material.since,
      ...(material.trigger !== undefined && { lastHandledTrigger: material.trigger }),
    }),
    ...(rotatesMs !== undefined && { nextRotationTime: secondsTime(rotatesMs) }),
    conditions: settleConditions(findings, previous?.conditions, metadata.generation, nowMs),
  };
}

/** A name that no operation has leaves the key in force: its other names work. */
function resolution(tonApiKey: TonApiKey, problem: Problem | undefined): Finding {
  const type = 'ReferencesResolved';
  if (problem !== undefined) return { type, status: 'False', ...problem, waits: true };
  const unknown = unknownOperations(tonApiKey);
  if (unknown !== undefined) return { type, status: 'False', reason: 'OperationNotFound', message: unknown };
  return { type, status: 'True', reason: 'Resolved', message: 'the TonApi and its plan are there' };
}

function readiness(
  { tonApiKey, tonApi, inKeyring, acknowledged, nowMs }: KeyInput,
  material: KeyMaterial | undefined,
  problem: Problem | undefined,
  unfit: Problem | undefined,
): Finding {
  const { spec, status } = tonApiKey;
  const { disabled, expiresAt } = spec;
  if (unfit !== undefined) return notReady(unfit.reason, unfit.message);
  if (problem !== undefined) return notReady(problem.reason, problem.message);
  if (disabled) return notReady('Disabled', 'the key is out of force until disabled is false again');
  if (hasExpired(tonApiKey, nowMs)) return notReady('Expired', `the key has expired at ${expiresAt}`);
  const unreadable = unreadableTimes(tonApiKey);
  if (unreadable !== undefined) return notReady('InvalidValue', unreadable);
  const wasReady = status?.keyId === material?.keyId && conditionOf(status?.conditions, 'Ready')?.reason === 'InForce';
  // Ready is permanent once every pod has loaded the key. Later changes of the keyring for other keys do not reset it.
  if (material === undefined || !inKeyring(material.keyId) || !(acknowledged || wasReady)) {
    if (tonApi?.spec.hibernate) return notReady('Hibernated', 'the pods get the key when hibernate is false');
    return notReady('Propagating', 'waits for every pod to know the key');
  }
  return { type: 'Ready', status: 'True', reason: 'InForce', message: 'every pod knows the key' };
}

/** Reasons that end without a person: the operator, or the author of the TonApi, is at work. */
const underWay: ReadonlySet<string> = new Set(['Propagating', 'Revoking', 'TonApiNotFound']);

/** Reasons that only a person ends. */
const endReasons: ReadonlySet<string> = new Set(['NameTaken', 'NameReserved', 'InvalidValue']);

/** State of a key that is not Ready, by kstatus. A disabled or expired key is as its author wants it. */
function standing({ status, reason, message, waits }: Finding): Finding[] {
  const type = endReasons.has(reason) ? 'Stalled' : underWay.has(reason) ? 'Reconciling' : undefined;
  if (status === 'True' || type === undefined) return [];
  return [{ type, status: 'True', reason, message, ...(waits !== undefined && { waits }) }];
}

function notReady(reason: string, message: string): Finding {
  return { type: 'Ready', status: 'False', reason, message, waits: true };
}

function isApplied(wanted: KubernetesObject, live: KubernetesObject | undefined): boolean {
  return live !== undefined && compareFields(wanted, live).length === 0;
}
