import { secondsTime } from '../kubernetes/object.ts';
import type { TonApiKey } from '../resource.ts';
import { durationMs, makeKey, readDurationMs } from '../service-config.ts';
import { hashText, PREVIOUS_MAX, type KeyMaterial } from './key-secret.ts';

/**
 * Longest wait before the customer gets the next key. The customer gets it earlier when every ready pod has it.
 * The kubelet refreshes key files within a minute and a half. A pod still without the key has other faults.
 */
export const STAGE_MS = 180_000;

type RotationInput = {
  readonly tonApiKey: TonApiKey;
  /** Plan in force. */
  readonly plan: string;
  /** Undefined without a Secret, or with one that holds no key of ours. */
  readonly material: KeyMaterial | undefined;
  /** True if every ready pod has the id. */
  readonly inForce: (id: string) => boolean;
  readonly randomBytes: (length: number) => Buffer;
  readonly nowMs: number;
};

/**
 * Returns the next state of a key (operator/README.md#keys): a new key, a step of its rotation, or without expired keys.
 * Returns the same object if nothing is due.
 */
export function rotate(input: RotationInput): KeyMaterial {
  const { tonApiKey, material, plan, nowMs } = input;
  const now = secondsTime(nowMs);
  const trigger = tonApiKey.spec.rotation?.trigger;
  const noted = trigger === undefined ? {} : { trigger };
  if (material === undefined) {
    const { key, id } = makeKey(input.randomBytes);
    return { key, keyId: id, since: now, plan, ...noted, previous: [] };
  }
  const published = publish(material, input);
  const live = published.previous.filter(({ notAfter }) => Date.parse(notAfter) > nowMs);
  const current = live.length === published.previous.length ? published : { ...published, previous: live };
  const planned = current.plan === plan ? current : { ...current, plan };
  if (planned.next !== undefined || !isDue(tonApiKey, planned, nowMs)) return planned;
  const { key, id } = makeKey(input.randomBytes);
  return { ...planned, next: { key, keyId: id, since: now, ...noted } };
}

/**
 * Time of the next change without an event, Unix milliseconds, always after `nowMs`.
 * Undefined when there is none: after expiry, the Secret has no key in force.
 */
export function nextDueMs(tonApiKey: TonApiKey, material: KeyMaterial, nowMs: number): number | undefined {
  if (hasExpired(tonApiKey, nowMs)) return undefined;
  const times = [
    material.next ? Date.parse(material.next.since) + STAGE_MS : rotationMs(tonApiKey, material),
    ...material.previous.map(({ notAfter }) => Date.parse(notAfter)),
    expiryMs(tonApiKey),
  ].filter((time): time is number => time !== undefined && time > nowMs);
  return times.length === 0 ? undefined : Math.min(...times);
}

/** When the key changes by itself, Unix milliseconds. Undefined: never, or at a time that cannot be read. */
export function rotationMs({ spec }: TonApiKey, { since }: KeyMaterial): number | undefined {
  const every = spec.rotation?.every;
  const everyMs = every === undefined ? undefined : durationMs(every);
  return everyMs === undefined ? undefined : Date.parse(since) + everyMs;
}

/** True from the moment on that `expiresAt` names. */
export function hasExpired({ spec }: TonApiKey, nowMs: number): boolean {
  return (expiryMs({ spec }) ?? Infinity) <= nowMs;
}

/** When the key expires, Unix milliseconds. Undefined: never, or at a time that cannot be read. */
export function expiryMs({ spec: { expiresAt } }: Pick<TonApiKey, 'spec'>): number | undefined {
  const ms = expiresAt === undefined ? NaN : Date.parse(expiresAt);
  return Number.isNaN(ms) ? undefined : ms;
}

/** A key that has expired is not rotated: its successor would be out of force as well. */
function isDue(tonApiKey: TonApiKey, material: KeyMaterial, nowMs: number): boolean {
  if (hasExpired(tonApiKey, nowMs)) return false;
  const trigger = tonApiKey.spec.rotation?.trigger;
  const at = rotationMs(tonApiKey, material);
  return (trigger !== undefined && trigger !== material.trigger) || (at !== undefined && nowMs >= at);
}

/** The customer gets the next key when every pod has it. The previous key stays in force until the overlap ends. */
function publish(material: KeyMaterial, { tonApiKey, inForce, nowMs }: RotationInput): KeyMaterial {
  const { next, key, keyId, plan, trigger, previous } = material;
  if (next === undefined || !(inForce(next.keyId) || nowMs >= Date.parse(next.since) + STAGE_MS)) return material;
  const overlapMs = durationMs(tonApiKey.spec.rotation?.overlap ?? '') ?? readDurationMs(defaultOverlap);
  const noted = next.trigger ?? trigger;
  return {
    key: next.key,
    keyId: next.keyId,
    since: secondsTime(nowMs),
    plan,
    ...(noted !== undefined && { trigger: noted }),
    previous: [...previous, { id: keyId, sha256: hashText(key), notAfter: secondsTime(nowMs + overlapMs) }].slice(
      -PREVIOUS_MAX,
    ),
  };
}

/** Default of the custom resource. It holds for a rotating key whose `rotation` was removed, or whose overlap cannot be read. */
const defaultOverlap = '24h';
