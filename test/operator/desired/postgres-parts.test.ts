import { describe, expect, it } from 'vitest';

import { build } from '#operator/desired/build.ts';
import { migrationKey } from '#operator/desired/indexer.ts';
import { mountsDatabase, postgresMounts } from '#operator/desired/mounts.ts';
import { namedObjects } from '#operator/reconcile/named-objects.ts';
import { missingMounts } from '#operator/rollout/missing-mounts.ts';
import type { TonApi } from '#operator/resource.ts';
import { references, release, sample } from './samples.ts';

type Postgres = NonNullable<TonApi['spec']['postgres']>;

const parts: NonNullable<Postgres['parts']> = {
  host: { value: 'db.example.com' },
  port: { value: '5433' },
  readOnlyHost: { secretRef: { name: 'replica', key: 'host' } },
  database: { secretRef: { name: 'database', key: 'dbname' } },
  user: { secretRef: { name: 'database', key: 'username' } },
  password: { secretRef: { name: 'password', key: 'password' } },
};
const { readOnlyHost: _replica, ...withoutReplica } = parts;
const tonApi = sample('full', { postgres: { parts, schema: 'ton', poolSize: 10, replicaMaxLag: '30s' } });

describe('a database given by parts', () => {
  it('is a folder with a file for each part of a Secret, the host of the replica for readers alone', () => {
    const shared = [
      source('database', 'dbname', 'database'),
      source('database', 'username', 'user'),
      source('password', 'password', 'password'),
    ];
    expect(postgresMounts(tonApi, false)).toMatchObject({
      volumes: [{ name: 'postgres', projected: { sources: shared } }],
      args: ['--postgres-folder', '/etc/tonplane/postgres'],
    });
    expect(postgresMounts(tonApi, true).volumes).toEqual([
      { name: 'postgres', projected: { sources: [...shared, source('replica', 'host', 'readOnlyHost')] } },
    ]);
  });

  it('is waited for as one given by a URI: its schema, and each of its Secrets', () => {
    const template = { spec: { volumes: postgresMounts(tonApi, true).volumes } };
    expect(mountsDatabase(template)).toBe(true);
    expect(missingMounts(template, new Set(['Secret password', 'Secret replica', 'Secret other']))).toEqual([
      'Secret password',
      'Secret replica',
    ]);
    expect(namedObjects(tonApi)).toEqual(
      expect.arrayContaining(['database', 'password', 'replica'].map((name) => ({ kind: 'Secret', name }))),
    );
  });

  it('is migrated again when a part of it changes', () => {
    const moved = { ...parts, host: { value: 'other.example.com' } };
    const other = sample('full', { postgres: { parts: moved, schema: 'ton', poolSize: 10, replicaMaxLag: '30s' } });
    expect(migrationKey(other)).not.toBe(migrationKey(tonApi));
  });

  it.each<[string, NonNullable<Postgres['parts']>, number[], Partial<Postgres>?]>([
    ['its own port', parts, [5433]],
    [
      'its own port, and the usual ports where a Secret has the URI of the replica',
      withoutReplica,
      [5433, 5432, 6432],
      { readOnlySecretRef: { name: 'replica', key: 'uri' } },
    ],
    [
      'the usual ports where a Secret has it',
      { ...parts, port: { secretRef: { name: 'a', key: 'port' } } },
      [5432, 6432],
    ],
  ])('is reached through the network policy on %s', (_case, given, expected, others = {}) => {
    const objects = build(
      sample('full', { postgres: { parts: given, schema: 'ton', poolSize: 10, replicaMaxLag: '30s', ...others } }),
      references(),
      release,
    );
    const policy = objects.find(({ object }) => object.kind === 'NetworkPolicy')?.object;
    const egress = policy?.spec?.['egress'] as { ports?: { port: number }[] }[];
    const ports = egress.flatMap((rule) => (rule.ports ?? []).map(({ port }) => port));
    expect(ports.filter((port) => port === 5432 || port === 5433 || port === 6432)).toEqual(expected);
  });
});

function source(name: string, key: string, path: string): object {
  return { secret: { name, items: [{ key, path }] } };
}
