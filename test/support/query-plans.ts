import type { ReadMode, StoreReader } from '#service/store/queries/reader.ts';
import type { Store } from '#service/store/store.ts';
import type { StoreUnderTest } from './store.ts';

/** Queries of a store that are told how they will be run before they are. */
export type PlannedReader = {
  readonly reader: StoreReader;
  /** Runs all, one after the other, and gives the plans of the queries they made. */
  plansOf(runs: readonly (() => Promise<unknown>)[]): Promise<readonly string[]>;
};

/**
 * Small tables are read whole by a planner that knows them: it is told that this costs very much, as it does where they are not small.
 * @param options.mayReadWhole leaves the planner its choice
 */
export function createPlannedReader(
  made: StoreUnderTest,
  { mayReadWhole = false }: { readonly mayReadWhole?: boolean } = {},
): PlannedReader {
  const url = new URL(made.url);
  if (!mayReadWhole) url.searchParams.set('options', '-c enable_seqscan=off');
  const store = made.another({ url: url.href });
  let plans: string[] = [];
  const reader: StoreReader = {
    async read<R extends object>(sql: string, values: readonly unknown[], mode?: ReadMode) {
      const lines = await store.read<Planned>(`EXPLAIN ${sql}`, values);
      const all = mode?.statement === undefined ? lines : [...lines, ...(await planForAll(store, sql, values.length))];
      plans.push(all.map((line) => line['QUERY PLAN']).join('\n'));
      return store.read<R>(sql, values, mode);
    },
  };
  return {
    reader,
    async plansOf(runs) {
      plans = [];
      for (const run of runs) await run();
      return plans;
    },
  };
}

type Planned = { readonly 'QUERY PLAN': string };

/** The plan for all values, with which a statement that is kept is run sooner or later. */
function planForAll(store: Store, sql: string, values: number): Promise<readonly Planned[]> {
  const nothing = values === 0 ? '' : `(${Array.from({ length: values }, () => 'NULL').join(', ')})`;
  return store.transaction(async ({ query }) => {
    await query('SET LOCAL plan_cache_mode = force_generic_plan');
    await query(`PREPARE planned AS ${sql}`);
    const plan = await query<Planned>(`EXPLAIN EXECUTE planned${nothing}`);
    await query('DEALLOCATE planned');
    return plan;
  });
}
