import versions from './action-versions.json' with { type: 'json' };

// Types of actions that a client knows (service/v3/README.md#versions-of-actions). Names of versions and groups expand to types, and to
// each other.

const shortcuts: ReadonlyMap<string, readonly string[]> = new Map(Object.entries(versions));

/** All clients know these. */
const firstVersion = 'v1';

const newest = 'latest';

/**
 * Types of actions that a client knows.
 * @param named versions, groups and types; empty: the newest version
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

/** Data that decides whether a client sees an action. */
export type VersionedAction = { readonly type: string; readonly ancestorTypes: readonly string[] };

/** True if a client that knows the `supported` types sees an action. The client must know its type, and none of its ancestors' types. */
export function isVisible({ type, ancestorTypes }: VersionedAction, supported: ReadonlySet<string>): boolean {
  return supported.has(type) && !ancestorTypes.some((ancestor) => supported.has(ancestor));
}
