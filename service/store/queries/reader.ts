/** How a query is run. */
export type ReadMode = {
  /**
   * Connections keep the plan of the text under this name: of a text that is always the same, asks by keys, and takes longer to plan than to run, as each
   * table of many parts does; its keys are given by `keyAt`. A plan for all values is none for filters that let through many or few.
   */
  readonly statement?: string;
};

/** What queries read through: the store, with a caller's time already counted. */
export type StoreReader = {
  /** Aborted when the caller went away or its time is over; absent for a reader that nothing ends. */
  readonly signal?: AbortSignal;
  /** Rows with their columns as `columns.ts` types them. Throws StoreError. */
  read<R extends object>(sql: string, values: readonly unknown[], mode?: ReadMode): Promise<readonly R[]>;
};
