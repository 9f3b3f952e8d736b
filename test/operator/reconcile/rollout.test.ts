import { describe, expect, it } from 'vitest';

import { build } from '#operator/desired/build.ts';
import type { Release } from '#operator/desired/references.ts';
import { isOut, templateChanges } from '#operator/reconcile/rollout.ts';
import type { TonApi } from '#operator/resource.ts';
import { references, release, sample } from '#test/operator/desired/samples.ts';

const known = { schema: 2, key: '' };
const spec: Partial<TonApi['spec']> = {
  postgres: { secretRef: { name: 'p', key: 'uri' }, schema: 'ton', poolSize: 10, replicaMaxLag: '30s' },
  indexer: { mode: 'SingleWriter', partitions: 1 },
  tokenMetadata: { replicas: 1, concurrency: 16, concurrencyPerHost: 4 },
};
const wantedOf = (changes: Partial<TonApi['spec']>, of: Partial<Release> = {}, held = {}) =>
  build(
    sample('smallest', { ...spec, ...changes }),
    { ...references(), migrated: known, rollout: { held } },
    { ...release, schemaVersion: 2, ...of },
  );

/** What is to be rolled out when one wish follows another. */
function changesOf(next: ReturnType<typeof wantedOf>): Readonly<Record<string, string>> {
  const live = wantedOf({}).map(({ object }) => object);
  const changes = templateChanges(sample('smallest', spec), next, live);
  return Object.fromEntries(changes.map(({ workload, cause }) => [workload, cause]));
}

function templateOf(objects: ReturnType<typeof wantedOf>, name: string): unknown {
  const templates = objects
    .filter(({ object }) => object.metadata.name === `testnet-${name}`)
    .map(({ object }) => object.spec?.['template']);
  return templates.find((template) => template !== undefined);
}

describe('what is rolled out', () => {
  it('is nothing while what is wanted is what is there', () => {
    expect(changesOf(wantedOf({}))).toEqual({});
  });

  it('is every workload when only the release is another, and waits as an upgrade does', () => {
    expect(changesOf(wantedOf({}, { image: 'tonplane/service:next' }))).toEqual({
      api: 'operator',
      indexer: 'operator',
      metadata: 'operator',
    });
  });

  it('is at once what a person changes of a workload alone', () => {
    const tokenMetadata = { replicas: 1, concurrency: 32, concurrencyPerHost: 4 };
    expect(changesOf(wantedOf({ tokenMetadata }))).toEqual({ metadata: 'edit' });
  });

  it('is the embedded Redis too, of which the manifest alone decides as for the API', () => {
    const rateLimits = { ...sample('smallest').spec.rateLimits, redis: { embedded: true } };
    const embedded = (changes: Partial<TonApi['spec']>, of: Partial<Release> = {}) =>
      wantedOf({ rateLimits, ...changes }, of);
    const live = embedded({}).map(({ object }) => object);
    const causesOf = (next: ReturnType<typeof wantedOf>) =>
      Object.fromEntries(
        templateChanges(sample('smallest', spec), next, live).map(({ workload, cause }) => [workload, cause]),
      );
    expect(causesOf(embedded({}))).toEqual({});
    expect(causesOf(embedded({}, { redisImage: 'redis:next' }))).toEqual({ redis: 'operator' });
    expect(causesOf(embedded({ requestTimeout: '7s' }, { redisImage: 'redis:next' }))).toMatchObject({
      api: 'edit',
      redis: 'edit',
    });
    expect(causesOf(embedded({ podTemplate: { labels: { team: 'a' } } }))).toMatchObject({ redis: 'edit' });
  });

  it('leaves a held workload of each kind as it is live', () => {
    for (const workload of ['api', 'indexer', 'metadata'] as const) {
      const template = { marked: workload };
      expect(templateOf(wantedOf({}, {}, { [workload]: template }), workload)).toEqual(template);
    }
  });
});

/** A StatefulSet with one pod that is not ready yet. */
function statefulSet(status: Record<string, unknown>) {
  return {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name: 'x', generation: 1 },
    spec: { replicas: 1 },
    status: { observedGeneration: 1, replicas: 1, updatedReplicas: 1, ...status },
  };
}

describe('the template of a StatefulSet', () => {
  const equal = { currentRevision: 'a', updateRevision: 'a' };

  it('is not out before its first pod is ready, though its revisions are equal from the start', () => {
    expect(isOut(statefulSet(equal), false)).toBe(false);
    expect(isOut(statefulSet({ ...equal, availableReplicas: 1 }), false)).toBe(true);
  });

  it('stays out when a pod is lost later, and is not while pods are replaced', () => {
    expect(isOut(statefulSet(equal), true)).toBe(true);
    expect(isOut(statefulSet({ ...equal, currentRevision: 'b' }), true)).toBe(false);
  });
});
