import { actionTypes } from '#service/actions/families.ts';

// Types of actions that a client knows (service/v3/README.md#versions-of-actions). Names of versions and groups expand to types, and to
// each other.

const versions = ['v1', 'v2', 'v3', 'v4'] as const;

/** Each version and group with what its name means: the types of a version, and the version before it. */
const shortcuts: ReadonlyMap<string, readonly string[]> = readShortcuts();

/** All clients know these. */
const firstVersion = 'v1';

const newest = 'latest';

/** Types of each version and group: thousands of streams ask for the same ones. */
const shared = new Map<string, ReadonlySet<string>>();

/**
 * Types of actions that a client knows. Lists of one version or group have one set.
 * @param named versions, groups and types; empty: the newest version
 */
export function supportedTypes(named: readonly string[]): ReadonlySet<string> {
  const [name = newest] = named;
  if (named.length > 1 || !shortcuts.has(name)) return expand(named);
  const types = shared.get(name) ?? expand([name]);
  shared.set(name, types);
  return types;
}

function expand(named: readonly string[]): ReadonlySet<string> {
  const types = new Set<string>();
  const seen = new Set<string>();
  const open = [firstVersion, ...named];
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    if (seen.has(name)) continue;
    seen.add(name);
    const meant = shortcuts.get(name);
    if (meant === undefined) types.add(name);
    else open.push(...meant);
  }
  return types;
}

function readShortcuts(): ReadonlyMap<string, readonly string[]> {
  const read = new Map<string, string[]>(versions.map((version, at) => [version, at === 0 ? [] : [versions[at - 1]!]]));
  for (const [name, { since, groups }] of actionTypes) {
    if (since !== 'unversioned') read.get(since)!.push(name);
    for (const group of groups) read.set(group, [...(read.get(group) ?? []), name]);
  }
  return read.set('latest', [versions.at(-1)!]);
}

/** Data that decides whether a client sees an action. */
export type VersionedAction = { readonly type: string; readonly ancestorTypes: readonly string[] };

/** True if a client that knows the `supported` types sees an action. The client must know its type, and none of its ancestors' types. */
export function isVisible({ type, ancestorTypes }: VersionedAction, supported: ReadonlySet<string>): boolean {
  return supported.has(type) && !ancestorTypes.some((ancestor) => supported.has(ancestor));
}
