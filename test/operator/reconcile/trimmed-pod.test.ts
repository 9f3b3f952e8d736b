import { expect, it } from 'vitest';

import type { KubernetesObject } from '#operator/kubernetes/object.ts';
import { trimmedPod } from '#operator/reconcile/trimmed-pod.ts';
import { waitingReason } from '#operator/status/pods.ts';

const waiting = { waiting: { reason: 'ImagePullBackOff', message: 'no such tag' } };
const pod: KubernetesObject = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'a', managedFields: [] },
  spec: { nodeName: 'n', volumes: [] },
  status: { phase: 'Pending', podIP: '10.0.0.1', hostIP: '10.0.0.2' },
};

it.each(['initContainerStatuses', 'containerStatuses'])('a trimmed pod has the cause of its %s', (field) => {
  const found = trimmedPod({ ...pod, status: { ...pod.status, [field]: [{ state: waiting }] } });
  expect(waitingReason(found)).toBe('ImagePullBackOff: no such tag');
});

it('a trimmed pod has no more than its identity, address, readiness and causes', () => {
  expect(trimmedPod(pod)).toMatchObject({ spec: { nodeName: 'n' }, status: { phase: 'Pending', podIP: '10.0.0.1' } });
  expect(JSON.stringify(trimmedPod(pod))).not.toMatch(/volumes|hostIP|managedFields/);
});
