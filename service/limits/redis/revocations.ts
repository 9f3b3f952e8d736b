/**
 * The ids in the set of revoked ones, as it was read last.
 *
 * @param onNew called for each id that is seen for the first time
 */
export function createRevocations(onNew: () => void) {
  let listed: ReadonlySet<string> = new Set();
  /** Ids of a set that went with all that Redis held: nobody has taken them out. */
  const lost = new Set<string>();
  let knownSince: string | undefined;
  const has = (id: string): boolean => listed.has(id) || lost.has(id);
  return {
    has,
    /** @param since when Redis began to hold what it holds: another value means that it has lost what it held before */
    set(ids: readonly string[], since: string): void {
      const next = new Set(ids);
      if (knownSince !== undefined && since !== knownSince) for (const id of listed) lost.add(id);
      knownSince = since;
      for (const id of next) {
        if (!has(id)) onNew();
        lost.delete(id);
      }
      listed = next;
    },
  };
}
