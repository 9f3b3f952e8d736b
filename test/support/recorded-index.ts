import { Client } from 'pg';
import { inject } from 'vitest';

import { rowsOf } from '#service/indexer/rows/rows.ts';
import { assembleTraces } from '#service/indexer/traces/assembly.ts';
import { migrate } from '#service/store/migrate.ts';
import type { AccountStateRow, BlockRows } from '#service/store/tables.ts';
import { createWriter, type WriteTurn } from '#service/store/writer.ts';
import { recordedBlocks } from '#test/service/indexer/recorded-blocks.ts';
import { createStoreUnderTest, openStore, type StoreUnderTest } from './store.ts';

/** The index of the whole recorded chain, made once for a run of tests. */
const template = 'recorded_index';

/** Class of the advisory locks of templates. The second key is the name, so that two templates are made at once. */
const lockClass = 20_261_121;

const anyTurn: WriteTurn = { advance: async () => {} };

/** A store that holds the index of the whole recorded chain: a copy of its own for a test file. */
export async function createRecordedIndex(testFile: string): Promise<StoreUnderTest> {
  await makeRecordedIndex();
  return createStoreUnderTest(testFile, {}, template);
}

/** Makes the index that others are copies of, unless it is there. Gives its name. */
export async function makeRecordedIndex(): Promise<string> {
  await makeTemplate(template, fill);
  return template;
}

/** The rows of the recorded chain, by masterchain block. */
export async function recordedRows(): Promise<readonly BlockRows[]> {
  return (await recordedBlocks()).map(rowsOf);
}

/** The states in some rows by their hash in base64, as views look them up. */
export function statesIn(rows: readonly BlockRows[]): ReadonlyMap<string, AccountStateRow> {
  return new Map(
    rows.flatMap(({ accountStates }) => accountStates.map((row) => [Buffer.from(row.hash).toString('base64'), row])),
  );
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
    await client.query(`CREATE DATABASE ${building}${from === undefined ? '' : ` TEMPLATE ${from}`}`);
    const url = new URL(server);
    url.pathname = `/${building}`;
    await make(url.href);
    await client.query(`ALTER DATABASE ${building} RENAME TO ${name}`);
  } finally {
    // The lock ends with its connection.
    await client.end();
  }
}

async function fill(url: string): Promise<void> {
  const store = openStore({ url });
  try {
    await migrate(store);
    const writer = createWriter({ carriage: 'copy', assemble: assembleTraces }, store);
    await writer.write(await recordedRows(), anyTurn);
    await store.transaction(({ query }) => query('ANALYZE'));
  } finally {
    await store.close();
  }
}
