import { fixedReplicas } from '../desired/deployment.ts';
import type { Component } from '../desired/names.ts';
import type { KeyDecision } from '../keys/key.ts';
import { idsOf, readMaterial, secretNameOf } from '../keys/key-secret.ts';
import type { RequestBounds } from '../kubernetes/client.ts';
import type { KubernetesObject } from '../kubernetes/object.ts';
import type { TonApi, TonApiKey } from '../resource.ts';
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
  /**
   * True when every pod has read a keyring without the key. The key is then out of force, independent of Redis.
   * A TonApi that wants no pods and has none needs only the keyring: pods that start later read it first.
   */
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

  /** Wants no pod that reads keys, and has none. */
  function isAsleep(tonApi: TonApi): boolean {
    return fixedReplicas(tonApi) === 0 && !caches.pods(tonApi).some(readsKeys);
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
      if (tonApi === undefined) return true;
      return (keyrings.isAcknowledged(tonApi) || isAsleep(tonApi)) && !ids.some((id) => keyrings.has(tonApi, id));
    },
  };
}

const keyReaders: ReadonlySet<string | undefined> = new Set<Component>(['api', 'api-canary']);

function readsKeys({ metadata }: KubernetesObject): boolean {
  return keyReaders.has(metadata.labels?.['app.kubernetes.io/component']);
}
