import { trace } from '@opentelemetry/api';
import { describe, expect, it } from 'vitest';

import type { KubernetesObject } from '#operator/kubernetes/object.ts';
import { createTonApiReconciler } from '#operator/reconcile/tonapi.ts';
import type { TonApi } from '#operator/resource.ts';
import { sample } from '#test/operator/desired/samples.ts';
import { createVirtualClock } from '#test/support/virtual-clock.ts';

type Dependencies = Parameters<typeof createTonApiReconciler>[0];

const ignore = (): void => undefined;

/** Reconciles a TonApi whose observation throws, after earlier failures. Returns the written statuses and the events. */
async function failing(error: Error, failures: number) {
  const statuses: KubernetesObject[] = [];
  const events: string[] = [];
  const tonApi: TonApi = sample('smallest');
  const dependencies = {
    caches: {
      tonApi: () => tonApi,
      children: () => [],
      pods: () => {
        throw error;
      },
    },
    writer: { applyStatus: async (object: KubernetesObject) => void statuses.push(object) },
    events: { record: async (_: unknown, { reason }: { reason: string }) => void events.push(reason) },
    metrics: { tonApi: ignore },
    rollouts: { hasBegun: () => true },
    tracer: trace.getTracer('test'),
    clock: createVirtualClock(),
  } as unknown as Dependencies;
  const reconcile = createTonApiReconciler(dependencies);
  await expect(reconcile('ton/api', { signal: new AbortController().signal, failures })).rejects.toBe(error);
  return { conditions: statuses.flatMap(({ status }) => status?.['conditions'] as object[]), events };
}

describe('an unexpected error of a reconcile', () => {
  it('is in the status and in an event, with its words', async () => {
    const { conditions, events } = await failing(new TypeError('Invalid URL'), 1);
    const found = { reason: 'InternalError', message: expect.stringContaining('TypeError: Invalid URL') };
    expect(conditions).toMatchObject([
      { type: 'Ready', status: 'False', ...found },
      { type: 'Stalled', status: 'True', ...found },
    ]);
    expect(events).toEqual(['InternalError', 'InternalError']);
  });

  it('is only tried again at the first time', async () => {
    expect(await failing(new TypeError('Invalid URL'), 0)).toEqual({ conditions: [], events: [] });
  });
});
