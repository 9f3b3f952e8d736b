import { basename } from 'node:path';

import { Client } from 'pg';
import { inject } from 'vitest';

declare module 'vitest' {
  interface ProvidedContext {
    /** A Postgres server that tests make databases in. */
    postgresUrl: string;
    /** A Redis server, or undefined where there is none: skip loudly. */
    redisUrl: string | undefined;
  }
}

/** A database of its own for a test file, dropped by `close`. @param template a database that it begins as a copy of; nobody may be connected to it */
export async function createDatabase(
  testFile: string,
  template?: string,
): Promise<{ url: string; close(): Promise<void> }> {
  const server = inject('postgresUrl');
  const stem = basename(testFile).replace(/\W.*$/, '').toLowerCase();
  const name = `test_${stem}_${process.pid}_${Math.random().toString(36).slice(2, 8)}`;
  await run(
    server,
    `CREATE DATABASE ${name}${template === undefined ? '' : ` TEMPLATE ${template} STRATEGY file_copy`}`,
  );
  const url = new URL(server);
  url.pathname = `/${name}`;
  return { url: url.href, close: () => run(server, `DROP DATABASE ${name} WITH (FORCE)`) };
}

async function run(url: string, sql: string): Promise<void> {
  const client = new Client(url);
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}
