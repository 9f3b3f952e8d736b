import { describe, expect, it } from 'vitest';

import { buildApiBudget, fewestReady } from '#operator/desired/disruption-budget.ts';
import type { TonApi } from '#operator/resource.ts';
import { release, sample } from './samples.ts';

type Spec = TonApi['spec'];

const scaling = (minReplicas: number, maxReplicas: number): Partial<Spec> => ({
  replicas: 1,
  autoscaling: { provider: 'HPA', minReplicas, maxReplicas, targetCPUUtilization: 70, scaleDownStabilization: '5m' },
});

describe('a disruption budget', () => {
  it.each<[string, number | undefined, number, Partial<Spec>]>([
    ['no replicas', undefined, 0, { replicas: 0 }],
    ['one replica', undefined, 1, { replicas: 1 }],
    ['two replicas', 1, 1, { replicas: 2 }],
    ['five replicas', 1, 4, { replicas: 5 }],
    ['an autoscaler of four to nine', 1, 3, scaling(4, 9)],
    ['an autoscaler of one to nine', 1, 1, scaling(1, 9)],
    ['an autoscaler of one to one', undefined, 1, scaling(1, 1)],
    ['hibernation', undefined, 0, { ...scaling(4, 9), hibernate: true }],
  ])('with %s lets %s pod be away at once, and %i must be ready', (_case, maxUnavailable, ready, changes) => {
    const tonApi = sample('smallest', changes);
    expect(buildApiBudget(tonApi, release)?.object.spec?.['maxUnavailable']).toBe(maxUnavailable);
    expect(fewestReady(tonApi)).toBe(ready);
  });
});
