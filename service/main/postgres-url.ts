import { readFileSync } from 'node:fs';

import { postgresTls } from '../store/tls.ts';

/** What is wrong with a URI of Postgres, without repeating it; undefined when nothing is. */
export function postgresUrlProblem(url: string): string | undefined {
  const expected = 'expected postgres://user:password@host:port/database';
  if (!URL.canParse(url)) return `${expected}, got something else`;
  const { protocol } = new URL(url);
  return protocol === 'postgres:' || protocol === 'postgresql:' ? undefined : `${expected}, got ${protocol}//`;
}

/** Reports why parameters of TLS in the URI cannot be followed, without repeating it; undefined when they can. @param ca certificates in PEM */
export function postgresTlsProblem(url: string, ca: string | undefined): string | undefined {
  const tls = postgresTls(url, { ca, mode: process.env['PGSSLMODE'], readFile: (path) => readFileSync(path, 'utf8') });
  return 'problem' in tls ? tls.problem : undefined;
}
