/** A group of lite servers: `shared` is for everybody, `private` for the plans that name it. */
export type Tier = 'shared' | 'private';

/** What a lite server is for. */
export type Role = 'latest' | 'archive';

/** Which lite servers a caller may cause to be asked; of the caller's plan. */
export type ReadAccess = {
  readonly liteServerTiers: readonly string[];
  /** May read what only archive lite servers have. */
  readonly archive: boolean;
};

/** Equal for callers who may cause the same. */
export function accessText(access: ReadAccess | undefined): string {
  return access === undefined ? '' : `${access.archive} ${access.liteServerTiers.toSorted().join()}`;
}

/** What one lite server is to a caller: `spare` is asked when no other one is left. */
export type Permission = 'yes' | 'spare' | 'no';

/**
 * Whether a caller may have a lite server asked. Without `archive` one of the archive is a spare, and that only for what the others have
 * as well: a caller sees then what it would see if there were no archive.
 * @param isRecent what is asked is there without an archive
 */
export function permissionOf(
  access: ReadAccess | undefined,
  liteServer: { readonly tier: Tier; readonly role: Role },
  isRecent: boolean,
): Permission {
  if (access === undefined) return 'yes';
  if (!access.liteServerTiers.includes(liteServer.tier)) return 'no';
  if (access.archive || liteServer.role === 'latest') return 'yes';
  return isRecent ? 'spare' : 'no';
}
