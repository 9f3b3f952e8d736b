import { pino } from 'pino';
import { Registry } from 'prom-client';
import { afterAll, describe, expect, it } from 'vitest';

import { parseArguments } from '#service/main/configuration/arguments.ts';
import { configurationFiles, loadConfiguration } from '#service/main/configuration/configuration.ts';
import { createHotReload, type Loaded } from '#service/main/configuration/hot-reload.ts';
import { createAuthority } from '#test/support/certificate.ts';
import { mountFolder } from '#test/support/mounted-folder.ts';
import { manifestOf } from '#test/service/config/manifest-builder.ts';

const authority = createAuthority('Authority of clients');
const [first, second] = [authority.issue({ commonName: 'ton' }), authority.issue({ commonName: 'ton' })];
const filesOf = ({ certificate, key }: typeof first) => ({ 'tls.crt': certificate, 'tls.key': key });

const clientCertificate = { secretRef: { name: 'client' } };
const servers = [
  {
    name: 'redis',
    field: 'spec.rateLimits.redis.clientCertificate',
    spec: { rateLimits: { redis: { secretRef: { name: 'redis' }, clientCertificate } } },
    loaded: 'redisClientCertificate',
    given: ['--redis', 'rediss://host'],
  },
  {
    name: 'postgres',
    field: 'spec.postgres.clientCertificate',
    spec: { postgres: { secretRef: { name: 'database' }, clientCertificate } },
    loaded: 'postgresClientCertificate',
    given: ['--postgres-url', 'postgres://user@host/ton'],
  },
] as const;

describe.each(servers)('the client certificate for $name', ({ name, field, spec, loaded, given }) => {
  const manifest = manifestOf((whole) => Object.assign(whole, spec));
  const folder = mountFolder({ ...filesOf(first), 'other.key': second.key, 'api.yaml': manifest });
  afterAll(() => folder.remove());
  const argumentsOf = (key = 'tls.key') =>
    parseArguments([
      '--manifest',
      folder.file('api.yaml'),
      ...given,
      `--${name}-client-certificate-file`,
      folder.file('tls.crt'),
      `--${name}-client-key-file`,
      folder.file(key),
    ]);
  const withSecret = (stringData: object, ...further: string[]): Loaded => {
    const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'client' }, stringData };
    const whole = mountFolder({ 'api.yaml': `${manifest}\n---\n${JSON.stringify(secret)}\n` });
    try {
      return loadConfiguration(parseArguments(['--manifest', whole.file('api.yaml'), ...further]), {});
    } finally {
      whole.remove();
    }
  };

  it('comes from the files of the command line', () => {
    expect(loadConfiguration(argumentsOf(), {})[loaded]).toEqual(first);
  });

  it('comes from the Secret in the file of the manifest', () => {
    expect(withSecret(filesOf(first), ...given)[loaded]).toEqual(first);
  });

  it.each([
    [{ 'tls.crt': first.certificate }, 'no private key'],
    [{ 'tls.key': first.key }, 'no certificate'],
    [{ 'other.crt': first.certificate }, 'neither of the two parts'],
  ])('is demanded where the manifest names it, whole, and the error names the missing part: %#', (parts, found) => {
    const options = `--${name}-client-certificate-file and --${name}-client-key-file`;
    const message = `${field}: expected ${options}, or Secret client (tls.crt, tls.key) in the manifest's file, got ${found}`;
    expect(() => withSecret(parts, ...given)).toThrow(message);
  });

  it('is not demanded of a process that does not reach the server', () => {
    expect(withSecret({})[loaded]).toBeUndefined();
  });

  it('is refused with the key of another, and the error names the option or the field', () => {
    const problem = 'expected the private key of the certificate, got the key of another';
    expect(() => loadConfiguration(argumentsOf('other.key'), {})).toThrow(
      `${field} (--${name}-client-key-file): ${problem}`,
    );
    expect(() => withSecret({ ...filesOf(first), 'tls.key': second.key }, ...given)).toThrow(
      `${field} (privateKey): ${problem}`,
    );
  });

  it('takes effect after a rotation while the process runs, never one part without the other', () => {
    const args = argumentsOf();
    const taken: (Loaded[typeof loaded] | undefined)[] = [];
    const load = (): Loaded => loadConfiguration(args, {});
    const reload = createHotReload(
      load(),
      { files: configurationFiles(args), pollMs: 3_600_000, unread: [] },
      {
        load,
        apply: (next) => void taken.push(next[loaded]),
        logger: pino({ level: 'silent' }),
        register: new Registry(),
      },
    );
    folder.put({ ...filesOf(first), 'tls.key': second.key, 'other.key': second.key, 'api.yaml': manifest });
    reload.look();
    expect(taken).toEqual([]);
    folder.put({ ...filesOf(second), 'other.key': second.key, 'api.yaml': manifest });
    reload.look();
    expect(taken).toEqual([second]);
    reload.close();
  });
});

function loadedWith(args: readonly string[]): Loaded {
  const whole = mountFolder({ 'api.yaml': manifestOf() });
  try {
    return loadConfiguration(parseArguments(['--manifest', whole.file('api.yaml'), ...args]), {});
  } finally {
    whole.remove();
  }
}

describe('a URL without TLS', () => {
  const folder = mountFolder(filesOf(first));
  afterAll(() => folder.remove());
  const shown = (server: string) => [
    `--${server}-client-certificate-file`,
    folder.file('tls.crt'),
    `--${server}-client-key-file`,
    folder.file('tls.key'),
  ];
  it('is refused with a client certificate, and the error names the field', () => {
    expect(() => loadedWith(['--redis', 'redis://host', ...shown('redis')])).toThrow(
      /expected rediss:.* because spec\.rateLimits\.redis\.clientCertificate is given/,
    );
    expect(() => loadedWith(['--postgres-url', 'postgres://u@host/d?sslmode=disable', ...shown('postgres')])).toThrow(
      /spec\.postgres: sslmode: .*because spec\.postgres\.clientCertificate is given/,
    );
  });
});
