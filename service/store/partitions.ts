import { withStoreErrors } from './errors.ts';
import type { Store } from './store.ts';

/** Tables that are split by lt. */
const partitioned = ['transactions', 'messages'] as const;

/** Lt in a partition: some two months of mainnet, whose lt grew by 1e13 a year in 2025. */
export const PARTITION_LTS = 2_000_000_000_000n;

export type Partitions = {
  /** Creates the partitions of rows with these lts. Call it outside the transaction that writes the rows. */
  ensure(lts: Iterable<bigint>): Promise<void>;
};

/**
 * Creates partitions on demand. A new partition is created outside of its table and then attached. Readers and writers of the table are not
 * blocked then.
 */
export function createPartitions(store: Store): Partitions {
  const known = new Set<bigint>();

  const make = async (index: bigint): Promise<void> => {
    await store.transaction(async ({ query }) => {
      await query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [`tonplane partitions ${store.schema}`]);
      const bounds = [index * PARTITION_LTS, (index + 1n) * PARTITION_LTS] as const;
      for (const table of partitioned) await attach(query, table, index, bounds);
    });
  };

  return {
    async ensure(lts) {
      const missing = new Set<bigint>();
      for (const lt of lts) {
        const index = lt / PARTITION_LTS;
        if (!known.has(index)) missing.add(index);
      }
      for (const index of missing) {
        await make(index);
        known.add(index);
      }
    },
  };
}

async function attach(
  query: Parameters<Parameters<Store['transaction']>[0]>[0]['query'],
  table: string,
  index: bigint,
  [from, to]: readonly [bigint, bigint],
): Promise<void> {
  const name = `${table}_${index}`;
  const [found] = await query<{ exists: boolean }>('SELECT to_regclass($1) IS NOT NULL AS exists', [name]);
  if (found?.exists === true) return;
  // The check spares the scan at attaching.
  await withStoreErrors(
    query(`CREATE TABLE ${name} (LIKE ${table} INCLUDING ALL, CHECK (lt >= ${from} AND lt < ${to}))`),
  );
  await withStoreErrors(query(`ALTER TABLE ${table} ATTACH PARTITION ${name} FOR VALUES FROM (${from}) TO (${to})`));
}
