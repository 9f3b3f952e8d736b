import type { KubernetesObject } from '../kubernetes/object.ts';

/** What a pod says of itself on its internal status page. */
export type PodReport = {
  readonly version: string | undefined;
  /** Of the hot configuration in force. */
  readonly configHash: string | undefined;
  readonly keyringSha256: string | undefined;
  readonly liteServers: { readonly usable: number; readonly total: number } | undefined;
};

/** Asks pods; what does not answer has no report. */
export type PodReports = {
  /** Reports of the pods by UID, of ready ones only. */
  read(pods: readonly KubernetesObject[], signal: AbortSignal): Promise<ReadonlyMap<string, PodReport>>;
};

/** Reads a page of a pod: JSON or text as it comes. */
export type PodFetch = (address: string, port: number, path: string, signal: AbortSignal) => Promise<string>;

/** A pod on the same network that does not answer its status page in this time has other worries. */
const readTimeoutMs = 1500;

/** Pods asked at once. */
const readsAtOnceMax = 32;

/** Pages of a status are some kilobytes. */
export const pageBytesMax = 4 * 1024 * 1024;

export function createPodReports(
  { port }: { readonly port: number },
  { fetchPage }: { readonly fetchPage: PodFetch },
): PodReports {
  async function readOne(pod: KubernetesObject, signal: AbortSignal): Promise<PodReport | undefined> {
    const address = podAddress(pod);
    if (address === undefined) return undefined;
    try {
      const bounded = AbortSignal.any([signal, AbortSignal.timeout(readTimeoutMs)]);
      return reportOf(JSON.parse(await fetchPage(address, port, '/status', bounded)));
    } catch {
      // A pod that cannot say is treated as one that has not taken over: the next look asks again.
      signal.throwIfAborted();
      return undefined;
    }
  }

  return {
    async read(pods, signal) {
      const waiting = pods.filter(isReady);
      const reports = new Map<string, PodReport>();
      const worker = async (): Promise<void> => {
        for (let pod = waiting.pop(); pod !== undefined; pod = waiting.pop()) {
          const report = await readOne(pod, signal);
          if (report !== undefined) reports.set(pod.metadata.uid ?? '', report);
        }
      };
      await Promise.all(Array.from({ length: Math.min(readsAtOnceMax, waiting.length) }, worker));
      return reports;
    },
  };
}

/** Takes traffic: Ready, and not on its way out. */
export function isReady({ metadata, status }: KubernetesObject): boolean {
  const conditions = (status?.['conditions'] ?? []) as readonly { type: string; status: string }[];
  const ready = conditions.some(({ type, status: value }) => type === 'Ready' && value === 'True');
  return ready && metadata.deletionTimestamp === undefined;
}

export function podAddress({ status }: KubernetesObject): string | undefined {
  const address = status?.['podIP'];
  return typeof address === 'string' && address !== '' ? address : undefined;
}

/** Phase of a lite server in which reads may go to it. */
const usablePhase = 'in';

/** Reads a status page with nothing believed: the pod may run any release. */
function reportOf(page: unknown): PodReport {
  const fields = fieldsOf(page);
  const servers = fields['liteServers'];
  const keyring = fieldsOf(fields['keyring']);
  return {
    version: textOf(fields['version']),
    configHash: textOf(fields['configHash']),
    keyringSha256: textOf(keyring['sha256']),
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
