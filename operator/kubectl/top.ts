import { metricsContainerPort } from '../desired/deployment.ts';
import type { KubernetesClient } from '../kubernetes/client.ts';
import { pause, type Clock } from '../kubernetes/clock.ts';
import { isApiError } from '../kubernetes/errors.ts';
import type { KubernetesObject } from '../kubernetes/object.ts';
import { objectPath, resources } from '../kubernetes/resources.ts';
import { PAGE_BYTES_MAX } from '../reconcile/pod-reports.ts';
import type { Cell, Column, Listing, Row } from './listing.ts';
import { readPodMetrics, trafficBetween, type PodMetrics } from './pod-metrics.ts';
import { componentOf } from './resources.ts';

/** Figures of pods, and why the figures of some pods are missing. */
export type Top = { readonly listing: Listing; readonly problems: readonly string[] };

type Reading = { readonly atMs: number; readonly metrics: PodMetrics } | { readonly problem: string };

/** A pod answers its metrics within milliseconds. */
const READ_TIMEOUT_MS = 10_000;

/** Pods asked at once. */
const READS_AT_ONCE_MAX = 16;

const rate = (cell: Cell): string => (typeof cell === 'number' ? cell.toFixed(1) : '-');
const milliseconds = (cell: Cell): string => (typeof cell === 'number' ? `${Math.round(cell * 1000)}ms` : '-');
const seconds = (cell: Cell): string => (typeof cell === 'number' ? `${cell.toFixed(1)}s` : '-');

const columns: readonly Column[] = [
  { key: 'namespace', title: 'NAMESPACE' },
  { key: 'pod', title: 'POD' },
  { key: 'api', title: 'API' },
  { key: 'component', title: 'COMPONENT' },
  { key: 'requests', title: 'REQUESTS' },
  { key: 'requestsPerSecond', title: 'REQ/S', show: rate },
  { key: 'failures', title: '5XX' },
  { key: 'p99Seconds', title: 'P99', show: milliseconds },
  { key: 'inFlight', title: 'IN-FLIGHT' },
  { key: 'liteServers', title: 'LITE-SERVERS' },
  { key: 'indexLagSeconds', title: 'INDEX-LAG', show: seconds },
  { key: 'indexLagBlocks', title: 'LAG-BLOCKS' },
];

/**
 * Reads the metrics of pods through the API server, twice with an interval between. Requests, failures and p99 are those of the interval.
 * Without an interval they are those since the start of the pod.
 */
export async function top(
  pods: readonly KubernetesObject[],
  intervalSeconds: number,
  { client, clock, signal }: { readonly client: KubernetesClient; readonly clock: Clock; readonly signal: AbortSignal },
): Promise<Top> {
  const asked = pods.filter((pod) => metricsPort(pod) !== undefined && pod.status?.['phase'] === 'Running');
  const readAll = () => inGroups(asked, (pod) => read(pod, { client, clock, signal }));
  const before = intervalSeconds === 0 ? [] : await readAll();
  await pause(clock, intervalSeconds * 1000, signal);
  signal.throwIfAborted();
  const after = await readAll();
  const rows = asked.flatMap((pod, index): Row[] => {
    const reading = after[index];
    return reading === undefined || 'problem' in reading ? [] : [rowOf(pod, before[index], reading)];
  });
  const problems = after.flatMap((reading) => ('problem' in reading ? [reading.problem] : []));
  return { listing: { columns, rows }, problems: [...new Set(problems)] };
}

function rowOf(pod: KubernetesObject, before: Reading | undefined, after: Exclude<Reading, { problem: string }>): Row {
  const first = before === undefined || 'problem' in before ? undefined : before;
  const { requests, failures, p99Seconds } = trafficBetween(first?.metrics, after.metrics);
  const { inFlight, usableLiteServers, liteServers, indexLagSeconds, indexLagBlocks } = after.metrics;
  const elapsed = first === undefined ? undefined : (after.atMs - first.atMs) / 1000;
  return {
    namespace: pod.metadata.namespace,
    pod: pod.metadata.name,
    ...componentOf(pod),
    requests,
    requestsPerSecond: requests === undefined || elapsed === undefined ? undefined : requests / elapsed,
    failures,
    p99Seconds,
    inFlight,
    liteServers: usableLiteServers === undefined ? undefined : `${usableLiteServers}/${liteServers ?? '?'}`,
    indexLagSeconds,
    indexLagBlocks,
  };
}

async function read(
  pod: KubernetesObject,
  { client, clock, signal }: { readonly client: KubernetesClient; readonly clock: Clock; readonly signal: AbortSignal },
): Promise<Reading> {
  const { name, namespace } = pod.metadata;
  const target = { namespace, name: `${name}:${metricsPort(pod)}` };
  const path = `${objectPath(resources.Pod, target)}/proxy/metrics`;
  try {
    const page = await client.text(path, PAGE_BYTES_MAX, { signal, timeoutMs: READ_TIMEOUT_MS });
    return { atMs: clock.now(), metrics: readPodMetrics(page) };
  } catch (error) {
    if (!isApiError(error)) throw error;
    const isForbidden = error.code === 'forbidden';
    return { problem: isForbidden ? forbiddenText(namespace, error.message) : unreadText(pod, error.message) };
  }
}

function forbiddenText(namespace: string | undefined, words: string): string {
  return `namespace ${namespace}: expected the right to get pods/proxy, by which top reads metrics: ${words.replace(/^GET \S+ \S+: /, '')}`;
}

function unreadText({ metadata }: KubernetesObject, words: string): string {
  return `pod ${metadata.namespace}/${metadata.name}: no metrics by the API server, which a NetworkPolicy may stop: ${words}`;
}

/** Port of the internal listener, as the pod declares it; undefined for a pod without metrics. */
function metricsPort({ spec }: KubernetesObject): number | undefined {
  const containers = (spec?.['containers'] ?? []) as readonly {
    readonly ports?: readonly { readonly name?: string; readonly containerPort: number }[];
  }[];
  const ports = containers.flatMap(({ ports: declared = [] }) => declared);
  return ports.find(({ name }) => name === metricsContainerPort.name)?.containerPort;
}

/** Calls for each item, some at once; results are in the order of the items. */
async function inGroups<T, R>(items: readonly T[], call: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (let start = 0; start < items.length; start += READS_AT_ONCE_MAX) {
    results.push(...(await Promise.all(items.slice(start, start + READS_AT_ONCE_MAX).map(call))));
  }
  return results;
}
