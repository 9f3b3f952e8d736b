/** Group of lite servers: `shared` is for every plan, `private` for plans that name it. */
export type Tier = 'shared' | 'private';

/** Purpose of a lite server. */
export type Role = 'latest' | 'archive';

/** Lite servers that a caller's plan allows. */
export type ReadAccess = {
  readonly liteServerTiers: readonly string[];
  /** True when the plan may read data that only archive lite servers have. */
  readonly archive: boolean;
};

/** Returns a text that is equal for callers with equal access. */
export function accessText(access: ReadAccess | undefined): string {
  return access === undefined ? '' : `${access.archive} ${access.liteServerTiers.toSorted().join()}`;
}

/** Permission of a caller for one lite server; `spare` means only when no other is left. */
export type Permission = 'yes' | 'spare' | 'no';

/**
 * Returns a caller's permission for a lite server. Without `archive` a server of the archive is a spare, and only for data that other servers have
 * too. The caller thus sees what it would see without an archive.
 * @param isRecent true when servers without an archive have the data
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
