import type { KubernetesObject } from '../kubernetes/object.ts';
import type { TonApi } from '../resource.ts';
import type { Finding } from './conditions.ts';
import type { Observed } from './observed.ts';

/** Type of the condition, and the reason of each condition that needs pods. Part of the API. */
const hibernated = 'Hibernated';

/** Conditions about running pods. */
const podTypes: ReadonlySet<string> = new Set(['Available', 'ConfigApplied', 'IndexerLive', 'MetadataRunning']);

/** Pods that a message names. */
const SHOWN_MAX = 3;

/** Reports if every pod of a hibernating TonApi has ended. Empty for a TonApi that does not hibernate. */
export function hibernation({ spec }: TonApi, { pods, metadataPods, otherPods = [] }: Observed): Finding[] {
  if (!spec.hibernate) return [];
  const names = [...pods, ...metadataPods, ...otherPods].filter(isRunning).map(({ metadata }) => metadata.name);
  if (names.length === 0) {
    const message = 'no pod runs; hibernate: false brings the pods back';
    return [{ type: hibernated, status: 'True', reason: hibernated, message }];
  }
  const more = names.length > SHOWN_MAX ? ` and ${names.length - SHOWN_MAX} more` : '';
  const message = `waits for pods to end: ${names.toSorted().slice(0, SHOWN_MAX).join(', ')}${more}`;
  return [{ type: hibernated, status: 'False', reason: 'PodsEnding', message, waits: true }];
}

/** A condition about running pods, as it is in hibernation. A condition about something that is not wanted stays. */
export function inHibernation({ spec }: TonApi, finding: Finding): Finding {
  const { type, reason } = finding;
  if (!spec.hibernate || !podTypes.has(type) || reason === 'NotWanted') return finding;
  return { type, status: 'False', reason: hibernated, message: 'no pod is wanted in hibernation' };
}

/** Ready of a TonApi whose pods have all ended, as its author wants. */
export const readyInHibernation = {
  type: 'Ready',
  status: 'True',
  reason: hibernated,
  message: 'no pod runs, as hibernate asks; nothing is served',
} as const;

function isRunning({ status }: KubernetesObject): boolean {
  const phase = status?.['phase'];
  return phase !== 'Succeeded' && phase !== 'Failed';
}
