import { expect, it } from 'vitest';

import type { KubernetesObject } from '#operator/kubernetes/object.ts';
import type { Observed } from '#operator/status/observed.ts';
import type { PodSays } from '#operator/status/pods.ts';
import { indexing } from '#operator/status/findings.ts';
import { sample } from '#test/operator/desired/samples.ts';

function pod(component: string, status: Record<string, unknown>): KubernetesObject {
  const labels = { 'app.kubernetes.io/component': component };
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name: component, uid: component, labels }, status };
}

const pulling = { containerStatuses: [{ state: { waiting: { reason: 'ImagePullBackOff', message: 'no such tag' } } }] };
const isReady = { conditions: [{ type: 'Ready', status: 'True' }] };

function messageWith(otherPods: readonly KubernetesObject[], changes: Partial<Observed> = {}): string {
  const observed = { indexer: undefined, migration: { state: 'current' }, otherPods, says: new Map(), ...changes };
  return indexing(sample('full'), observed as unknown as Observed).message;
}

it('an index that says nothing has the cause of its pods', () => {
  const head = 'waits for the indexer to say how far it is';
  expect(messageWith([pod('indexer', pulling)])).toBe(`${head}; ImagePullBackOff: no such tag`);
  expect(messageWith([pod('redis', pulling)])).toBe(head);
  expect(messageWith([pod('indexer', isReady)])).toBe(head);
});

it('an index that stands still or catches up has the words of its pods that are not ready', () => {
  const says = new Map<string, PodSays>([
    ['indexer', { version: '1', configHash: 'a', liteServers: undefined, reasons: ['the database is away'] }],
  ]);
  const otherPods = [pod('indexer', {})];
  expect(messageWith(otherPods, { indexer: 'Stalled', says })).toBe(
    'no block was written for too long; the database is away',
  );
  expect(messageWith(otherPods, { indexer: 'CatchingUp', says })).toBe(
    'catches up with the chain; the database is away',
  );
  expect(messageWith(otherPods, { indexer: 'Live', says })).toBe('the index follows the chain');
});
