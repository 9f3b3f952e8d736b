import { describe, expect, it } from 'vitest';

import { namedReferences, settledShards } from '#operator/reconcile/references.ts';
import { sample } from '#test/operator/desired/samples.ts';

const born = (...secondsAgo: number[]) =>
  secondsAgo.map((ago, at) => ({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      name: `keyring-${at}`,
      annotations: { 'tonplane.dev/keyring-shards': String(secondsAgo.length) },
      creationTimestamp: new Date(Date.UTC(2026, 10, 21) - ago * 1000).toISOString(),
    },
  }));
const now = Date.UTC(2026, 10, 21);

describe('shards of a keyring', () => {
  it.each([
    ['none', born(), 0, undefined],
    ['one that is new', born(10), 0, 290_000],
    ['one that every pod has read', born(400), 1, undefined],
    ['two old ones and two that came a minute ago', born(900, 900, 60, 60), 2, 240_000],
    ['three old ones of four: the set of two is what pods can rely on', born(900, 900, 900, 60), 2, 240_000],
    ['four old ones', born(900, 900, 400, 400), 4, undefined],
  ])('are settled by age: %s', (_what, children, settled, requeueAfterMs) => {
    expect(settledShards(children, now)).toEqual({ settled, requeueAfterMs });
  });
});

describe('references', () => {
  it('are found among all that the spec names, each once, with what is missing', () => {
    const tonApi = sample('full');
    const present = new Set(['Secret redis', 'Secret postgres']);
    const caches = {
      reference: (kind: string, key: string) =>
        present.has(`${kind} ${key.split('/')[1]}`) ? { resourceVersion: '1' } : undefined,
    };
    const found = namedReferences(tonApi, caches);
    expect(found.map(({ kind, name }) => `${kind} ${name}`)).toEqual([
      'Secret redis',
      'Secret postgres',
      'Secret postgres-replica',
      'Secret redis-client',
      'Secret postgres-client',
      'Secret postgres-ca',
      'Secret collector-ca',
      'ConfigMap redis-ca',
      'ConfigMap gateway-ca',
    ]);
    expect(found.flatMap(({ problem }) => problem?.reason ?? [])).toEqual([
      'SecretNotFound',
      'SecretNotFound',
      'SecretNotFound',
      'SecretNotFound',
      'SecretNotFound',
      'ConfigMapNotFound',
      'ConfigMapNotFound',
    ]);
    expect(found[2]?.problem?.message).toContain('Secret postgres-replica is not there; make it in namespace');
  });
});
