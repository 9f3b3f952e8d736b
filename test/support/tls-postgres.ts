import { chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { startEmbeddedPostgres } from '#service/main/postgres/embedded-postgres.ts';
import { postgresAccount, postgresBinaries } from '#service/main/postgres/postgres-binaries.ts';

import type { Certificate } from './certificate.ts';
import type { PostgresServer } from './postgres-server.ts';

/** Starts a Postgres of our own that offers TLS with the certificate, from the binaries that the project installs. */
export async function startTlsPostgres({ certificate, key }: Certificate): Promise<PostgresServer> {
  const bin = postgresBinaries();
  if (bin === undefined) throw new Error('embedded-postgres has no binaries for this platform');
  const folder = mkdtempSync(join(tmpdir(), 'tonplane-tls-'));
  const [certificateFile, keyFile] = [join(folder, 'tls.crt'), join(folder, 'tls.key')];
  writeFileSync(certificateFile, certificate);
  writeFileSync(keyFile, key, { mode: 0o600 });
  const account = postgresAccount();
  // Postgres reads a key that is its own and nobody else's.
  if (account !== undefined) for (const path of [folder, keyFile]) chownSync(path, account.uid, account.gid);
  const settings = ['ssl=on', `ssl_cert_file=${certificateFile}`, `ssl_key_file=${keyFile}`];
  const server = await startEmbeddedPostgres({ bin, settings });
  return {
    url: server.url,
    async close() {
      await server.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
