import { readFileSync } from 'node:fs';

import { postgresTls } from '#service/store/tls.ts';

/** Returns the problem of a Postgres URI, without repeating the URI; undefined when valid. */
export function postgresUrlProblem(url: string): string | undefined {
  const expected = 'expected postgres://user:password@host:port/database';
  if (!URL.canParse(url)) return `${expected}, got something else`;
  const { protocol } = new URL(url);
  return protocol === 'postgres:' || protocol === 'postgresql:' ? undefined : `${expected}, got ${protocol}//`;
}

/**
 * Returns why the URI's TLS parameters cannot be followed, without repeating the URI. Undefined when they can. @param ca certificates in
 * PEM
 */
export function postgresTlsProblem(url: string, ca: string | undefined): string | undefined {
  const tls = postgresTls(url, { ca, mode: process.env['PGSSLMODE'], readFile: (path) => readFileSync(path, 'utf8') });
  return 'problem' in tls ? tls.problem : undefined;
}
