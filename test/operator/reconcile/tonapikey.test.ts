import { trace } from '@opentelemetry/api';
import { describe, expect, it } from 'vitest';

import type { KubernetesObject } from '#operator/kubernetes/object.ts';
import { createTonApiKeyReconciler } from '#operator/reconcile/tonapikey.ts';
import { sampleKey } from '#test/operator/desired/samples.ts';
import { createVirtualClock } from '#test/support/virtual-clock.ts';

type Dependencies = Parameters<typeof createTonApiKeyReconciler>[0];

const ignore = (): void => undefined;

describe('an unexpected error of the reconcile of a key', () => {
  it('is in the status and in an event, with its words', async () => {
    const error = new RangeError('Invalid time value');
    const statuses: KubernetesObject[] = [];
    const events: string[] = [];
    const dependencies = {
      caches: {
        tonApiKey: () => sampleKey(),
        tonApi: () => {
          throw error;
        },
      },
      writer: { applyStatus: async (object: KubernetesObject) => void statuses.push(object) },
      events: { record: async (_: unknown, { reason }: { reason: string }) => void events.push(reason) },
      readyTimes: { note: ignore },
      metrics: { refused: ignore },
      tracer: trace.getTracer('test'),
      clock: createVirtualClock(),
    } as unknown as Dependencies;
    const reconcile = createTonApiKeyReconciler(dependencies);
    const work = { signal: new AbortController().signal, failures: 1 };
    await expect(reconcile('ton/first-customer', work)).rejects.toBe(error);
    const found = { reason: 'InternalError', message: expect.stringContaining('RangeError: Invalid time value') };
    expect(statuses.flatMap(({ status }) => status?.['conditions'])).toMatchObject([
      { type: 'Ready', status: 'False', ...found },
      { type: 'Stalled', status: 'True', ...found },
    ]);
    expect(events).toEqual(['InternalError']);
  });
});
