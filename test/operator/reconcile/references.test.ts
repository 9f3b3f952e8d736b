import { describe, expect, it } from 'vitest';

import type { KubernetesClient } from '#operator/kubernetes/client.ts';
import { createReferencedTexts, namedReferences, settledShards } from '#operator/reconcile/references.ts';
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

/** Reads from ConfigMaps of version 1, which count how often they are read. */
function textsOf(data: Readonly<Record<string, string>> | undefined) {
  const asked: string[] = [];
  const client = {
    async get(_kind: unknown, { name }: { name: string }) {
      asked.push(name);
      return data && { metadata: { name, resourceVersion: '1' }, data };
    },
  } as unknown as KubernetesClient;
  return { texts: createReferencedTexts({ client }), asked };
}

describe('texts of referenced ConfigMaps', () => {
  const bounds = { signal: new AbortController().signal };
  const of = { namespace: 'ton', name: 'testnet', key: 'global.config.json' };

  it('a text is read again only when the version of its ConfigMap changed', async () => {
    const { texts, asked } = textsOf({ [of.key]: 'text' });
    expect([await texts.read(of, '1', bounds), await texts.read(of, '1', bounds)]).toEqual(['text', 'text']);
    expect(asked).toEqual(['testnet']);
    await texts.read(of, '2', bounds);
    expect(asked).toEqual(['testnet', 'testnet']);
  });

  it('a key that the ConfigMap lacks, and a ConfigMap that is gone, have no text', async () => {
    for (const data of [{ other: 'text' }, undefined]) {
      expect(await textsOf(data).texts.read(of, '1', bounds)).toBe(undefined);
    }
  });

  it('of more than 2,000 texts the oldest is read again', async () => {
    const { texts, asked } = textsOf({ [of.key]: 'text' });
    for (let at = 0; at <= 2000; at++) await texts.read({ ...of, name: `map-${at}` }, '1', bounds);
    await texts.read({ ...of, name: 'map-1' }, '1', bounds);
    expect(asked).toHaveLength(2001);
    await texts.read({ ...of, name: 'map-0' }, '1', bounds);
    expect(asked.at(-1)).toBe('map-0');
  });
});
