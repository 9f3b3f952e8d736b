import { describe, expect, it } from 'vitest';

import { fromStatus } from '#operator/kubernetes/errors.ts';
import type { KubernetesObject } from '#operator/kubernetes/object.ts';
import { createMountFailures } from '#operator/reconcile/mount-failures.ts';

const noonMs = Date.parse('2026-11-21T12:00:00Z');
const creating = [{ state: { waiting: { reason: 'ContainerCreating' } } }];

/** A pod that got its node this long ago. */
function pod(uid: string, scheduledMsAgo: number, status: object = {}): KubernetesObject {
  const lastTransitionTime = new Date(noonMs - scheduledMsAgo).toISOString();
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: uid, namespace: 'ton', uid },
    status: {
      phase: 'Pending',
      conditions: [{ type: 'PodScheduled', status: 'True', lastTransitionTime }],
      containerStatuses: creating,
      ...status,
    },
  };
}

const deployment: KubernetesObject = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'main-api', namespace: 'ton' },
  spec: {
    template: {
      spec: {
        volumes: [
          { name: 'redis', secret: { secretName: 'shared', items: [{ key: 'redis-url', path: 'url' }] } },
          {
            name: 'postgres',
            projected: {
              sources: [
                { secret: { name: 'host', items: [{ key: 'h', path: 'host' }] } },
                { secret: { name: 'password', items: [{ key: 'p', path: 'password' }] } },
              ],
            },
          },
          { name: 'redis-ca', configMap: { name: 'ca', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
        ],
      },
    },
  },
};

/** The verdict on pods with these words of the kubelet, and the pods whose events were read. */
async function found(pods: readonly KubernetesObject[], ...notes: readonly string[]) {
  const asked: string[] = [];
  const items = notes.map((note, minute) => ({ note, deprecatedLastTimestamp: `2026-11-21T11:0${minute}:00Z` }));
  const client = {
    list: async (_: unknown, { fieldSelector = '' }) => {
      asked.push(fieldSelector);
      return { items: items.toReversed() };
    },
  } as unknown as Parameters<typeof createMountFailures>[0]['client'];
  const failures = createMountFailures({ client, clock: { unixMs: () => noonMs } });
  const { problems, requeueAfterMs } = await failures.read(pods, [deployment], {});
  return { messages: problems.map(({ reason, message }) => `${reason}: ${message}`), requeueAfterMs, asked };
}

const failed = (volume: string, words: string): string => `MountVolume.SetUp failed for volume "${volume}" : ${words}`;

describe('a pod that waits for its mounts', () => {
  it.each([
    ['redis', 'references non-existent secret key: redis-url', 'KeyMissing: Secret shared has no key redis-url'],
    ['postgres', 'references non-existent secret key: p', 'KeyMissing: Secret password has no key p'],
    ['redis-ca', 'configmap references non-existent config key: ca.crt', 'KeyMissing: ConfigMap ca has no key ca.crt'],
  ])('names the object and the key of volume %s in the words of the kubelet', async (volume, words, message) => {
    const { messages, requeueAfterMs, asked } = await found([pod('a', 60_000)], failed(volume, words));
    expect(messages).toEqual([message]);
    expect(requeueAfterMs).toBe(60_000);
    expect(asked).toEqual(['reason=FailedMount,regarding.uid=a']);
  });

  it('is asked about by its newest event alone, whatever else it is about', async () => {
    const first = failed('redis', 'references non-existent secret key: redis-url');
    expect((await found([pod('a', 60_000)], first, failed('redis', 'timed out'))).messages).toEqual([]);
    const { messages } = await found([pod('a', 60_000), pod('b', 60_000)], failed('other', 'no such disk'), first);
    expect(messages).toHaveLength(1);
  });

  it.each<[string, KubernetesObject]>([
    ['has a container', pod('a', 60_000, { containerStatuses: [{ state: { running: {} } }] })],
    [
      'waits for an image',
      pod('a', 60_000, { containerStatuses: [{ state: { waiting: { reason: 'ErrImagePull' } } }] }),
    ],
    ['runs', pod('a', 60_000, { phase: 'Running' })],
    ['has no node', pod('a', 60_000, { conditions: [{ type: 'PodScheduled', status: 'False' }] })],
  ])('is not one that %s', async (_, other) => {
    expect(await found([other])).toEqual({ messages: [], requeueAfterMs: undefined, asked: [] });
  });

  it('has ten seconds before it is asked about', async () => {
    expect(await found([pod('a', 4000)])).toEqual({ messages: [], requeueAfterMs: 6000, asked: [] });
  });

  it('has no words for an operator that may not read events', async () => {
    const client = { list: () => Promise.reject(fromStatus('LIST Event', 403, {}, undefined)) };
    const failures = createMountFailures({ client, clock: { unixMs: () => noonMs } });
    const { problems } = await failures.read([pod('a', 60_000)], [deployment], {});
    expect(problems).toEqual([]);
  });
});
