import { startEmbeddedPostgres } from '#service/main/postgres/embedded-postgres.ts';
import { postgresBinaries } from '#service/main/postgres/postgres-binaries.ts';
import { postgresRelease } from './postgres-release.ts';

/** A running Postgres for tests. */
export type PostgresServer = { readonly url: string; close(): Promise<void> };

/**
 * The server at `DATABASE_URL`, else a real one of our own in a temporary folder on a free port of loopback, from the
 * binaries that the embedded-postgres packages ship: of the release that the project installs, or of the major version that `TONPLANE_POSTGRES` names.
 */
export async function startPostgres(): Promise<PostgresServer> {
  const given = process.env['DATABASE_URL'];
  if (given !== undefined && given !== '') return { url: given, close: () => Promise.resolve() };
  const major = process.env['TONPLANE_POSTGRES'];
  const bin = major === undefined || major === '' ? postgresBinaries() : postgresRelease(major);
  if (bin === undefined) throw new Error('embedded-postgres has no binaries for this platform: set DATABASE_URL');
  return startEmbeddedPostgres({ bin });
}
