import type { KubernetesObject } from '../kubernetes/object.ts';
import { isReadyPod } from '../status/pods.ts';
import type { PodReport } from './pod-reports.ts';

/** Ready pods that have not loaded the stored configuration or keyring, and the time to ask them again. */
export type Acknowledgement = {
  /** They say that they have another configuration or keyring. */
  readonly behind: readonly KubernetesObject[];
  /** Undefined when every ready pod has said that it has everything: then nothing but an event is worth a look. */
  readonly lookAgainMs: number | undefined;
};

/** Pods that have not taken over the configuration are asked again this soon. */
const propagatingMs = 1000;

/**
 * Pause before a silent ready pod is asked again: no event announces its answer, and the status waits for it.
 * The pod may run a release that never reports, so the pause is not shorter.
 */
const silentMs = 5000;

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
    // They know no keys.
    ...metadataPods.filter((pod) => isBehind(reportOf(pod), hotHash, undefined)),
  ];
  const isSilent = [...pods, ...metadataPods].some((pod) => reportOf(pod) === undefined);
  return { behind, lookAgainMs: behind.length > 0 ? propagatingMs : isSilent ? silentMs : undefined };
}

/** A pod that says it has another configuration or keyring than what is stored. */
function isBehind(report: PodReport | undefined, wantedHash: string, keyring: string | undefined): boolean {
  if (report === undefined) return false;
  return report.configHash !== wantedHash || (keyring !== undefined && report.keyringSha256 !== keyring);
}
