import type { Store } from '#service/store/store.ts';
import * as tables from '#service/store/tables.ts';

/** Rows and a hash over all of them, of each table of the ledger: equal for equal tables, whatever order they were written in. */
export async function tableHashes(store: Store): Promise<Record<string, string>> {
  const entries = Object.values(tables).map(async ({ name }) => {
    const [row] = await store.transaction(({ query }) =>
      query<{ rows: bigint; hash: string | null }>(
        `SELECT count(*) AS rows, md5(string_agg(md5(one::text), '' ORDER BY md5(one::text))) AS hash FROM ${name} AS one`,
      ),
    );
    return [name, `${row?.rows} rows ${row?.hash}`] as const;
  });
  return Object.fromEntries(await Promise.all(entries));
}
