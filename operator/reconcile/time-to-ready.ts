import type { Clock } from '../kubernetes/clock.ts';
import { keyOf, type Condition, type KubernetesObject } from '../kubernetes/object.ts';
import { conditionOf } from '../status/conditions.ts';
import type { ReconcileMetrics } from './metrics.ts';

/** Takes the time from a change of a resource until it is Ready with it. */
export type TimeToReady = {
  /** Records a reconcile: the status as found, and the conditions as reported now. */
  note(found: KubernetesObject, conditions: readonly Condition[] | undefined): void;
};

/** Changes that are waited for; the oldest are given up first. */
const PENDING_MAX = 10_000;

export function createTimeToReady({
  clock,
  metrics,
}: {
  readonly clock: Clock;
  readonly metrics: Pick<ReconcileMetrics, 'ready'>;
}): TimeToReady {
  /** Kind and key -> the generation that is waited for, since when. */
  const pending = new Map<string, { readonly generation: number; readonly sinceMs: number }>();

  return {
    note(found, conditions) {
      const place = `${found.kind} ${keyOf(found)}`;
      const { generation = 0 } = found.metadata;
      const isNew = found.status?.['observedGeneration'] !== generation;
      if (isNew && pending.get(place)?.generation !== generation) {
        pending.delete(place);
        pending.set(place, { generation, sinceMs: clock.now() });
        const [oldest] = pending.keys();
        if (pending.size > PENDING_MAX && oldest !== undefined) pending.delete(oldest);
      }
      const waited = pending.get(place);
      if (waited?.generation !== generation || conditionOf(conditions, 'Ready')?.status !== 'True') return;
      pending.delete(place);
      metrics.ready(found.kind, (clock.now() - waited.sinceMs) / 1000);
    },
  };
}
