import type { StoreReader } from '#service/store/queries/reader.ts';
import type { StoreUnderTest } from './store.ts';

/** Queries of a store that are told how they will be run before they are. */
export type PlannedReader = {
  readonly reader: StoreReader;
  /** Runs all, one after the other, and gives the plans of the queries they made. */
  plansOf(runs: readonly (() => Promise<unknown>)[]): Promise<readonly string[]>;
};

/** Small tables are read whole by a planner that knows them: it is told that this costs very much, as it does where they are not small. */
export function createPlannedReader(made: StoreUnderTest): PlannedReader {
  const url = new URL(made.url);
  url.searchParams.set('options', '-c enable_seqscan=off');
  const store = made.another({ url: url.href });
  let plans: string[] = [];
  const reader: StoreReader = {
    async read<R extends object>(sql: string, values: readonly unknown[]) {
      const lines = await store.read<{ 'QUERY PLAN': string }>(`EXPLAIN ${sql}`, values);
      plans.push(lines.map((line) => line['QUERY PLAN']).join('\n'));
      return store.read<R>(sql, values);
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
