import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, describe, expect, it } from 'vitest';

import { parseArguments } from '#service/main/configuration/arguments.ts';
import { configurationFiles, loadConfiguration } from '#service/main/configuration/configuration.ts';
import { createAuthority } from '#test/support/certificate.ts';
import { manifestOf } from '#test/service/config/manifest-builder.ts';

const folder = mkdtempSync(join(tmpdir(), 'tonplane-authorities-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const { certificate } = createAuthority('Private authority');

function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

type Part = {
  readonly field: string;
  readonly option: string;
  /** The spec with the bundle. */
  readonly spec: (caBundle: object) => Record<string, unknown>;
  readonly loaded: 'postgresCa' | 'redisCa' | 'tracingCa';
  /** Names the server that the certificates are for. */
  readonly server: readonly string[];
  /** Arguments of a process that does not reach it. */
  readonly idle: readonly string[];
};

const parts: readonly Part[] = [
  {
    field: 'spec.observability.tracing.caBundle',
    option: '--tracing-ca-file',
    spec: (caBundle) => ({ observability: { tracing: { endpoint: 'https://collector:4318', caBundle } } }),
    loaded: 'tracingCa',
    server: [],
    idle: ['migrate'],
  },
  {
    field: 'spec.rateLimits.redis.caBundle',
    option: '--redis-ca-file',
    spec: (caBundle) => ({ rateLimits: { redis: { secretRef: { name: 'redis' }, caBundle } } }),
    loaded: 'redisCa',
    server: ['--redis', 'rediss://host'],
    idle: [],
  },
  {
    field: 'spec.postgres.caBundle',
    option: '--postgres-ca-file',
    spec: (caBundle) => ({ postgres: { secretRef: { name: 'database' }, caBundle } }),
    loaded: 'postgresCa',
    server: ['--postgres-url', 'postgres://user@host/ton'],
    idle: [],
  },
];

const load = (text: string, ...further: string[]) =>
  loadConfiguration(parseArguments(['--manifest', file('api.yaml', text), ...further]), {});

describe.each(parts)('the certificates of $field', ({ field, option, spec, loaded, server, idle }) => {
  const referring = (kind: 'secretRef' | 'configMapRef') =>
    manifestOf((whole) => Object.assign(whole, spec({ [kind]: { name: 'ca' } })));

  it('come from the file of the command line, which is followed', () => {
    const path = file('ca.crt', certificate);
    const args = [option, path];
    expect(load(referring('secretRef'), ...server, ...args)[loaded]).toBe(certificate);
    expect(configurationFiles(parseArguments(['--manifest', 'api.yaml', ...args]))).toContain(path);
  });

  it.each([
    ['secretRef', 'Secret', 'stringData'],
    ['configMapRef', 'ConfigMap', 'data'],
  ] as const)('come from the %s in the file of the manifest', (reference, kind, data) => {
    const holder = JSON.stringify({
      apiVersion: 'v1',
      kind,
      metadata: { name: 'ca' },
      [data]: { 'ca.crt': certificate },
    });
    expect(load(`${referring(reference)}\n---\n${holder}\n`, ...server)[loaded]).toBe(certificate);
  });

  it('are demanded where the manifest names them and no file has them', () => {
    expect(() => load(referring('configMapRef'), ...server)).toThrow(`${field}: expected ${option}, or ConfigMap ca`);
  });

  it('are not demanded of a role that does not reach the server', () => {
    expect(load(referring('configMapRef'), ...idle)[loaded]).toBeUndefined();
  });

  it.each([
    ['nothing', ''],
    ['a key', '-----BEGIN PRIVATE KEY-----\nMC4=\n-----END PRIVATE KEY-----\n'],
    ['a broken certificate', `${certificate}-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n`],
  ])('are refused where the file holds %s', (_what, text) => {
    const path = file('wrong.crt', text);
    expect(() => load(referring('secretRef'), ...server, option, path)).toThrow(
      `${field} (${option}): expected certificates in PEM`,
    );
  });
});

describe('a URL of Postgres', () => {
  it('that wants an authority is refused without one', () => {
    const uri = file('uri', 'postgres://user:password@host/ton?sslmode=verify-ca');
    const text = manifestOf((whole) => Object.assign(whole, { postgres: { secretRef: { name: 'database' } } }));
    const args = ['--postgres-file', uri];
    expect(() => load(text, ...args)).toThrow('spec.postgres: sslmode: expected a root for verify-ca');
    expect(load(text, ...args, '--postgres-ca-file', file('root.crt', certificate)).postgresUrl).toContain('verify-ca');
  });
});

describe('a URL of Redis', () => {
  it.each(['redis://host:6379', 'redis+cluster://a:1,b:2'])('without TLS is refused with an authority: %s', (url) => {
    const args = ['--redis', url, '--redis-ca-file', file('redis.crt', certificate)];
    expect(() => load(manifestOf(), ...args)).toThrow(/spec\.rateLimits\.redis\.secretRef: expected rediss:/);
  });
});
