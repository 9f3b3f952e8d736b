import { Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';

import type { Condition } from '#operator/kubernetes/object.ts';
import { createReconcileMetrics } from '#operator/reconcile/metrics.ts';

const condition = (type: string, status: Condition['status'], reason: string): Condition => ({
  type,
  status,
  reason,
  message: '',
  lastTransitionTime: '2026-11-21T00:00:00Z',
});

describe('metrics of TonApis', () => {
  const register = new Registry();
  const metrics = createReconcileMetrics(register, { version: '1', commit: 'abc' }, { rolloutsWaiting: () => 0 });
  const replicas = { desired: 3, ready: 2, updated: 1 };
  const series = async (): Promise<string[]> =>
    (await register.metrics()).split('\n').filter((line) => line.startsWith('ton_api_'));

  it('say the status and the reason of every condition', async () => {
    const conditions = [condition('Ready', 'False', 'NoReadyPods'), condition('Progressing', 'True', 'RollingOut')];
    metrics.tonApi('ns/a', { conditions, replicas });
    expect(await series()).toEqual(
      expect.arrayContaining([
        'ton_api_condition{namespace="ns",name="a",type="Ready",status="False"} 1',
        'ton_api_condition{namespace="ns",name="a",type="Ready",status="True"} 0',
        'ton_api_condition_reason{namespace="ns",name="a",type="Ready",reason="NoReadyPods"} 1',
        'ton_api_condition_reason{namespace="ns",name="a",type="Progressing",reason="RollingOut"} 1',
        'ton_api_replicas{namespace="ns",name="a",state="ready"} 2',
      ]),
    );
  });

  it('metrics drop the earlier reason, and a condition that was removed', async () => {
    metrics.tonApi('ns/a', { conditions: [condition('Ready', 'True', 'Serving')], replicas });
    const now = await series();
    expect(now.filter((line) => line.startsWith('ton_api_condition_reason'))).toEqual([
      'ton_api_condition_reason{namespace="ns",name="a",type="Ready",reason="Serving"} 1',
    ]);
    expect(now.filter((line) => line.includes('Progressing'))).toEqual([]);
  });

  it('leave nothing of a TonApi that is gone', async () => {
    metrics.keyExpiry('ns/a', 1_900_000_000);
    metrics.forget('ns/a');
    expect(await series()).toEqual([]);
  });
});
