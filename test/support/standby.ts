import { execFileSync } from 'node:child_process';
import { appendFileSync, chownSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { Client } from 'pg';

import { startEmbeddedPostgres, type EmbeddedPostgres } from '#service/main/postgres/embedded-postgres.ts';
import { postgresBinaries } from '#service/main/postgres/postgres-binaries.ts';

/** Folder of the programs of Postgres; empty where the platform has none: skip loudly. */
export const postgresBin = postgresBinaries() ?? '';

/** Queries on the standby give way to the primary at once. */
const settings = ['wal_level=replica', 'max_wal_senders=4', 'hot_standby=on', 'max_standby_streaming_delay=0'];

/** A primary and a standby that streams from it, each on a port of its own. */
export type PrimaryWithStandby = {
  readonly primary: EmbeddedPostgres;
  readonly standby: EmbeddedPostgres;
  /** Runs one statement as the superuser. */
  onPrimary(sql: string): Promise<void>;
  /** Resolves when the standby replays nothing more. */
  pauseReplay(): Promise<void>;
  resumeReplay(): Promise<void>;
  close(): Promise<void>;
};

const start = (folder: string): Promise<EmbeddedPostgres> =>
  startEmbeddedPostgres({ bin: postgresBin, folder, settings });

/** @param prepare fills the primary before the standby is copied from it */
export async function startPrimaryWithStandby(
  prepare: (url: string) => Promise<void> = async () => undefined,
): Promise<PrimaryWithStandby> {
  const folder = mkdtempSync(join(tmpdir(), 'tonplane-standby-'));
  const [primaryFolder, standbyFolder] = [join(folder, 'primary'), join(folder, 'standby')];
  const first = await start(primaryFolder);
  await prepare(first.url);
  await first.close();
  mkdirSync(standbyFolder);
  // The copy belongs to the account of the original.
  execFileSync('cp', ['-a', `${primaryFolder}/data`, `${primaryFolder}/password`, standbyFolder]);
  const primary = await start(primaryFolder);
  follow(primary, join(standbyFolder, 'data'));
  const standby = await start(standbyFolder);
  return {
    primary,
    standby,
    onPrimary: (sql) => runOn(primary.url, sql),
    pauseReplay: () =>
      runOn(
        standby.url,
        `DO $$ BEGIN
           PERFORM pg_wal_replay_pause();
           WHILE pg_get_wal_replay_pause_state() <> 'paused' LOOP PERFORM pg_sleep(0.01); END LOOP;
         END $$`,
      ),
    resumeReplay: () => runOn(standby.url, 'SELECT pg_wal_replay_resume()'),
    async close() {
      await standby.close();
      await primary.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Makes a copied folder of data follow the primary. */
function follow(primary: EmbeddedPostgres, data: string): void {
  const { hostname, port, username, password } = new URL(primary.url);
  const [signal, own] = [join(data, 'standby.signal'), join(data, 'postgresql.auto.conf')];
  appendFileSync(own, `primary_conninfo = 'host=${hostname} port=${port} user=${username} password=${password}'\n`);
  writeFileSync(signal, '');
  const { uid, gid } = statSync(own);
  chownSync(signal, uid, gid);
}

async function runOn(url: string, sql: string): Promise<void> {
  const client = new Client(url);
  client.on('error', () => undefined);
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}
