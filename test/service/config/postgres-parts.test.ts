import { describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';

import { configFromManifest, secretsOfManifest } from '#service/config.ts';
import { urisOfParts, type PostgresPartName, type PostgresParts } from '#service/config/postgres-parts.ts';
import { manifestOf } from './manifest-builder.ts';

const secretRef = (key: string) => ({ secretRef: { name: 'database', key } });
const parts: PostgresParts = {
  host: { value: 'db.example.com' },
  database: secretRef('dbname'),
  user: secretRef('username'),
  password: secretRef('password'),
};
const secrets: Partial<Record<PostgresPartName, string | undefined>> = {
  database: 'ton',
  user: 'app',
  password: 's3cret',
};

describe('a connection to Postgres from its parts', () => {
  it.each<[string, Partial<PostgresParts>, typeof secrets, string | undefined, PostgresPartName[]?]>([
    ['has the usual port', {}, {}, 'postgresql://app:s3cret@db.example.com:5432/ton'],
    ['has a port of its own', { port: { value: '5433' } }, {}, 'postgresql://app:s3cret@db.example.com:5433/ton'],
    [
      'has a port of a Secret',
      { port: secretRef('port') },
      { port: '6432' },
      'postgresql://app:s3cret@db.example.com:6432/ton',
    ],
    [
      'escapes what a URI would read',
      {},
      { password: 'a:b@c/d?e#f%g h' },
      'postgresql://app:a%3Ab%40c%2Fd%3Fe%23f%25g%20h@db.example.com:5432/ton',
    ],
    [
      'reads values without the line end of a file',
      {},
      { user: 'app\n', password: 's3cret\n' },
      'postgresql://app:s3cret@db.example.com:5432/ton',
    ],
    [
      'brackets an IPv6 address',
      { host: { value: '2001:db8::1' } },
      {},
      'postgresql://app:s3cret@[2001:db8::1]:5432/ton',
    ],
    [
      'has a mode of TLS',
      { sslMode: 'verify-full' },
      {},
      'postgresql://app:s3cret@db.example.com:5432/ton?sslmode=verify-full',
    ],
    [
      'has every space of a password and a user, without the line end of their files',
      {},
      { password: '  two words \r\n', user: ' app\n' },
      'postgresql://%20app:%20%20two%20words%20@db.example.com:5432/ton',
    ],
    ['is missing without a password', {}, { password: undefined }, undefined, ['password']],
    ['is missing with an empty user', {}, { user: '' }, undefined, ['user']],
    ['is missing without the port of its Secret', { port: secretRef('port') }, {}, undefined, ['port']],
    ['names every missing part', {}, { user: '', password: undefined }, undefined, ['user', 'password']],
  ])('%s', (_case, changes, values, uri, missing = []) => {
    const given = { ...secrets, ...values };
    expect(urisOfParts({ ...parts, ...changes }, (name) => given[name])).toEqual({
      uri,
      replicaUri: undefined,
      missing,
    });
  });

  it('has no password where the manifest names none, as with a client certificate', () => {
    const { password: _password, ...withoutPassword } = parts;
    const { uri, missing } = urisOfParts(withoutPassword, (name) => secrets[name]);
    expect({ uri, missing }).toEqual({ uri: 'postgresql://app@db.example.com:5432/ton', missing: [] });
  });

  it('reaches a replica with the same credentials', () => {
    const { replicaUri } = urisOfParts({ ...parts, readOnlyHost: { value: 'ro' } }, (name) => secrets[name]);
    expect(replicaUri).toBe('postgresql://app:s3cret@ro:5432/ton');
  });
});

describe('postgres.parts of a manifest', () => {
  const manifest = manifestOf((spec) => Object.assign(spec, { postgres: { parts }, surfaces: ['v2', 'v3'] }));
  const data = { dbname: 'ton', username: 'app', password: 'own' };
  const secret = stringify({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'database' }, stringData: data });

  it('are values of Secrets in the file, and files of a mounted folder win', () => {
    const text = `${manifest}\n---\n${secret}`;
    expect(secretsOfManifest(text).postgresUrl).toBe('postgresql://app:own@db.example.com:5432/ton');
    const mounted = secretsOfManifest(text, (name) => (name === 'password' ? 'mounted' : undefined));
    expect(mounted.postgresUrl).toBe('postgresql://app:mounted@db.example.com:5432/ton');
    expect(secretsOfManifest(manifest).postgresUrl).toBe(undefined);
  });

  it('have the spaces of a password in the file of the manifest', () => {
    const spaced = stringify({ ...parse(secret), stringData: { ...data, password: ' own ' } });
    expect(secretsOfManifest(`${manifest}\n---\n${spaced}`).postgresUrl).toBe(
      'postgresql://app:%20own%20@db.example.com:5432/ton',
    );
  });

  it('are no part of the configuration, which holds no secret', () => {
    expect(configFromManifest(manifest).postgres).toEqual({
      secret: null,
      readOnlySecret: null,
      schema: 'ton',
      poolSize: 10,
      replicaMaxLagMs: 30_000,
    });
  });
});
