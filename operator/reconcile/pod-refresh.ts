import type { Logger } from 'pino';

import { group } from '../resource.ts';
import type { RequestBounds } from '../kubernetes/client.ts';
import { isApiError } from '../kubernetes/errors.ts';
import type { KubernetesObject } from '../kubernetes/object.ts';
import { resources } from '../kubernetes/resources.ts';
import type { Writer } from './writer.ts';

/** Makes kubelets refresh the files of pods at once, by an annotation (operator/README.md#hot-and-cold-configuration). */
export type PodRefresh = {
  /** Writes to each pod once for each content. */
  pods(pods: readonly KubernetesObject[], content: string, bounds: RequestBounds): Promise<void>;
};

/** Hash of the content that the operator last announced to the pod. */
const nudgeAnnotation = `${group}/config-nudge`;

export function createPodRefresh(
  { enabled }: { readonly enabled: boolean },
  { writer, logger }: { readonly writer: Pick<Writer, 'patch'>; readonly logger: Logger },
): PodRefresh {
  let mayPatch = enabled;
  return {
    async pods(pods, content, bounds) {
      if (!mayPatch) return;
      const value = content.slice(0, 16);
      const unreported = pods.filter(({ metadata }) => metadata.annotations?.[nudgeAnnotation] !== value);
      for (const { metadata } of unreported) {
        const { name, namespace } = metadata;
        try {
          const change = { metadata: { annotations: { [nudgeAnnotation]: value } } };
          await writer.patch(resources.Pod, { name, namespace }, change, bounds);
        } catch (error) {
          if (isApiError(error, 'not_found')) continue;
          if (!isApiError(error, 'forbidden')) throw error;
          // Without the right to patch pods a change takes the kubelet's own minute and a half.
          mayPatch = false;
          logger.warn('pods may not be patched: changes of configuration wait for the kubelet');
          return;
        }
      }
    },
  };
}
