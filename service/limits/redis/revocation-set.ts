import type { Connection } from './connection.ts';
import { earlierScope } from './earlier-scope.ts';
import { evaluate, scriptOf } from './script-batcher.ts';
import { revocationScript, trimScript } from './script.ts';

/**
 * Redis keys of the revocations of one TonApi. `entries`, `version` and `pods` are in one slot of a cluster: Redis loses all of them or none.
 * - `entries`: sorted set of key ids. A positive score is when the id was revoked, in Unix seconds. A negative score is when it came into force
 *   again.
 * - `version`: changes after each change of `entries`.
 * - `named`: set of the revoked ids, by the name of the TonApi alone. Versions before the namespace read and write only this set.
 */
export type RevocationKeys = Record<'entries' | 'version' | 'pods' | 'named', string>;

/** Commands that change revocations. */
export type RevocationConnection = Pick<Connection, 'eval' | 'evalsha' | 'sadd' | 'srem'>;

/** Most entries of one TonApi, some 1 MB in Redis. The oldest are removed first. An entry whose key is in a pod's keyring is never removed. */
export const ENTRIES_MAX = 10_000;

/** Seconds an entry stays after the last pod had its key in its keyring. Files reach pods within minutes. */
export const ENTRY_MAX_AGE_SECONDS = 86_400;

const changing = scriptOf(revocationScript);
const trimming = scriptOf(trimScript);

/** Names in Redis of the revocations of a TonApi. @param scope as `scopeOf` makes it */
export function revocationKeys(scope: string): RevocationKeys {
  const tag = `{revoked:${scope}}`;
  return {
    entries: `revocations:${tag}`,
    version: `revocations:${tag}:version`,
    pods: `pods:${tag}`,
    named: `revoked:${earlierScope(scope) ?? scope}`,
  };
}

/** Members of `named` for an id. TonApis of one name in several namespaces share that set, so a second member names the owner of the id. */
function namedMembers(scope: string, id: string): string[] {
  return scope.includes('/') ? [ownerMember(scope, id), id] : [id];
}

function ownerMember(scope: string, id: string): string {
  return `${id}@${scope}`;
}

/** Ids of `named` that are revoked for a scope: ids with this owner or without an owner. */
export function idsOfNamed(members: readonly string[], scope: string): string[] {
  const all = new Set(members);
  const owned = new Set(members.filter((member) => member.includes('@')).map((member) => member.split('@', 1)[0]));
  return members.filter((id) => !id.includes('@') && (!owned.has(id) || all.has(ownerMember(scope, id))));
}

/** Revokes ids: every pod of the TonApi refuses them within 2 s. Rejects like the connection. */
export async function revokeIds(
  connection: RevocationConnection,
  scope: string,
  ids: readonly string[],
): Promise<void> {
  const { entries, version, named } = revocationKeys(scope);
  await connection.sadd(named, ...ids.flatMap((id) => namedMembers(scope, id)));
  await evaluate(connection, changing, [entries, version], [1, ...ids]);
}

/** Restores ids: every pod of the TonApi accepts them within 2 s if its keyring has them. Rejects like the connection. */
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
 * @returns ids of the removed entries, at most 1,000 at once
 */
export async function trimRevocations(
  connection: RevocationConnection,
  scope: string,
  inKeyring: readonly string[],
): Promise<readonly string[]> {
  const { entries, version } = revocationKeys(scope);
  const limits = [ENTRY_MAX_AGE_SECONDS, ENTRIES_MAX];
  const removed = (await evaluate(connection, trimming, [entries, version], [...limits, ...inKeyring])) as string[];
  if (removed.length > 0) await removeNamed(connection, scope, removed);
  return removed;
}

async function removeNamed(connection: RevocationConnection, scope: string, ids: readonly string[]): Promise<void> {
  await connection.srem(revocationKeys(scope).named, ...ids.flatMap((id) => namedMembers(scope, id)));
}
