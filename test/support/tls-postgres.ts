import { chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { startEmbeddedPostgres } from '#service/main/postgres/embedded-postgres.ts';
import { postgresAccount, postgresBinaries } from '#service/main/postgres/postgres-binaries.ts';

import type { Certificate } from './certificate.ts';
import type { PostgresServer } from './postgres-server.ts';

/** Lets clients over TCP in with a certificate of the authority alone, whose name is that of the user. */
const certificateEntries = 'local all all trust\nhostssl all all 127.0.0.1/32 cert clientcert=verify-full\n';

/**
 * Starts a Postgres of our own that offers TLS with the certificate, from the binaries that the project installs.
 *
 * @param clients certificate of the authority that clients need a certificate of; undefined: they log in with a password
 */
export async function startTlsPostgres({ certificate, key }: Certificate, clients?: string): Promise<PostgresServer> {
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
  if (clients !== undefined) {
    const [authorityFile, entriesFile] = [join(folder, 'clients.crt'), join(folder, 'pg_hba.conf')];
    writeFileSync(authorityFile, clients);
    writeFileSync(entriesFile, certificateEntries);
    settings.push(`ssl_ca_file=${authorityFile}`, `hba_file=${entriesFile}`);
  }
  const server = await startEmbeddedPostgres({ bin, settings });
  return {
    url: server.url,
    async close() {
      await server.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
