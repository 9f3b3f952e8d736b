import { Client } from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { checkSchema, migrate, schemaVersion } from '#service/store/migrate.ts';
import * as meaningTables from '#service/store/meaning-tables.ts';
import * as ledgerTables from '#service/store/tables.ts';
import { createStoreUnderTest, type StoreUnderTest } from '#test/support/store.ts';

const allVersions = Array.from({ length: schemaVersion }, (_, index) => index + 1);

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

  it('makes the columns that writers and readers believe in', async () => {
    await migrate(tested.store);
    const found = await tested.store.read<{ table: string; column: string; type: string; nullable: boolean }>(
      `SELECT c.relname AS table, a.attname AS column, format_type(a.atttypid, a.atttypmod) AS type, NOT a.attnotnull AS nullable
       FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
       WHERE c.relnamespace = 'ton'::regnamespace AND c.relkind IN ('r', 'p') AND a.attnum > 0 AND NOT a.attisdropped`,
    );
    for (const table of Object.values({ ...ledgerTables, ...meaningTables })) {
      const believed = Object.entries(table.columns).map(([column, kind]) => ({
        table: table.name,
        column,
        type: kind.sql,
        nullable: kind.nullable,
      }));
      expect(found.filter((one) => one.table === table.name)).toEqual(expect.arrayContaining(believed));
    }
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
