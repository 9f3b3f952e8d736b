import { childNames } from '../desired/names.ts';
import { storedKeyring, type StoredKeyring } from '../keys/stored-keyring.ts';
import { keyOf, type KubernetesObject, type ObjectKey } from '../kubernetes/object.ts';
import type { TonApi } from '../resource.ts';
import type { Caches } from './caches.ts';
import type { PodReport } from './pod-reports.ts';

/** Keyrings as they are stored in Secrets, and which of them all pods have. */
export type Keyrings = {
  has(tonApi: TonApi, id: string): boolean;
  /** Hash that a pod with exactly the stored keyring reports; undefined while nothing is stored. */
  sha256(tonApi: TonApi): string | undefined;
  /** Records the reports of ready pods. Returns true when all of them have the stored keyring for the first time. */
  note(tonApi: TonApi, reports: readonly (PodReport | undefined)[]): boolean;
  /** True if every ready pod, and at least one, last reported the stored keyring. */
  isAcknowledged(tonApi: TonApi): boolean;
  forget(key: ObjectKey): void;
};

/** A keyring with the Secrets that it was read from: read again when one is another. */
type Read = { readonly secrets: readonly KubernetesObject[]; readonly keyring: StoredKeyring };

export function createKeyrings({ caches }: { readonly caches: Pick<Caches, 'child'> }): Keyrings {
  const read = new Map<ObjectKey, Read>();
  const acknowledged = new Map<ObjectKey, string>();

  function secretsOf(tonApi: TonApi): KubernetesObject[] {
    const { keyring } = childNames(tonApi);
    const found: KubernetesObject[] = [];
    for (;;) {
      const secret = caches.child('Secret', `${tonApi.metadata.namespace}/${keyring(found.length)}`);
      if (secret === undefined) return found;
      found.push(secret);
    }
  }

  function keyringOf(tonApi: TonApi): StoredKeyring | undefined {
    const secrets = secretsOf(tonApi);
    if (secrets.length === 0) return undefined;
    const key = keyOf(tonApi);
    const known = read.get(key);
    const isSame = known?.secrets.length === secrets.length && secrets.every((one, at) => one === known.secrets[at]);
    if (isSame) return known?.keyring;
    const keyring = storedKeyring(secrets);
    read.set(key, { secrets, keyring });
    return keyring;
  }

  return {
    has: (tonApi, id) => keyringOf(tonApi)?.ids.has(id) === true,
    sha256: (tonApi) => keyringOf(tonApi)?.sha256,
    note(tonApi, reports) {
      const key = keyOf(tonApi);
      const hash = keyringOf(tonApi)?.sha256;
      const all = hash !== undefined && reports.length > 0 && reports.every((pod) => pod?.keyringSha256 === hash);
      const before = acknowledged.get(key);
      if (all) acknowledged.set(key, hash);
      return all && before !== hash;
    },
    isAcknowledged(tonApi) {
      const hash = acknowledged.get(keyOf(tonApi));
      return hash !== undefined && hash === keyringOf(tonApi)?.sha256;
    },
    forget(key) {
      read.delete(key);
      acknowledged.delete(key);
    },
  };
}
