/** How a query is run. */
export type ReadMode = {
  /**
   * Name under which connections cache the plan of the text. Use it for a constant text that selects by keys and takes longer to plan than
   * to run. Tables with many partitions have such texts. `keyAt` places its keys. A generic plan does not suit filters that select many or
   * few rows.
   */
  readonly statement?: string;
  /** Bytes of `bytea` in all rows; beyond them the read fails with StoreError `rows_too_large`. Absent: no bound. */
  readonly bytesMax?: number;
};

/** Reader of queries: the store, with a caller's time already counted. */
export type StoreReader = {
  /** Aborted when the caller left or its time is over; absent for a reader without limit. */
  readonly signal?: AbortSignal;
  /** Takes bytes of the answer that the rows lead to, and throws when it would be too large. Absent for a reader whose rows are no answer. */
  readonly takeBytes?: (bytes: number) => void;
  /** True if the network's clock passed 2^31 s: queries compare times as unsigned, without their indexes (times.ts). */
  readonly passes2038?: boolean;
  /** Rows with their columns as `columns.ts` types them. Throws StoreError. */
  read<R extends object>(sql: string, values: readonly unknown[], mode?: ReadMode): Promise<readonly R[]>;
};
