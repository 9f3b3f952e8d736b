import versions from './action-versions.json' with { type: 'json' };

// Which actions a client knows (service/v3/README.md#versions-of-actions): names of versions and groups stand for types, and for each other.

const shortcuts: ReadonlyMap<string, readonly string[]> = new Map(Object.entries(versions));

/** All clients know these. */
const firstVersion = 'v1';

const newest = 'latest';

/**
 * The types of actions that a client knows.
 * @param named versions, groups and types; none: the newest version
 */
export function supportedTypes(named: readonly string[]): ReadonlySet<string> {
  const types = new Set<string>();
  const seen = new Set<string>();
  const open = [firstVersion, ...(named.length === 0 ? [newest] : named)];
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    if (seen.has(name)) continue;
    seen.add(name);
    const meant = shortcuts.get(name);
    if (meant === undefined) types.add(name);
    else open.push(...meant);
  }
  return types;
}

/** What says whether a client is shown an action. */
export type VersionedAction = { readonly type: string; readonly ancestorTypes: readonly string[] };

/** Whether a client that knows some types sees an action: its type is known, and nothing that it is a part of is. */
export function isVisible({ type, ancestorTypes }: VersionedAction, supported: ReadonlySet<string>): boolean {
  return supported.has(type) && !ancestorTypes.some((ancestor) => supported.has(ancestor));
}
