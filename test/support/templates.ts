import { Client } from 'pg';
import { inject } from 'vitest';

import { migrate } from '#service/store/migrate.ts';
import type { StoreOptions } from '#service/store/store.ts';
import { createStoreUnderTest, openStore, type StoreUnderTest } from './store.ts';

/** An index without rows, made once for a run of tests. */
const migrated = 'migrated_index';

/** Class of the advisory locks of templates. The second key is the name, so that two templates are made at once. */
const lockClass = 20_261_121;

/** A store with the tables of an index and no rows. A copy takes half the CPU of the steps of a migration. */
export async function createMigratedStore(
  testFile: string,
  options: Partial<StoreOptions> = {},
): Promise<StoreUnderTest> {
  await makeMigratedIndex();
  return createStoreUnderTest(testFile, options, migrated);
}

/** Makes the index without rows, unless it is there. Gives its name. */
export async function makeMigratedIndex(): Promise<string> {
  await makeTemplate(migrated, async (url) => {
    const store = openStore({ url });
    try {
      await migrate(store);
    } finally {
      await store.close();
    }
  });
  return migrated;
}

/**
 * A database that those of tests begin as copies of, made once for a run. Files run side by side: the first one makes it and the others wait.
 *
 * @param make puts into it what it holds
 * @param from another one that it begins as a copy of
 */
export async function makeTemplate(name: string, make: (url: string) => Promise<void>, from?: string): Promise<void> {
  const server = inject('postgresUrl');
  const client = new Client(server);
  await client.connect();
  try {
    await client.query('SELECT pg_advisory_lock($1, hashtext($2))', [lockClass, name]);
    const { rowCount } = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [name]);
    if (rowCount === 1) return;
    const building = `${name}_building`;
    await client.query(`DROP DATABASE IF EXISTS ${building} WITH (FORCE)`);
    await client.query(
      `CREATE DATABASE ${building}${from === undefined ? '' : ` TEMPLATE ${from} STRATEGY file_copy`}`,
    );
    const url = new URL(server);
    url.pathname = `/${building}`;
    await make(url.href);
    await client.query(`ALTER DATABASE ${building} RENAME TO ${name}`);
  } finally {
    // The lock ends with its connection.
    await client.end();
  }
}
