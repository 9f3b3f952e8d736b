import { describe, expect, it } from 'vitest';

import { build } from '#operator/desired/build.ts';
import { diff } from '#operator/diff/diff.ts';
import type { KubernetesObject } from '#operator/kubernetes/object.ts';
import { admitted, migratedSchema, migrationState, type MigrationState } from '#operator/rollout/migration.ts';
import { references, release, sample } from '#test/operator/desired/samples.ts';

const withSchema = { ...release, schemaVersion: 7 };
const full = sample('full');

describe('the migration', () => {
  it.each<[string, number | undefined, KubernetesObject[], MigrationState['state']]>([
    ['is not needed by a release without a schema', undefined, [], 'notNeeded'],
    ['runs until its Job is done', 7, [job(7)], 'running'],
    ['is current when its Job is done', 7, [job(7, 'Complete')], 'current'],
    ['is current when the Job is gone and the ConfigMap remembers it', 7, [config('7')], 'current'],
    ['is current when the schema is newer', 7, [config('9')], 'current'],
    ['runs when only an older one is done', 7, [config('6'), job(6, 'Complete')], 'running'],
    ['has failed when its Job has', 7, [job(7, 'Failed')], 'failed'],
  ])('%s', (_case, wanted, live, expected) => {
    expect(migrationState(full, wanted, live).state).toBe(expected);
  });

  it('is remembered by the ConfigMap that is built next, and its Job is wanted no more', () => {
    const known = migratedSchema(full, [job(7, 'Complete')]);
    const desired = build(full, references({ migratedSchema: known }), withSchema);
    expect(desired.some(({ object }) => object.kind === 'Job')).toBe(false);
    expect(
      migratedSchema(
        full,
        desired.map(({ object }) => object),
      ),
    ).toBe(7);
  });

  it.each(['running', 'failed'] as const)('lets no new pod start and no running one go while it is %s', (state) => {
    const gate: MigrationState = state === 'failed' ? { state, message: 'x' } : { state };
    const created = admitted(diff(full, build(full, references(), withSchema), []), gate);
    const kinds = created.map((change) => ('desired' in change ? change.desired.object.kind : ''));
    expect(kinds).toContain('Job');
    expect(kinds).toContain('ConfigMap');
    expect(kinds).not.toContain('Deployment');
    expect(kinds).not.toContain('StatefulSet');
    const live = build(full, references({ migratedSchema: 6 }), release).map(({ object }) => object);
    const next = sample('full', { image: { tag: '2', pullPolicy: 'Always' }, trustedProxies: 2 });
    const changes = admitted(diff(next, build(next, references({ migratedSchema: 6 }), withSchema), live), gate);
    expect(changes.some((change) => change.action === 'update' && change.live.kind === 'ConfigMap')).toBe(true);
    expect(changes.every((change) => !('restart' in change) || !change.restart.restart)).toBe(true);
  });

  it('lets everything through when it is done', () => {
    const changes = diff(full, build(full, references(), withSchema), []);
    expect(admitted(changes, { state: 'current' })).toEqual(changes);
  });
});

function job(version: number, condition?: 'Complete' | 'Failed'): KubernetesObject {
  const conditions = condition === undefined ? [] : [{ type: condition, status: 'True' }];
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name: `private-migrate-${version}` },
    status: { conditions },
  };
}

function config(version: string): KubernetesObject {
  const annotations = { 'tonplane.dev/schema-version': version };
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'private-config', annotations } };
}
