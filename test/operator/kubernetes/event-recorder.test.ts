import { pino } from 'pino';
import { expect, it } from 'vitest';

import type { KubernetesClient } from '#operator/kubernetes/client.ts';
import { createEventRecorder } from '#operator/kubernetes/event-recorder.ts';
import type { KubernetesObject } from '#operator/kubernetes/object.ts';
import { createVirtualClock } from '#test/support/virtual-clock.ts';

it('the texts of an event have at most the bytes that the API server allows', async () => {
  const created: KubernetesObject[] = [];
  const client = { create: async (object: KubernetesObject) => void created.push(object) };
  const recorder = createEventRecorder({
    client: client as unknown as KubernetesClient,
    clock: createVirtualClock(),
    logger: pino({ enabled: false }),
    instance: 'ä'.repeat(100),
  });
  const about = { apiVersion: 'v1', kind: 'Service', metadata: { name: 'a', namespace: 'ton' } };
  await recorder.record(about, { type: 'Normal', reason: 'Applied', action: 'Apply', note: '😀'.repeat(300) });
  expect(created).toMatchObject([{ note: '😀'.repeat(256), reportingInstance: 'ä'.repeat(64) }]);
});
