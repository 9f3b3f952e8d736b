import type { KubernetesObject } from '../kubernetes/object.ts';
import { indexStates, type PodSays } from '../status/pods.ts';

/** Report of a pod on its internal status page. The keyring's hash is of the content of the files. */
export type PodReport = PodSays & { readonly keyringSha256: string | undefined };

/** Asks pods; what does not answer has no report. */
export type PodReports = {
  /** Reports by UID. Pods that are not ready report their reason. */
  read(pods: readonly KubernetesObject[], signal: AbortSignal): Promise<ReadonlyMap<string, PodReport>>;
};

/** Reads a page of a pod: JSON or text as it comes. */
export type PodFetch = (address: string, port: number, path: string, signal: AbortSignal) => Promise<string>;

/** A pod on the same network that does not answer its status page in this time has other worries. */
const READ_TIMEOUT_MS = 1500;

/** Pods asked at once. */
const READS_AT_ONCE_MAX = 32;

/** Pages of a status are some kilobytes. */
export const PAGE_BYTES_MAX = 4 * 1024 * 1024;

export function createPodReports(
  { port }: { readonly port: number },
  { fetchPage }: { readonly fetchPage: PodFetch },
): PodReports {
  async function readOne(pod: KubernetesObject, signal: AbortSignal): Promise<PodReport | undefined> {
    const address = podAddress(pod);
    if (address === undefined) return undefined;
    try {
      const bounded = AbortSignal.any([signal, AbortSignal.timeout(READ_TIMEOUT_MS)]);
      return reportOf(JSON.parse(await fetchPage(address, port, '/status', bounded)));
    } catch {
      // A pod that cannot report counts as not updated; the next reconcile asks again.
      signal.throwIfAborted();
      return undefined;
    }
  }

  return {
    async read(pods, signal) {
      const waiting = pods.filter(
        (pod) => podAddress(pod) !== undefined && pod.metadata.deletionTimestamp === undefined,
      );
      const reports = new Map<string, PodReport>();
      const worker = async (): Promise<void> => {
        for (let pod = waiting.pop(); pod !== undefined; pod = waiting.pop()) {
          const report = await readOne(pod, signal);
          if (report !== undefined) reports.set(pod.metadata.uid ?? '', report);
        }
      };
      await Promise.all(Array.from({ length: Math.min(READS_AT_ONCE_MAX, waiting.length) }, worker));
      return reports;
    },
  };
}

/** IP address of a pod; undefined until the pod has one. */
export function podAddress({ status }: KubernetesObject): string | undefined {
  const address = status?.['podIP'];
  return typeof address === 'string' && address !== '' ? address : undefined;
}

/** Phase of a lite server in which reads may go to it. */
const usablePhase = 'in';

/** Reads a status page and validates every field: the pod may run any release. */
function reportOf(page: unknown): PodReport {
  const fields = fieldsOf(page);
  const servers = fields['liteServers'];
  const keyring = fieldsOf(fields['keyring']);
  return {
    version: textOf(fields['version']),
    configHash: textOf(fields['configHash']),
    keyringSha256: textOf(keyring['sha256']),
    index: indexStates.find((state) => state === fieldsOf(fields['index'])['state']),
    reasons: Array.isArray(fields['reasons']) ? fields['reasons'].map(String) : undefined,
    liteServers: Array.isArray(servers)
      ? {
          usable: servers.filter((server) => fieldsOf(server)['phase'] === usablePhase).length,
          total: servers.length,
        }
      : undefined,
  };
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
