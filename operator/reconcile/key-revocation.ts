import type { KeyDecision } from '../keys/key.ts';
import { idsOf, readMaterial, secretNameOf } from '../keys/key-secret.ts';
import type { RequestBounds } from '../kubernetes/client.ts';
import type { TonApiKey } from '../resource.ts';
import { conditionOf } from '../status/conditions.ts';
import { apiKeyOf, type Caches } from './caches.ts';
import type { Keyrings } from './keyrings.ts';
import type { Revocations } from './revocations.ts';

/** Revocation of one TonApiKey, in Redis and by keyrings. */
type KeyRevocation = {
  /**
   * Writes revoked and restored ids to Redis before the status changes. Ids of a key that is being deleted are written at each reconcile.
   *
   * @returns false when Redis is unavailable
   */
  writeToRedis(
    tonApiKey: TonApiKey,
    decision: Pick<KeyDecision, 'revoke' | 'restore'>,
    bounds: RequestBounds,
  ): Promise<boolean>;
  /** True when every pod has read a keyring without the key. The key is then out of force, independent of Redis. */
  isOut(tonApiKey: TonApiKey): boolean;
};

export function createKeyRevocation({
  caches,
  keyrings,
  revocations,
}: {
  readonly caches: Caches;
  readonly keyrings: Keyrings;
  readonly revocations: Revocations;
}): KeyRevocation {
  function keyIds(tonApiKey: TonApiKey): readonly string[] {
    const secret = caches.child('Secret', `${tonApiKey.metadata.namespace}/${secretNameOf(tonApiKey)}`);
    const material = secret && readMaterial(secret);
    return [...new Set([...(material ? idsOf(material) : []), ...(tonApiKey.status?.activeKeyIds ?? [])])];
  }

  return {
    async writeToRedis(tonApiKey, { revoke, restore }, bounds) {
      const tonApi = caches.tonApi(apiKeyOf(tonApiKey));
      if (tonApi === undefined) return true;
      const { disabled } = tonApiKey.spec;
      const wasDisabled = conditionOf(tonApiKey.status?.conditions, 'Ready')?.reason === 'Disabled';
      const changed = disabled === wasDisabled ? [] : keyIds(tonApiKey);
      const [added, removed] = [
        [...revoke, ...(disabled ? changed : [])],
        [...restore, ...(disabled ? [] : changed)],
      ];
      const [wasAdded, wasRemoved] = await Promise.all([
        revocations.add(tonApi, [...new Set(added)], bounds),
        revocations.remove(tonApi, [...new Set(removed)], bounds),
      ]);
      return wasAdded && wasRemoved;
    },
    isOut(tonApiKey) {
      const tonApi = caches.tonApi(apiKeyOf(tonApiKey));
      const ids = tonApiKey.status?.activeKeyIds ?? [];
      return tonApi === undefined || (keyrings.isAcknowledged(tonApi) && !ids.some((id) => keyrings.has(tonApi, id)));
    },
  };
}
