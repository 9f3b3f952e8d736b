import { describe, expect, it } from 'vitest';

import { build } from '#operator/desired/build.ts';
import type { Release } from '#operator/desired/references.ts';
import { templateChanges } from '#operator/reconcile/rollout.ts';
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

  it('leaves a held workload of each kind as it is live', () => {
    for (const workload of ['api', 'indexer', 'metadata'] as const) {
      const template = { marked: workload };
      expect(templateOf(wantedOf({}, {}, { [workload]: template }), workload)).toEqual(template);
    }
  });
});
