import { trimmed } from '../kubernetes/cache.ts';
import type { KubernetesObject } from '../kubernetes/object.ts';

/** Trims a pod to its identity, address, readiness, template, and the states of its containers. */
export function trimmedPod(pod: KubernetesObject): KubernetesObject {
  const { apiVersion, kind, metadata, spec, status } = trimmed(pod);
  const { phase, podIP, conditions, initContainerStatuses, containerStatuses } = status ?? {};
  return {
    apiVersion,
    kind,
    metadata,
    spec: { nodeName: spec?.['nodeName'] },
    status: { phase, podIP, conditions, initContainerStatuses, containerStatuses },
  };
}
