import type { RedisMetrics } from '../metrics.ts';
import type { Connection } from './connection.ts';
import { isReply } from './script-batcher.ts';
import { ENTRIES_MAX, idsOfNamed, revocationKeys, trimRevocations } from './revocation-set.ts';
import { createRevocations } from './revocations.ts';

export type RevocationReaderDependencies = {
  readonly metrics: Pick<RedisMetrics, 'revoked' | 'malformed'>;
  /** Reports whether this pod's keyring has a key. Without it this pod trims nothing. */
  readonly inKeyring?: ((id: string) => boolean) | undefined;
};

/**
 * Reads between full reads of the set by name. The set has no version. If an earlier version of the service changes it and leaves its size, only a
 * full read detects the change.
 */
const NAMED_READS = 10;

/** Reads between trims: ten minutes, because the store reads once a second. The first trim comes long after the keyring is read. */
const TRIM_READS = 600;

/** Reads the revocations of one TonApi from Redis. The whole set is read only after a change. */
export function createRevocationReader(scope: string, { metrics, inKeyring }: RevocationReaderDependencies) {
  const keys = revocationKeys(scope);
  const revocations = createRevocations(metrics.revoked);
  let entries: Entries = { revoked: [], restored: [] };
  let named: readonly string[] = [];
  let version: string | null | undefined;
  let size: number | undefined;
  let reads = 0;

  /** Returns undefined for a key of another type. */
  const ofType = async <T>(answer: Promise<T>): Promise<T | undefined> => {
    try {
      return await answer;
    } catch (error) {
      if (!isReply(error, 'WRONGTYPE')) throw error;
      metrics.malformed('revoked');
      return undefined;
    }
  };

  /** Reads versions and sizes before the sets. A write between the two reads causes another read. */
  const readChanged = async (client: Connection): Promise<void> => {
    const [newVersion, newSize] = await Promise.all([
      ofType(client.get(keys.version)),
      ofType(client.scard(keys.named)),
    ]);
    const isChanged = newVersion === undefined || newVersion !== version;
    if (isChanged) {
      const found = await ofType(client.zrevrange(keys.entries, 0, ENTRIES_MAX - 1, 'WITHSCORES'));
      if (found !== undefined) entries = entriesOf(found);
      version = newVersion;
    }
    const isDue = newSize !== 0 && reads % NAMED_READS === 0;
    if (newSize !== undefined && (isChanged || newSize !== size || isDue)) {
      const members = newSize === 0 ? [] : await ofType(client.smembers(keys.named));
      if (members !== undefined) named = idsOfNamed(members, scope);
      size = newSize;
    }
  };

  const trim = async (client: Connection, has: (id: string) => boolean): Promise<void> => {
    // A failed trim is left to the next time.
    const trimmed = await trimRevocations(client, scope, revocations.listed().filter(has)).catch(() => []);
    revocations.trimmed(new Set(trimmed));
    revocations.forget(has, Math.floor(performance.now() / 1000));
  };

  return {
    has: revocations.has,
    /**
     * Reads changes. Rejects like the connection.
     * @param since returns when Redis began to hold its data. Called last, so that lost data is never taken for a restored key.
     */
    async read(client: Connection, since: () => Promise<string>): Promise<void> {
      await readChanged(client);
      reads++;
      if (!revocations.set({ ...entries, named }, await since())) version = size = undefined;
      if (inKeyring !== undefined && reads % TRIM_READS === 0) await trim(client, inKeyring);
    },
  };
}

type Entries = { readonly revoked: readonly string[]; readonly restored: readonly string[] };

/** @param found ids and scores alternately */
function entriesOf(found: readonly string[]): Entries {
  const [revoked, restored]: [string[], string[]] = [[], []];
  for (let at = 0; at + 1 < found.length; at += 2) {
    (Number(found[at + 1]) < 0 ? restored : revoked).push(found[at] ?? '');
  }
  return { revoked, restored };
}
