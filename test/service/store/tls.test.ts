import { describe, expect, it } from 'vitest';

import { postgresTls, type TlsDefaults } from '#service/store/tls.ts';

const uri = 'postgres://user:password@db.example.com:5432/ton';
const ca = 'PEM of a field';
const files: Readonly<Record<string, string>> = { '/root.crt': 'PEM of a file', '/c.crt': 'own', '/c.key': 'secret' };
const readFile = (path: string): string => {
  const text = files[path];
  if (text === undefined) throw new Error('ENOENT');
  return text;
};

/** A way in a word: what is checked, and against which root. */
function waysOf(query: string, defaults: Partial<TlsDefaults> = {}): string[] | string {
  const tls = postgresTls(`${uri}${query}`, { readFile, ...defaults });
  if ('problem' in tls) return tls.problem;
  return tls.ways.map((way) => {
    if (way === false) return 'plain';
    if (way.rejectUnauthorized !== true) return 'unchecked';
    const host = way.checkServerIdentity?.('a.example.com', { subject: {}, subjectaltname: 'DNS:b' } as never);
    return `${host === undefined ? 'authority' : 'authority and host'} of ${String(way.ca ?? 'the runtime')}`;
  });
}

describe('a URL of Postgres without a root', () => {
  it.each<[string, string[]]>([
    ['', ['unchecked', 'plain']],
    ['?sslmode=disable', ['plain']],
    ['?sslmode=allow', ['plain', 'unchecked']],
    ['?sslmode=prefer', ['unchecked', 'plain']],
    ['?sslmode=require', ['unchecked']],
    ['?sslmode=no-verify', ['unchecked']],
    ['?sslmode=verify-full', ['authority and host of the runtime']],
    ['?sslrootcert=system', ['authority and host of the runtime']],
    ['?sslmode=verify-full&sslrootcert=system', ['authority and host of the runtime']],
    ['?ssl=true', ['authority and host of the runtime']],
    ['?ssl=false', ['plain']],
    ['?ssl=0&sslmode=require', ['unchecked']],
    ['?uselibpqcompat=true&sslmode=require', ['unchecked']],
  ])('asks with "%s" for %j', (query, ways) => {
    expect(waysOf(query)).toEqual(ways);
  });
});

describe('a URL of Postgres with a root', () => {
  it.each<[string, string[]]>([
    ['', ['authority and host of PEM of a field']],
    ['?sslmode=disable', ['plain']],
    ['?sslmode=allow', ['authority of PEM of a field']],
    ['?sslmode=prefer', ['authority of PEM of a field']],
    ['?sslmode=require', ['authority of PEM of a field']],
    ['?sslmode=verify-ca', ['authority of PEM of a field']],
    ['?sslmode=verify-full', ['authority and host of PEM of a field']],
    ['?sslmode=no-verify', ['unchecked']],
    ['?sslmode=require&sslrootcert=/root.crt', ['authority of PEM of a field']],
    ['?sslrootcert=system', ['authority and host of PEM of a field']],
  ])('asks with "%s" and a bundle of the manifest for %j', (query, ways) => {
    expect(waysOf(query, { ca })).toEqual(ways);
  });

  it.each<[string, string[]]>([
    ['?sslrootcert=/root.crt', ['authority and host of PEM of a file']],
    ['?sslmode=require&sslrootcert=/root.crt', ['authority of PEM of a file']],
    ['?sslmode=verify-ca&sslrootcert=/root.crt', ['authority of PEM of a file']],
  ])('asks with "%s" for %j', (query, ways) => {
    expect(waysOf(query)).toEqual(ways);
  });
});

describe('a URL of Postgres with a client certificate of a field', () => {
  const clientCertificate = { certificate: 'certificate of a field', key: 'key of a field' };
  const own = { cert: 'certificate of a field', key: 'key of a field' };

  it.each(['', '?sslmode=allow', '?sslmode=prefer', '?sslmode=require', '?sslmode=no-verify'])(
    'with "%s" asks over TLS alone, and shows the certificate',
    (query) => {
      expect(waysOf(query, { clientCertificate })).toEqual(['unchecked']);
      const tls = postgresTls(`${uri}${query}`, { readFile, clientCertificate });
      expect(tls).toMatchObject({ ways: [own] });
    },
  );

  it('checks the server as without one', () => {
    expect(waysOf('', { clientCertificate, ca })).toEqual(['authority and host of PEM of a field']);
    expect(waysOf('?sslmode=verify-full', { clientCertificate })).toEqual(['authority and host of the runtime']);
    expect(waysOf('?sslmode=prefer', { clientCertificate, ca })).toEqual(['authority of PEM of a field']);
  });

  it('shows the certificate of the field in place of that of the URL', () => {
    const tls = postgresTls(`${uri}?sslcert=/c.crt&sslkey=/c.key`, { readFile, clientCertificate });
    expect(tls).toMatchObject({ ways: [own] });
  });

  it.each(['?sslmode=disable', '?ssl=false'])('is refused with "%s", which has no TLS', (query) => {
    expect(waysOf(query, { clientCertificate })).toMatch(/sslmode: .*spec\.postgres\.clientCertificate is given/);
  });

  it('is refused if the environment disables TLS', () => {
    expect(waysOf('', { clientCertificate, mode: 'disable' })).toMatch(/clientCertificate is given/);
  });
});

describe('a URL of Postgres', () => {
  it.each<[string, RegExp]>([
    ['?sslmode=verify-ca', /verify-ca: spec\.postgres\.caBundle, --postgres-ca-file or sslrootcert/],
    ['?sslmode=sometimes', /expected disable, allow, prefer, require, verify-ca, verify-full, got something else/],
    ['?sslmode=require&sslrootcert=system', /expected verify-full with sslrootcert=system/],
    ['?sslmode=prefer&sslnegotiation=direct', /with sslnegotiation=direct/],
    ['?sslnegotiation=direct', /with sslnegotiation=direct/],
    ['?sslmode=verify-full&sslrootcert=/away.crt', /expected readable files/],
  ])('is refused with "%s", without its password', (query, problem) => {
    expect(waysOf(query)).toMatch(problem);
    expect(waysOf(query)).not.toContain('password');
  });

  it('takes the mode of the environment where it has none, and its own where it has one', () => {
    expect(waysOf('', { mode: 'verify-full' })).toEqual(['authority and host of the runtime']);
    expect(waysOf('?sslmode=disable', { mode: 'verify-full' })).toEqual(['plain']);
  });

  it('names a certificate of the client, which each encrypted way shows', () => {
    const tls = postgresTls(`${uri}?sslcert=/c.crt&sslkey=/c.key`, { readFile });
    expect(tls).toMatchObject({ ways: [{ cert: 'own', key: 'secret' }, false] });
  });

  it('of a socket never uses TLS', () => {
    for (const socket of ['postgres://u@%2Frun%2Fpg/ton', 'postgres://u@h/ton?host=/run/pg&sslmode=verify-full']) {
      expect(postgresTls(socket, { readFile, ca })).toMatchObject({ ways: [false] });
    }
  });

  it('reaches the client without its parameters of TLS, and with all others', () => {
    const tls = postgresTls(`${uri}?sslmode=require&options=-c%20a%3Db&sslnegotiation=direct`, { readFile });
    expect(tls).toMatchObject({ url: `${uri}?options=-c+a%3Db&sslnegotiation=direct` });
  });
});
