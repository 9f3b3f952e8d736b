import { ENTRY_MAX_AGE_SECONDS } from './revocation-set.ts';

/** Ids that Redis lists: revoked ones, those of the set by name, and those that came into force again. */
export type ReadRevocations = Readonly<Record<'revoked' | 'named' | 'restored', readonly string[]>>;

/**
 * Refused ids: the last list of Redis, and ids that it listed before. A Redis may lose its data, or start with an older snapshot. So a missing id
 * stays refused until it is listed as restored, or forgotten.
 *
 * @param onNew called for each id at its first appearance
 */
export function createRevocations(onNew: () => void) {
  let revoked: readonly string[] = [];
  let listed: ReadonlySet<string> = new Set();
  /** Ids that Redis does not list any more, with the second when the keyring last had their key. */
  const missing = new Map<string, number | undefined>();
  let knownSince: string | undefined;
  const has = (id: string): boolean => listed.has(id) || missing.has(id);
  return {
    has,
    /** Ids that Redis listed last. */
    listed: () => [...listed],
    /**
     * @param since when Redis began to hold its data; another value means that Redis lost its data
     * @returns false when Redis has lost its data
     */
    set(found: ReadRevocations, since: string): boolean {
      const isSame = knownSince === undefined || since === knownSince;
      knownSince = since;
      // Earlier versions end a revocation by its removal from the set by name.
      const before = isSame ? revoked : listed;
      const known = listed;
      revoked = found.revoked;
      listed = new Set([...revoked, ...found.named]);
      for (const id of before) if (!listed.has(id) && !missing.has(id)) missing.set(id, undefined);
      for (const id of listed) if (!missing.delete(id) && !known.has(id)) onNew();
      for (const id of found.restored) missing.delete(id);
      return isSame;
    },
    /** Forgets missing ids whose key the keyring has not had for a day, as Redis trims its entries. */
    forget(inKeyring: (id: string) => boolean, nowSeconds: number): void {
      for (const [id, seenAt] of missing) {
        if (seenAt === undefined || inKeyring(id)) missing.set(id, nowSeconds);
        else if (nowSeconds - seenAt > ENTRY_MAX_AGE_SECONDS) missing.delete(id);
      }
    },
    /** Forgets ids that were trimmed in Redis. */
    trimmed(ids: ReadonlySet<string>): void {
      listed = listed.difference(ids);
      revoked = revoked.filter((id) => !ids.has(id));
    },
  };
}
