import { readFileSync } from 'node:fs';

import { postgresTls, type TlsDefaults } from '#service/store/tls.ts';

/** Returns the problem of a Postgres URI, without repeating the URI; undefined when valid. */
export function postgresUrlProblem(url: string): string | undefined {
  const expected = 'expected postgres://user:password@host:port/database';
  if (!URL.canParse(url)) return `${expected}, got something else`;
  const { protocol } = new URL(url);
  return protocol === 'postgres:' || protocol === 'postgresql:' ? undefined : `${expected}, got ${protocol}//`;
}

/**
 * Returns why the URI's TLS parameters cannot be followed, without repeating the URI. Undefined when they can.
 *
 * @param given authorities in PEM and the client certificate, of the manifest or the command line
 */
export function postgresTlsProblem(
  url: string,
  given: Pick<TlsDefaults, 'ca' | 'clientCertificate'>,
): string | undefined {
  const tls = postgresTls(url, { ...given, mode: process.env['PGSSLMODE'], readFile: readText });
  return 'problem' in tls ? tls.problem : undefined;
}

function readText(path: string): string {
  return readFileSync(path, 'utf8');
}
