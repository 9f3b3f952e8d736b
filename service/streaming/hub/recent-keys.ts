export type RecentKeys<T> = {
  readonly get: (key: string) => T | undefined;
  /** @returns the former value */
  readonly replace: (key: string, value: T) => T | undefined;
};

/** Values of the newest keys, as many as the bound. */
export function createRecentKeys<T>(max: number): RecentKeys<T> {
  const values = new Map<string, T>();
  return {
    get: (key) => values.get(key),
    replace(key, value) {
      const former = values.get(key);
      values.delete(key);
      values.set(key, value);
      const [oldest] = values.keys();
      if (values.size > max && oldest !== undefined) values.delete(oldest);
      return former;
    },
  };
}
