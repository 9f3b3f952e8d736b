import { Client } from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { checkSchema, migrate, schemaVersion } from '#service/store/migrate.ts';
import * as meaningTables from '#service/store/classification-tables.ts';
import * as ledgerTables from '#service/store/tables.ts';
import { writtenTraces } from '#service/store/written-traces.ts';
import { createStoreUnderTest, type StoreUnderTest } from '#test/support/store.ts';

const allVersions = Array.from({ length: schemaVersion }, (_, index) => index + 1);

/** A table: its columns in their order, but for those that Postgres fills. */
type Shape = { readonly name: string; readonly key: readonly string[]; readonly columns: readonly string[] };

/** What writers keep of themselves, by statements of their own, and what the database keeps of other tables. */
const keptOtherwise: ReadonlySet<string> = new Set([
  'account_changes',
  'backfill_ranges',
  'indexer_state',
  'interpretations',
  'metadata_tasks',
  'multisig_members',
  'nft_items_on_sale',
  'schema_versions',
  'token_accounts',
  'vesting_whitelisted',
]);

function believedTables(): Shape[] {
  return Object.values({ ...ledgerTables, ...meaningTables, writtenTraces })
    .map(({ name, key, columns }) => ({
      name,
      key,
      columns: Object.entries(columns).map(
        ([column, { sql, nullable }]) => `${column} ${sql}${nullable ? ' or null' : ''}`,
      ),
    }))
    .toSorted((one, other) => (one.name < other.name ? -1 : 1));
}

describe('migrate', () => {
  let tested: StoreUnderTest;

  beforeEach(async () => {
    tested = await createStoreUnderTest(import.meta.filename);
  });

  afterEach(() => tested.close());

  const later = (version: number, compatibleFrom: number): Promise<void> =>
    asAdministrator(
      `INSERT INTO ton.schema_versions (version, name, compatible_from) VALUES (${version}, 'later', ${compatibleFrom})`,
    );
  const asAdministrator = async (sql: string): Promise<void> => {
    const client = new Client(tested.url);
    await client.connect();
    try {
      await client.query(sql);
    } finally {
      await client.end();
    }
  };

  it('makes the tables from nothing, and nothing a second time', async () => {
    await expect(checkSchema(tested.store)).rejects.toMatchObject({ code: 'schema_missing' });
    expect(await migrate(tested.store)).toEqual(allVersions);
    expect(await migrate(tested.store)).toEqual([]);
    expect(await checkSchema(tested.store)).toMatchObject({ version: schemaVersion });
  });

  it('makes the tables that writers and readers believe in, no more and no less', async () => {
    await migrate(tested.store);
    const found = await tested.store.read<Shape>(
      `SELECT c.relname AS name,
         array(SELECT k.attname::text FROM unnest(p.conkey) WITH ORDINALITY AS in_key (attnum, place)
           JOIN pg_attribute k ON k.attrelid = c.oid AND k.attnum = in_key.attnum ORDER BY place) AS key,
         (SELECT json_agg(format('%s %s%s', a.attname, format_type(a.atttypid, a.atttypmod), CASE WHEN a.attnotnull THEN '' ELSE ' or null' END) ORDER BY a.attnum)
           FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attidentity = '') AS columns
       FROM pg_class c LEFT JOIN pg_constraint p ON p.conrelid = c.oid AND p.contype = 'p'
       WHERE c.relnamespace = 'ton'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
       ORDER BY c.relname COLLATE "C"`,
    );
    expect(found.filter(({ name }) => !keptOtherwise.has(name))).toEqual(believedTables());
    expect(found.map(({ name }) => name)).toEqual(expect.arrayContaining([...keptOtherwise]));
  });

  it('is done once when several processes begin at the same time', async () => {
    const stores = Array.from({ length: 6 }, () => tested.another({ poolSize: 1 }));
    const done = await Promise.all(stores.map(migrate));
    expect(done.flat().toSorted((one, other) => one - other)).toEqual(allVersions);
  });

  it('holds networks apart by schema', async () => {
    const other = tested.another({ schema: 'ton_testnet' });
    await migrate(tested.store);
    expect(await migrate(other)).toEqual(allVersions);
  });

  it('needs no right to make schemas when the schema is there', async () => {
    await asAdministrator(`CREATE ROLE modest_${process.pid} LOGIN PASSWORD 'modest'`);
    try {
      await asAdministrator(`CREATE SCHEMA ton AUTHORIZATION modest_${process.pid}`);
      const url = new URL(tested.url);
      url.username = `modest_${process.pid}`;
      url.password = 'modest';
      expect(await migrate(tested.another({ url: url.href }))).toEqual(allVersions);
    } finally {
      await asAdministrator(`DROP OWNED BY modest_${process.pid} CASCADE; DROP ROLE modest_${process.pid}`);
    }
  });

  it('leaves a later schema alone on which this code works, and refuses one on which it does not', async () => {
    await migrate(tested.store);
    await later(schemaVersion + 1, schemaVersion);
    expect(await migrate(tested.store)).toEqual([]);
    await checkSchema(tested.store);
    await later(schemaVersion + 2, schemaVersion + 1);
    await expect(migrate(tested.store)).rejects.toMatchObject({ code: 'schema_newer' });
    await expect(checkSchema(tested.store)).rejects.toMatchObject({ code: 'schema_newer' });
  });

  it('asks for a migration of an older schema', async () => {
    await migrate(tested.store);
    await asAdministrator('UPDATE ton.schema_versions SET version = version - 1');
    await expect(checkSchema(tested.store)).rejects.toMatchObject({
      code: schemaVersion === 1 ? 'schema_missing' : 'schema_older',
    });
  });

  it('leaves no half of a step that fails', async () => {
    await asAdministrator('CREATE SCHEMA ton; CREATE TABLE ton.open_edges (taken integer)');
    await expect(migrate(tested.store)).rejects.toMatchObject({ code: 'query_failed' });
    const names = await tested.store.read<{ name: string }>(
      `SELECT relname::text AS name FROM pg_class WHERE relnamespace = 'ton'::regnamespace AND relkind = 'r' ORDER BY 1`,
    );
    expect(names.map(({ name }) => name)).toEqual(['open_edges', 'schema_versions']);
  });
});
