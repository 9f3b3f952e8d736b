import type { Connection } from './connection.ts';
import { earlierScope } from './earlier-scope.ts';
import { evaluate, scriptOf } from './questions.ts';
import { revocationScript, trimScript } from './script.ts';

/**
 * Redis keys of the revocations of one TonApi. `entries`, `version` and `pods` are in one slot of a cluster: Redis loses all of them or none.
 * - `entries`: sorted set of key ids. A positive score is when the id was revoked, a negative score is when it came into force again; Unix seconds.
 * - `version`: another text after each change of `entries`.
 * - `named`: set of the ids that were revoked, by the name of the TonApi alone. Versions before the namespace read and write only this set.
 */
export type RevocationKeys = Record<'entries' | 'version' | 'pods' | 'named', string>;

/** Commands that change revocations. */
export type RevocationConnection = Pick<Connection, 'eval' | 'evalsha' | 'sadd' | 'srem'>;

/** Entries of one TonApi at most, some 1 MB in Redis. The oldest go first, and no entry goes whose key a pod's keyring has. */
export const entriesMax = 10_000;

/** Entries are trimmed this long after the last pod had their key in its keyring: files reach pods within minutes. */
export const entryMaxAgeSeconds = 86_400;

const changing = scriptOf(revocationScript);
const trimming = scriptOf(trimScript);

/** @param scope as `scopeOf` makes it */
export function revocationKeys(scope: string): RevocationKeys {
  const tag = `{revoked:${scope}}`;
  return {
    entries: `revocations:${tag}`,
    version: `revocations:${tag}:version`,
    pods: `pods:${tag}`,
    named: `revoked:${earlierScope(scope) ?? scope}`,
  };
}

/** Members of `named` for an id: TonApis of one name in several namespaces share that set, so a second member says whose the id is. */
function namedMembers(scope: string, id: string): string[] {
  return scope.includes('/') ? [ownerMember(scope, id), id] : [id];
}

function ownerMember(scope: string, id: string): string {
  return `${id}@${scope}`;
}

/** Ids of `named` that are revoked for a scope: those with this owner or with none. */
export function idsOfNamed(members: readonly string[], scope: string): string[] {
  const all = new Set(members);
  const owned = new Set(members.filter((member) => member.includes('@')).map((member) => member.split('@', 1)[0]));
  return members.filter((id) => !id.includes('@') && (!owned.has(id) || all.has(ownerMember(scope, id))));
}

/** Every pod of the TonApi refuses the ids within 2 s. Rejects as the connection. */
export async function revokeIds(
  connection: RevocationConnection,
  scope: string,
  ids: readonly string[],
): Promise<void> {
  const { entries, version, named } = revocationKeys(scope);
  await connection.sadd(named, ...ids.flatMap((id) => namedMembers(scope, id)));
  await evaluate(connection, changing, [entries, version], [1, ...ids]);
}

/** Every pod of the TonApi accepts the ids within 2 s if its keyring has them. Rejects as the connection. */
export async function restoreIds(
  connection: RevocationConnection,
  scope: string,
  ids: readonly string[],
): Promise<void> {
  const { entries, version } = revocationKeys(scope);
  await removeNamed(connection, scope, ids);
  await evaluate(connection, changing, [entries, version], [-1, ...ids]);
}

/**
 * Removes entries that are too old or too many. Entries of `inKeyring` count as revoked now.
 * @returns how many it removed, at most 1,000 at once
 */
export async function trimRevocations(
  connection: RevocationConnection,
  scope: string,
  inKeyring: readonly string[],
): Promise<number> {
  const { entries, version } = revocationKeys(scope);
  const limits = [entryMaxAgeSeconds, entriesMax];
  const removed = (await evaluate(connection, trimming, [entries, version], [...limits, ...inKeyring])) as string[];
  if (removed.length > 0) await removeNamed(connection, scope, removed);
  return removed.length;
}

async function removeNamed(connection: RevocationConnection, scope: string, ids: readonly string[]): Promise<void> {
  await connection.srem(revocationKeys(scope).named, ...ids.flatMap((id) => namedMembers(scope, id)));
}
