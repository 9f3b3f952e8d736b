import type { Component } from '../desired/names.ts';
import { endOf, startOf } from '../kubernetes/bounded-text.ts';
import type { KubernetesObject } from '../kubernetes/object.ts';

/** States of the index, worst first: no block written for too long; behind the chain or with gaps in its past; neither. */
export const indexStates = ['Stalled', 'CatchingUp', 'Live'] as const;
export type IndexState = (typeof indexStates)[number];

/** Report of a pod on its internal status page. */
export type PodSays = {
  readonly version: string | undefined;
  readonly configHash: string | undefined;
  readonly liteServers: { readonly usable: number; readonly total: number } | undefined;
  /** Why it is not ready, in its own words. */
  readonly reasons?: readonly string[] | undefined;
  /** Only for pods of the indexer. */
  readonly index?: IndexState | undefined;
};

/** Takes traffic: Ready, and not on its way out. */
export function isReadyPod({ metadata, status }: KubernetesObject): boolean {
  return metadata.deletionTimestamp === undefined && conditionOf(status, 'Ready')?.status === 'True';
}

type ContainerState = {
  readonly waiting?: { readonly reason?: string; readonly message?: string };
  readonly terminated?: { readonly reason?: string; readonly exitCode?: number; readonly message?: string };
};
type ContainerStatus = {
  readonly ready?: boolean;
  readonly state?: ContainerState;
  readonly lastState?: ContainerState;
};

/** Length of a container's last message in the status. */
const LAST_WORDS_MAX = 300;

/** Why the pod's containers do not run, such as `ImagePullBackOff: ...`; undefined when they do, or are about to. */
export function waitingReason({ status }: KubernetesObject): string | undefined {
  const containers = ['initContainerStatuses', 'containerStatuses'].flatMap(
    (field) => (status?.[field] ?? []) as readonly ContainerStatus[],
  );
  const [reason] = containers.map(containerReason).filter((found) => found !== undefined);
  if (reason !== undefined) return reason;
  const scheduled = conditionOf(status, 'PodScheduled');
  return scheduled?.status === 'False' ? unschedulable(scheduled.message ?? '') : undefined;
}

/**
 * The scheduler's message without the counts of nodes and the search for victims, and with its causes in one order.
 * The words stay the same while nodes come and go, so that the status is not written each time.
 */
function unschedulable(message: string): string {
  const [found = ''] = message.split(/\.? +preemption: /);
  const causes = found
    .replace(/^\d+\/\d+ nodes are available: /, '')
    .replace(/\.$/, '')
    .split(/, (?=\d+ )/);
  const words = causes.map((cause) => cause.replace(/^\d+ (node\(s\) )?/, '')).toSorted(byLetters);
  return ['no node fits', startOf([...new Set(words)].join(', '), SCHEDULER_WORDS_MAX)].filter(Boolean).join(': ');
}

/** Length of the scheduler's words in the status. */
const SCHEDULER_WORDS_MAX = 300;

function byLetters(a: string, b: string): number {
  return a.localeCompare(b, 'en');
}

/**
 * A container that ended before counts as looping while it waits for its next start, starts, or has just ended.
 * The words stay the same, so that the status is not written at each turn.
 */
function containerReason({ ready, state, lastState }: ContainerStatus): string | undefined {
  const ended = state?.terminated ?? lastState?.terminated;
  if (ended !== undefined && ready !== true && ended.exitCode !== 0) {
    const words = endOf((ended.message ?? '').trim().replaceAll(/\s+/g, ' '), LAST_WORDS_MAX);
    const cause = `exit code ${ended.exitCode} (${ended.reason ?? 'Error'})`;
    return ['CrashLoopBackOff', cause, words].filter((text) => text !== '').join(': ');
  }
  const waiting = state?.waiting;
  if (waiting === undefined || waiting.reason === 'ContainerCreating' || waiting.reason === 'PodInitializing')
    return undefined;
  return [waiting.reason, waiting.message].filter((text) => text !== undefined && text !== '').join(': ');
}

/** Reason for missing pods of a workload, in its controller's words: a quota, a missing ServiceAccount, a denied admission. */
export function replicaFailure({ status }: KubernetesObject): string | undefined {
  const conditions = (status?.['conditions'] ?? []) as readonly StatusCondition[];
  const failure = conditions.find(({ type, status: value }) => type === 'ReplicaFailure' && value === 'True');
  return failure && `ReplicaFailure: ${failure.message ?? failure.reason ?? ''}`;
}

type StatusCondition = {
  readonly type: string;
  readonly status?: string;
  readonly reason?: string;
  readonly message?: string;
};

/** Worst state of the index among reports of the indexer's pods; undefined without a report. */
export function indexState(
  pods: readonly KubernetesObject[],
  says: ReadonlyMap<string, PodSays>,
): IndexState | undefined {
  const said = new Set(indexerPods(pods).map(({ metadata }) => says.get(metadata.uid ?? '')?.index));
  return indexStates.find((state) => said.has(state));
}

/** Pods that write the index, among these. */
export function indexerPods(pods: readonly KubernetesObject[]): readonly KubernetesObject[] {
  return pods.filter(({ metadata }) => metadata.labels?.['app.kubernetes.io/component'] === indexerComponent);
}

const indexerComponent: Component = 'indexer';

/** The value that all have; undefined when they differ or there are none. */
export function unanimous(values: readonly (string | undefined)[]): string | undefined {
  const [first] = values;
  return values.every((value) => value === first) ? first : undefined;
}

/** Healthy and total lite servers, as most pods see them: a pod's broken network is not the lite server's fault. Undefined without a report. */
export function middleLiteServers(says: readonly PodSays[]): { usable: number; total: number } | undefined {
  const counts = says.flatMap(({ liteServers }) => (liteServers === undefined ? [] : [liteServers]));
  return counts.toSorted((a, b) => a.usable - b.usable)[Math.floor((counts.length - 1) / 2)];
}

/** True when the new pods of a Deployment did not become ready in their time. */
export function exceededDeadline({ status }: KubernetesObject): boolean {
  const conditions = (status?.['conditions'] ?? []) as readonly { readonly type: string; readonly reason?: string }[];
  return conditions.some(({ type, reason }) => type === 'Progressing' && reason === 'ProgressDeadlineExceeded');
}

function conditionOf(status: KubernetesObject['status'], type: string): StatusCondition | undefined {
  const conditions = (status?.['conditions'] ?? []) as readonly StatusCondition[];
  return conditions.find((condition) => condition.type === type);
}
