import type { Table } from '#service/store/columns.ts';
import * as meaning from '#service/store/classification-tables.ts';
import type { Store } from '#service/store/store.ts';
import * as ledger from '#service/store/tables.ts';

/** Rows and a hash over all of them, of each table of the ledger: equal for equal tables, whatever order they were written in. */
export function tableHashes(store: Store): Promise<Record<string, string>> {
  return hashesOf(store, Object.values(ledger));
}

/** The same of the tables that the interpreter fills, whatever its version. */
export function meaningHashes(store: Store): Promise<Record<string, string>> {
  const { addressMetadata: _ofAnotherRole, ...told } = meaning;
  return hashesOf(store, Object.values(told), ['version']);
}

/** Of the columns that writers fill: the order in which contracts were first seen is not compared. */
async function hashesOf(
  store: Store,
  tables: readonly Table[],
  except: readonly string[] = [],
): Promise<Record<string, string>> {
  const entries = tables.map(async ({ name, columns }) => {
    const compared = Object.keys(columns).filter((column) => !except.includes(column));
    const rows = `SELECT ${compared.join(', ')} FROM ${name}`;
    const [row] = await store.transaction(({ query }) =>
      query<{ rows: bigint; hash: string | null }>(
        `SELECT count(*) AS rows, md5(string_agg(md5(one::text), '' ORDER BY md5(one::text))) AS hash FROM (${rows}) AS one`,
      ),
    );
    return [name, `${row?.rows} rows ${row?.hash}`] as const;
  });
  return Object.fromEntries(await Promise.all(entries));
}
