/** Ids that Redis lists as revoked, and ids that came into force again. */
export type ReadRevocations = { readonly revoked: ReadonlySet<string>; readonly restored: readonly string[] };

/**
 * Refused ids: the last list of Redis, and the lists of a Redis that lost its data since.
 *
 * @param onNew called for each id at its first appearance
 */
export function createRevocations(onNew: () => void) {
  let listed: ReadonlySet<string> = new Set();
  /** Ids listed by a Redis that lost its data. No writer restored them. */
  const lost = new Set<string>();
  let knownSince: string | undefined;
  const has = (id: string): boolean => listed.has(id) || lost.has(id);
  return {
    has,
    /** Ids that Redis listed last. */
    listed: () => [...listed],
    /**
     * @param since when Redis began to hold its data; another value means that Redis lost its data
     * @returns false when Redis has lost its data
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
