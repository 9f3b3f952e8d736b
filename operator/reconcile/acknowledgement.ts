import type { KubernetesObject } from '../kubernetes/object.ts';
import { isReadyPod } from '../status/pods.ts';
import type { PodReport } from './pod-reports.ts';

/** Ready pods that have not loaded the stored configuration or keyring, and the time to ask them again. */
export type Acknowledgement = {
  /** Ready pods that report another configuration or keyring. */
  readonly behind: readonly KubernetesObject[];
  /** Undefined when every ready pod has reported that it has everything. Then only an event causes a reconcile. */
  readonly requeueAfterMs: number | undefined;
};

/** Pods that have not taken over the configuration are asked again this soon. */
const PROPAGATING_MS = 1000;

/**
 * Pause before a silent ready pod is asked again: no event announces its answer, and the status waits for it.
 * The pod may run a release that never reports, so the pause is not shorter.
 */
const SILENT_MS = 5000;

/** Finds the ready pods whose report has another hash or keyring than the stored ones. A pod without a report is asked again, and does not count. */
export function acknowledgementOf(
  given: { readonly pods: readonly KubernetesObject[]; readonly metadataPods: readonly KubernetesObject[] },
  reports: ReadonlyMap<string, PodReport>,
  wanted: { readonly hotHash: string; readonly keyringSha256: string | undefined },
): Acknowledgement {
  const pods = given.pods.filter(isReadyPod);
  const metadataPods = given.metadataPods.filter(isReadyPod);
  const reportOf = ({ metadata }: KubernetesObject): PodReport | undefined => reports.get(metadata.uid ?? '');
  const { hotHash, keyringSha256 } = wanted;
  const behind = [
    ...pods.filter((pod) => isBehind(reportOf(pod), hotHash, keyringSha256)),
    // Metadata pods have no keys.
    ...metadataPods.filter((pod) => isBehind(reportOf(pod), hotHash, undefined)),
  ];
  const isSilent = [...pods, ...metadataPods].some((pod) => reportOf(pod) === undefined);
  return { behind, requeueAfterMs: behind.length > 0 ? PROPAGATING_MS : isSilent ? SILENT_MS : undefined };
}

/** True for a pod that reports a configuration or keyring other than the stored one. */
function isBehind(report: PodReport | undefined, wantedHash: string, keyring: string | undefined): boolean {
  if (report === undefined) return false;
  return report.configHash !== wantedHash || (keyring !== undefined && report.keyringSha256 !== keyring);
}
