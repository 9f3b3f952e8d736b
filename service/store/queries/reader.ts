/** What queries read through: the store, with a caller's time already counted. */
export type StoreReader = {
  /** Rows with their columns as `columns.ts` types them. Throws StoreError. */
  read<R extends object>(sql: string, values: readonly unknown[]): Promise<readonly R[]>;
};
