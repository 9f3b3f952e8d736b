import { describe, expect, it } from 'vitest';

import { build } from '#operator/desired/build.ts';
import { coldHash } from '#operator/desired/deployment.ts';
import { migrationKey } from '#operator/desired/indexer.ts';
import { postgresMounts, redisMounts } from '#operator/desired/mounts.ts';
import { namedObjects } from '#operator/reconcile/named-objects.ts';
import type { TonApi } from '#operator/resource.ts';
import { references, release, sample } from './samples.ts';

type Server = 'redis' | 'postgres';
type Postgres = NonNullable<TonApi['spec']['postgres']>;

const clientCertificate = { secretRef: { name: 'client', certificate: 'own.crt', privateKey: 'own.key' } };

/** A TonApi with a client certificate for one server. */
function tonApiWith(server: Server | undefined, further: Partial<Postgres> = {}): TonApi {
  const shown = (to: Server) => (to === server ? { clientCertificate } : {});
  const redis = { secretRef: { name: 'redis', key: 'url' }, embedded: false, ...shown('redis') };
  return sample('full', {
    rateLimits: { redis, onRedisFailure: 'Local' },
    postgres: {
      secretRef: { name: 'database', key: 'uri' },
      schema: 'ton',
      poolSize: 10,
      replicaMaxLag: '30s',
      ...shown('postgres'),
      ...further,
    },
  });
}

type Template = { readonly metadata: { readonly name: string }; readonly volumes: readonly string[] };

/** Volumes of every workload and Job. */
function volumesOf(tonApi: TonApi): Template[] {
  return build(tonApi, references(), { ...release, schemaVersion: 1 }).flatMap(({ object }) => {
    const template = object.spec?.['template'] as
      | { readonly spec?: { readonly volumes?: readonly { readonly name: string }[] } }
      | undefined;
    const volumes = template?.spec?.volumes;
    return volumes === undefined
      ? []
      : [{ metadata: { name: object.metadata.name }, volumes: volumes.map(({ name }) => name) }];
  });
}

describe.each<[Server, string[]]>([
  ['redis', ['api']],
  ['postgres', ['api', 'indexer', 'metadata', 'migrate']],
])('the client certificate for %s', (server, workloads) => {
  const volume = `${server}-client-tls`;
  const mountsOf = (tonApi: TonApi) => (server === 'redis' ? redisMounts(tonApi) : postgresMounts(tonApi, true));

  it('is one volume with both files, which the service is given by name', () => {
    const { volumes, volumeMounts, args } = mountsOf(tonApiWith(server));
    const items = [
      { key: 'own.crt', path: 'tls.crt' },
      { key: 'own.key', path: 'tls.key' },
    ];
    expect(volumes).toContainEqual({ name: volume, secret: { secretName: 'client', items } });
    expect(volumeMounts).toContainEqual({ name: volume, mountPath: `/etc/tonplane/${volume}`, readOnly: true });
    expect(args.slice(-4)).toEqual([
      `--${server}-client-certificate-file`,
      `/etc/tonplane/${volume}/tls.crt`,
      `--${server}-client-key-file`,
      `/etc/tonplane/${volume}/tls.key`,
    ]);
  });

  it('is in the pods that connect, and in no others', () => {
    const having = volumesOf(tonApiWith(server)).filter(({ volumes }) => volumes.includes(volume));
    const names = having.map(({ metadata }) => metadata.name);
    expect(names).toHaveLength(workloads.length);
    for (const workload of workloads) expect(names.join(' ')).toContain(workload);
    expect(volumesOf(tonApiWith(undefined)).flatMap(({ volumes }) => volumes)).not.toContain(volume);
  });

  it('is waited for by the name of its Secret', () => {
    expect(namedObjects(tonApiWith(server))).toContainEqual({ kind: 'Secret', name: 'client' });
    expect(namedObjects(tonApiWith(undefined))).not.toContainEqual({ kind: 'Secret', name: 'client' });
  });

  it('counts as a change by its author, and restarts the pods', () => {
    expect(coldHash(tonApiWith(server), references())).not.toBe(coldHash(tonApiWith(undefined), references()));
  });
});

describe('the client certificate for postgres', () => {
  it('serves the replica too, by URI and by parts', () => {
    const readOnlySecretRef = { name: 'replica', key: 'uri' };
    const { args } = postgresMounts(tonApiWith('postgres', { readOnlySecretRef }), true);
    expect(args).toEqual(expect.arrayContaining(['--postgres-replica-file', '--postgres-client-key-file']));
  });

  it('migrates again when it is added, and a migration without one keeps its name', () => {
    expect(migrationKey(tonApiWith('postgres'))).not.toBe(migrationKey(tonApiWith(undefined)));
    expect(migrationKey(tonApiWith('redis'))).toBe(migrationKey(tonApiWith(undefined)));
  });
});
