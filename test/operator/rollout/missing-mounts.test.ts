import { describe, expect, it } from 'vitest';

import { build } from '#operator/desired/build.ts';
import { diff } from '#operator/diff/diff.ts';
import { admitted } from '#operator/rollout/migration.ts';
import { missingMounts, startsInVain } from '#operator/rollout/missing-mounts.ts';
import { references, release, sample } from '#test/operator/desired/samples.ts';

const withSchema = { ...release, schemaVersion: 7 };

describe('a missing reference', () => {
  it.each<[string, string[]]>([
    ['Secret redis', ['Deployment private-api']],
    ['Secret postgres', ['Deployment private-api', 'Deployment private-metadata', 'StatefulSet private-indexer']],
    ['Secret postgres-replica', ['Deployment private-api']],
    ['Secret collector-ca', ['Deployment private-api', 'Deployment private-metadata', 'StatefulSet private-indexer']],
    ['ConfigMap gateway-ca', ['Deployment private-metadata']],
    ['ConfigMap redis-ca', ['Deployment private-api']],
    ['Secret postgres-ca', ['Deployment private-api', 'Deployment private-metadata', 'StatefulSet private-indexer']],
    ['Secret certificate', []],
    [
      'ConfigMap private-config',
      ['Deployment private-api', 'Deployment private-metadata', 'StatefulSet private-indexer'],
    ],
  ])('%s holds back what mounts it and nothing else', (missing, expected) => {
    const full = sample('full');
    const changes = diff(full, build(full, references(), withSchema), []);
    const vain = changes.filter((change) => startsInVain(change, new Set([missing])));
    const names = vain.map((change) => ('desired' in change ? change.desired.object : change.live));
    const workloads = names.filter(({ kind }) => kind !== 'Job');
    expect(workloads.map(({ kind, metadata }) => `${kind} ${metadata.name}`).toSorted()).toEqual(expected);
  });

  it('an optional reference that is missing delays no rollout', () => {
    const volumes = [
      { name: 'a', secret: { secretName: 'x', optional: true } },
      { name: 'b', projected: { sources: [{ configMap: { name: 'x' } }, { secret: { name: 'y', optional: true } }] } },
    ];
    const missing = new Set(['Secret x', 'Secret y', 'ConfigMap x']);
    expect(missingMounts({ spec: { volumes } }, missing)).toEqual(['ConfigMap x']);
  });
});

it('a migration that waits holds back the pods that need the database and no others', () => {
  const v2 = sample('full', { surfaces: ['v2'], rateLimits: { redis: { embedded: true }, onRedisFailure: 'Local' } });
  const changes = diff(v2, build(v2, references(), withSchema), []);
  const started = admitted(changes, { state: 'running', message: 'x' }).flatMap((change) =>
    'desired' in change ? [`${change.desired.object.kind} ${change.desired.object.metadata.name}`] : [],
  );
  expect(started).toEqual(expect.arrayContaining(['Deployment private-api', 'Deployment private-redis']));
  expect(started).not.toContain('StatefulSet private-indexer');
  expect(started).not.toContain('Deployment private-metadata');
});
