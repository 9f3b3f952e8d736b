import type { Store } from '#service/store/store.ts';
import {
  accountStates,
  blocks,
  codes,
  latestAccountStates,
  messages,
  openEdges,
  shardTops,
  traceAccounts,
  traces,
  transactions,
} from '#service/store/tables.ts';

/** Tables of the ledger by name. */
export const ledgerTables = [
  accountStates,
  blocks,
  codes,
  latestAccountStates,
  messages,
  openEdges,
  shardTops,
  traceAccounts,
  traces,
  transactions,
].map(({ name }) => name);

/** Rows of each table and a hash over all that they hold, whatever their order: equal for equal content. */
export async function tableHashes(store: Store): Promise<Readonly<Record<string, string>>> {
  const hashes: Record<string, string> = {};
  for (const table of ledgerTables) {
    const [row] = await store.read<{ rows: bigint; hash: string | null }>(
      `SELECT count(*) AS rows, md5(string_agg(h, '' ORDER BY h)) AS hash FROM (SELECT md5(t::text) AS h FROM ${table} t) hashed`,
      [],
      { timeoutMs: 60_000 },
    );
    hashes[table] = `${row?.rows ?? 0n} ${row?.hash ?? 'empty'}`;
  }
  return hashes;
}
