import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { readAccountNames } from '#service/store/queries/accounts.ts';
import { readTokens } from '#service/store/queries/metadata.ts';
import type { StoreReader } from '#service/store/queries/reader.ts';
import type { StoreUnderTest } from '#test/support/store.ts';
import { createMigratedStore } from '#test/support/templates.ts';
import { readSources } from '#test/style/sources.ts';

let index: StoreUnderTest;

beforeAll(async () => {
  index = await createMigratedStore(import.meta.filename);
});
afterAll(() => index.close());

/** Queries of caches that follow changes, by the file of the cache. */
const queries: Readonly<Record<string, (store: StoreReader) => Promise<unknown>>> = {
  'service/v3/annotations/account-label-cache.ts': (store) => readAccountNames(store, [], undefined),
  'service/v3/annotations/token-info-cache.ts': (store) =>
    readTokens(store, { accounts: [], balances: [], since: undefined }),
};

/** Columns that a cache reads with every answer. */
const uncached = ['jetton_wallets.balance'];

/** Returns the columns that a query reads, `table.column`, from the dependencies of a view of it. Keys of rows, which never change, are left out. */
async function columnsOf(query: (store: StoreReader) => Promise<unknown>): Promise<readonly string[]> {
  let text = '';
  const recorder: StoreReader = {
    read(sql) {
      text = sql;
      return Promise.resolve([{ settled: '0', changed: [], type: 'moment' }] as never);
    },
  };
  await query(recorder);
  const view = text.replaceAll(/\$\d+/g, 'NULL');
  const rows = await index.store.transaction(async ({ query: run }) => {
    await run(`CREATE VIEW query_under_test AS SELECT 1 AS one FROM (${view}) AS asked`, []);
    const found = await run<{ readonly name: string }>(
      `SELECT DISTINCT c.relname || '.' || a.attname AS name
       FROM pg_depend d
       JOIN pg_rewrite r ON r.oid = d.objid AND d.classid = 'pg_rewrite'::regclass
       JOIN pg_class c ON c.oid = d.refobjid AND c.relname <> 'account_changes'
       JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = d.refobjsubid
       LEFT JOIN pg_index i ON i.indrelid = c.oid AND i.indisprimary
       WHERE r.ev_class = 'query_under_test'::regclass AND d.refobjsubid > 0 AND d.refobjsubid <> ALL (coalesce(i.indkey::int2[], '{}')) ORDER BY 1`,
      [],
    );
    await run('DROP VIEW query_under_test', []);
    return found;
  });
  return rows.map(({ name }) => name);
}

/** Returns true if an update of the column adds a row to `account_changes`. */
async function isReported(column: string): Promise<boolean> {
  const [table = '', name = ''] = column.split('.');
  const triggers = await index.store.read<{ readonly text: string }>(
    `SELECT pg_get_triggerdef(t.oid) AS text FROM pg_trigger t JOIN pg_proc p ON p.oid = t.tgfoid
     WHERE t.tgrelid = $1::regclass AND p.prosrc LIKE '%INSERT INTO account_changes%'`,
    [table],
  );
  return triggers.some(
    ({ text }) =>
      / UPDATE /.test(text) && (!/ WHEN /.test(text) || new RegExp(String.raw`\bnew\.${name}\b`, 'i').test(text)),
  );
}

async function unreportedOf(query: (store: StoreReader) => Promise<unknown>): Promise<readonly string[]> {
  const columns = (await columnsOf(query)).filter((column) => !uncached.includes(column));
  const reported = await Promise.all(columns.map(isReported));
  return columns.filter((_, at) => reported[at] === false);
}

describe('caches that follow changes', () => {
  it('are all checked here', () => {
    const users = readSources('service')
      .filter(({ text }) => /createChangeTrackedCache</.test(text))
      .map(({ path }) => path)
      .filter((path) => !path.endsWith('/change-tracked-cache.ts'));
    expect(users.toSorted()).toEqual(Object.keys(queries));
  });

  it.each(Object.entries(queries))(
    'every column that %s reads has a trigger that reports its change',
    async (_, query) => {
      expect((await columnsOf(query)).length).toBeGreaterThan(3);
      expect(await unreportedOf(query)).toEqual([]);
    },
  );

  it('a column whose trigger is missing is found', async () => {
    await index.store.transaction(({ query }) => query('DROP TRIGGER account_changes ON jetton_masters', []));
    expect(await unreportedOf(queries['service/v3/annotations/token-info-cache.ts']!)).toEqual([
      'jetton_masters.content',
    ]);
  });
});
