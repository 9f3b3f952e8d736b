import { describe, expect, it } from 'vitest';

import { build } from '#operator/desired/build.ts';
import { migrationKey } from '#operator/desired/indexer.ts';
import { childNames } from '#operator/desired/names.ts';
import { diff } from '#operator/diff/diff.ts';
import type { KubernetesObject } from '#operator/kubernetes/object.ts';
import type { TonApi } from '#operator/resource.ts';
import { admitted, migrated, migrationState } from '#operator/rollout/migration.ts';
import type { MigrationState } from '#operator/status/observed.ts';
import { annotated, references, release, sample } from '#test/operator/desired/samples.ts';

const withSchema = { ...release, schemaVersion: 7 };
const full = sample('full');
const key = migrationKey(full);
const other = { name: 'other', key: 'uri' };
const postgres = { secretRef: { name: 'postgres', key: 'uri' }, schema: 'ton', poolSize: 20, replicaMaxLag: '30s' };

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
    const known = migrated(full, [job(7, 'Complete')]);
    const desired = build(full, references({ migrated: known }), withSchema);
    expect(desired.some(({ object }) => object.kind === 'Job')).toBe(false);
    const remembered = migrated(
      full,
      desired.map(({ object }) => object),
    );
    expect(remembered).toEqual({ schema: 7, key });
  });

  it.each(['running', 'failed'] as const)('lets no new pod start and no running one go while it is %s', (state) => {
    const gate: MigrationState = { state, message: 'x' };
    const created = admitted(diff(full, build(full, references(), withSchema), []), gate);
    const kinds = created.map((change) => ('desired' in change ? change.desired.object.kind : ''));
    expect(kinds).toContain('Job');
    expect(kinds).toContain('ConfigMap');
    expect(kinds).not.toContain('Deployment');
    expect(kinds).not.toContain('StatefulSet');
    const live = build(full, references({ migrated: { schema: 6, key } }), release).map(({ object }) => object);
    const next = sample('full', { image: { tag: '2', pullPolicy: 'Always' }, trustedProxies: 2 });
    const changes = admitted(
      diff(next, build(next, references({ migrated: { schema: 6, key } }), withSchema), live),
      gate,
    );
    expect(changes.some((change) => change.action === 'update' && change.live.kind === 'ConfigMap')).toBe(true);
    expect(changes.every((change) => !('restart' in change) || !change.restart.restart)).toBe(true);
  });

  it('lets everything through when it is done', () => {
    const changes = diff(full, build(full, references(), withSchema), []);
    expect(admitted(changes, { state: 'current' })).toEqual(changes);
  });
});

describe('what is migrated', () => {
  const { image: _image, ...rest } = full.spec;
  const released = { ...full, spec: rest };
  it.each<[string, TonApi, boolean]>([
    ['another release of the operator for a TonApi with the release’s image', released, false],
    ['another image of its own', sample('full', { image: { tag: '9', pullPolicy: 'Always' } }), true],
    ['another Secret of the database', sample('full', { postgres: { ...postgres, secretRef: other } }), true],
    ['a restart', annotated(full, { 'tonplane.dev/restart': 'now' }), true],
    ['more pods', sample('full', { replicas: 9 }), false],
  ])('is asked for anew by %s: %#', (_case, tonApi, isAsked) => {
    const before = tonApi === released ? released : full;
    const done = config('7', migrationKey(before));
    expect(migrationState(tonApi, 7, [done]).state).toBe(isAsked ? 'running' : 'current');
    const jobs = build(tonApi, references({ migrated: migrated(tonApi, [done]) }), withSchema).filter(
      ({ object }) => object.kind === 'Job',
    );
    expect(jobs.map(({ object }) => object.metadata.name)).toEqual(
      isAsked ? [childNames(tonApi).migration({ schema: 7, key: migrationKey(tonApi) })] : [],
    );
  });

  it('has a name that a label can hold, however long that of the TonApi is', () => {
    const tonApi = { ...full, metadata: { ...full.metadata, name: 'a'.repeat(40) } };
    const name = childNames(tonApi).migration({ schema: 9999, key });
    expect(name.length).toBeLessThanOrEqual(63);
  });
});

describe('a migration that does not get on', () => {
  it.each(['running', 'failed'] as const)('tells the end of the log of its last try while it is %s', (state) => {
    const name = `private-migrate-7-${key}`;
    const pods = [
      pod(name, '2026-11-21T10:00:00Z', 'first'),
      pod(name, '2026-11-21T10:00:09Z', 'no\nroom\n'),
      pod('x', '9', 'x'),
    ];
    const live = [job(7, state === 'failed' ? 'Failed' : undefined)];
    const found = migrationState(full, 7, live, pods);
    expect(found).toMatchObject({ state, message: expect.stringContaining('it says: no room') as string });
  });

  it.each([
    [
      'an image that cannot be pulled',
      { containerStatuses: [{ state: { waiting: { reason: 'ImagePullBackOff', message: 'no such host' } } }] },
      'ImagePullBackOff: no such host',
    ],
    ['no node', { conditions: [{ type: 'PodScheduled', status: 'False' }] }, 'no node fits'],
  ])('names the cause while its pod waits: %s', (_case, status, cause) => {
    const name = `private-migrate-7-${key}`;
    const waits = { ...pod(name, '', ''), status: { phase: 'Pending', ...status } };
    const message = `waits for the migration Job ${name}; ${cause}`;
    expect(migrationState(full, 7, [job(7)], [waits])).toEqual({ state: 'running', message });
    expect(migrationState(full, 7, [job(7)], [{ ...waits, status: { ...status, phase: 'Running' } }])).not.toEqual({
      state: 'running',
      message,
    });
  });
});

function pod(jobName: string, finishedAt: string, message: string): KubernetesObject {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: `${jobName}-x`, labels: { 'batch.kubernetes.io/job-name': jobName } },
    status: { containerStatuses: [{ state: { terminated: { finishedAt, message } } }] },
  };
}

function job(version: number, condition?: 'Complete' | 'Failed'): KubernetesObject {
  const conditions = condition === undefined ? [] : [{ type: condition, status: 'True' }];
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name: `private-migrate-${version}-${key}`, annotations: annotationsOf(String(version), key) },
    status: { conditions },
  };
}

function config(version: string, ofKey = key): KubernetesObject {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'private-config', annotations: annotationsOf(version, ofKey) },
  };
}

function annotationsOf(version: string, ofKey: string): Record<string, string> {
  return { 'tonplane.dev/schema-version': version, 'tonplane.dev/migration-key': ofKey };
}
