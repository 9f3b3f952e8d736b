import { startOf } from '../kubernetes/bounded-text.ts';
import { secondsTime, type Condition } from '../kubernetes/object.ts';

/** All types of conditions that the operator sets, on a TonApi or a TonApiKey. Other types belong to other writers and stay. */
export const conditionTypes = [
  'Ready',
  'ReferencesResolved',
  'Migrated',
  'Available',
  'ConfigApplied',
  'IndexerLive',
  'MetadataRunning',
  'ScalingActive',
  'Progressing',
  'Hibernated',
  'Paused',
  'Stalled',
  'Reconciling',
] as const;

export type ConditionType = (typeof conditionTypes)[number];

/** Current finding about a condition. The previous condition gives the rest. */
export type Finding<Type extends string = ConditionType> = {
  readonly type: Type;
  readonly status: Condition['status'];
  /** CamelCase word; part of the API. */
  readonly reason: string;
  /** A sentence without its end. */
  readonly message: string;
  /** The message ends with the time since when the reason has been the same: for everything that waits. */
  readonly waits?: boolean;
};

/** Limit of the API server for a message. */
const MESSAGE_LENGTH_MAX = 32_768;

/**
 * Conditions from current findings and previous conditions. `lastTransitionTime` changes only with the status, a time in a message only with
 * the reason.
 * Equal findings give equal conditions, so a steady state writes nothing.
 */
export function settleConditions(
  findings: readonly Finding[],
  previous: readonly Condition[] | undefined,
  generation: number | undefined,
  nowMs: number,
): Condition[] {
  return findings.map((finding) => {
    const before = previous?.find(({ type }) => type === finding.type);
    const { type, status, reason } = finding;
    return {
      type,
      status,
      reason,
      message: messageOf(finding, before, nowMs),
      lastTransitionTime: before?.status === status ? before.lastTransitionTime : secondsTime(nowMs),
      ...(generation !== undefined && { observedGeneration: generation }),
    };
  });
}

/** The condition of a type. */
export function conditionOf(conditions: readonly Condition[] | undefined, type: string): Condition | undefined {
  return conditions?.find((condition) => condition.type === type);
}

function messageOf({ reason, message, waits }: Finding, before: Condition | undefined, nowMs: number): string {
  if (waits !== true) return startOf(message, MESSAGE_LENGTH_MAX);
  const since = before?.reason === reason ? /, since (\S+)$/.exec(before.message)?.[1] : undefined;
  const end = `, since ${since ?? secondsTime(nowMs)}`;
  return `${startOf(message, MESSAGE_LENGTH_MAX - end.length)}${end}`;
}

/** `1st`, `2nd`, `3rd`, `12th`. */
export function ordinal(number: number): string {
  const tens = Math.floor(number / 10) % 10;
  const suffix = tens === 1 ? undefined : ['', 'st', 'nd', 'rd'][number % 10];
  return `${number}${suffix === undefined || suffix === '' ? 'th' : suffix}`;
}
