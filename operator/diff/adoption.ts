import { controllerOf, type KubernetesObject } from '../kubernetes/object.ts';
import { annotationOf } from '../resource.ts';

/** Verdict on a live object that has the name of a child. */
type Adoption =
  | { readonly verdict: 'absent' | 'ours' | 'adopt' }
  | { readonly verdict: 'taken'; readonly message: string };

/**
 * Judges whether we may write an object (operator/README.md#adoption). Ours: we control it. To adopt: no controller, and a person allowed it.
 * Taken otherwise, and never touched.
 */
export function judgeAdoption(live: KubernetesObject | undefined, ownerUid: string): Adoption {
  if (live === undefined) return { verdict: 'absent' };
  const controller = controllerOf(live);
  if (controller?.uid === ownerUid) return { verdict: 'ours' };
  const object = `${live.kind} ${live.metadata.name}`;
  if (controller === undefined) {
    if (annotationOf(live, 'adopt') === 'true') return { verdict: 'adopt' };
    const advice = 'delete or rename it, or annotate it with tonplane.dev/adopt="true" to hand it over';
    return { verdict: 'taken', message: `${object} is there already and nobody's; ${advice}` };
  }
  return { verdict: 'taken', message: `${object} belongs to ${controller.kind} ${controller.name}` };
}
