/** Ids that Redis says are revoked, and ids that came into force again. */
export type ReadRevocations = { readonly revoked: ReadonlySet<string>; readonly restored: readonly string[] };

/**
 * Ids that are refused: those that Redis listed last, and those that a Redis listed before it lost its data.
 *
 * @param onNew called for each id that is seen for the first time
 */
export function createRevocations(onNew: () => void) {
  let listed: ReadonlySet<string> = new Set();
  /** Ids of a Redis that lost its data: no writer restored them. */
  const lost = new Set<string>();
  let knownSince: string | undefined;
  const has = (id: string): boolean => listed.has(id) || lost.has(id);
  return {
    has,
    /** Ids that Redis listed last. */
    listed: () => [...listed],
    /**
     * @param since when Redis began to hold what it holds: another value means that it has lost what it held before
     * @returns false when Redis has lost what it held before
     */
    set({ revoked, restored }: ReadRevocations, since: string): boolean {
      const isSame = knownSince === undefined || since === knownSince;
      if (!isSame) for (const id of listed) lost.add(id);
      knownSince = since;
      for (const id of revoked) {
        if (!has(id)) onNew();
        lost.delete(id);
      }
      for (const id of restored) lost.delete(id);
      listed = revoked;
      return isSame;
    },
  };
}
