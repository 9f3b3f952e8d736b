import type { Condition } from '../kubernetes/object.ts';
import { settleConditions } from './conditions.ts';
import type { Refusal } from './observed.ts';

/** Conditions that describe the state of a resource as a whole. */
const standings: ReadonlySet<string> = new Set(['Ready', 'Stalled', 'Reconciling']);

/**
 * Conditions of a resource whose reconcile ended by a refusal before a summary: not Ready, with the server's words.
 * The other conditions stay.
 */
export function failedConditions(
  previous: readonly Condition[] | undefined,
  refusal: Refusal,
  generation: number | undefined,
  nowMs: number,
): Condition[] {
  const { reason, message } = refusal;
  const standing = refusal.retried === true ? 'Reconciling' : 'Stalled';
  const findings = [
    { type: 'Ready', status: 'False', reason, message, waits: true },
    { type: standing, status: 'True', reason, message, waits: true },
  ] as const;
  const others = (previous ?? []).filter(({ type }) => !standings.has(type));
  return [...settleConditions(findings, previous, generation, nowMs), ...others];
}
