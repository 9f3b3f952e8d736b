import type { RedisMetrics } from '../metrics.ts';
import type { Connection } from './connection.ts';
import { isReply } from './questions.ts';
import { entriesMax, idsOfNamed, revocationKeys, trimRevocations } from './revocation-set.ts';
import { createRevocations } from './revocations.ts';

export type RevocationReaderDependencies = {
  readonly metrics: Pick<RedisMetrics, 'revoked' | 'malformed'>;
  /** Whether this pod's keyring has a key. Without it this pod trims nothing. */
  readonly inKeyring?: ((id: string) => boolean) | undefined;
};

/** The set by name has no version of its own: a change by an earlier version that leaves its size is seen with every tenth read. */
const namedReads = 10;

/** The store reads once a second: entries are trimmed every ten minutes, and first when the keyring has long been read. */
const trimReads = 600;

/** Revocations of one TonApi as Redis has them, read whole only after a change. */
export function createRevocationReader(scope: string, { metrics, inKeyring }: RevocationReaderDependencies) {
  const keys = revocationKeys(scope);
  const revocations = createRevocations(metrics.revoked);
  let entries: Entries = { revoked: [], restored: [] };
  let named: readonly string[] = [];
  let version: string | null | undefined;
  let size: number | undefined;
  let reads = 0;

  /** A key of another type changes nothing. */
  const ofType = async <T>(answer: Promise<T>): Promise<T | undefined> => {
    try {
      return await answer;
    } catch (error) {
      if (!isReply(error, 'WRONGTYPE')) throw error;
      metrics.malformed('revoked');
      return undefined;
    }
  };

  /** Versions and sizes are read before what they stand for: a write between the two is read again. */
  const readChanged = async (client: Connection): Promise<void> => {
    const [newVersion, newSize] = await Promise.all([
      ofType(client.get(keys.version)),
      ofType(client.scard(keys.named)),
    ]);
    const isChanged = newVersion === undefined || newVersion !== version;
    if (isChanged) {
      const found = await ofType(client.zrevrange(keys.entries, 0, entriesMax - 1, 'WITHSCORES'));
      if (found !== undefined) entries = entriesOf(found);
      version = newVersion;
    }
    const isDue = newSize !== 0 && reads % namedReads === 0;
    if (newSize !== undefined && (isChanged || newSize !== size || isDue)) {
      const members = newSize === 0 ? [] : await ofType(client.smembers(keys.named));
      if (members !== undefined) named = idsOfNamed(members, scope);
      size = newSize;
    }
  };

  const trim = async (client: Connection, has: (id: string) => boolean): Promise<void> => {
    // The next time does what fails now.
    await trimRevocations(client, scope, revocations.listed().filter(has)).catch(() => 0);
  };

  return {
    has: revocations.has,
    /**
     * Reads what has changed. Rejects as the connection.
     * @param since asks when Redis began to hold what it holds; asked last, so that a loss is never taken for a restored key
     */
    async read(client: Connection, since: () => Promise<string>): Promise<void> {
      await readChanged(client);
      reads++;
      const found = { revoked: new Set([...entries.revoked, ...named]), restored: entries.restored };
      if (!revocations.set(found, await since())) version = size = undefined;
      if (inKeyring !== undefined && reads % trimReads === 0) await trim(client, inKeyring);
    },
  };
}

type Entries = { readonly revoked: readonly string[]; readonly restored: readonly string[] };

/** @param found ids and scores by turns */
function entriesOf(found: readonly string[]): Entries {
  const [revoked, restored]: [string[], string[]] = [[], []];
  for (let at = 0; at + 1 < found.length; at += 2) {
    (Number(found[at + 1]) < 0 ? restored : revoked).push(found[at] ?? '');
  }
  return { revoked, restored };
}
