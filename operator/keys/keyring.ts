import { keyOf, type KubernetesObject } from '../kubernetes/object.ts';
import type { TonApi, TonApiKey } from '../resource.ts';
import type { KeyringRow } from '../service-config.ts';
import { hashText, readMaterial, type KeyMaterial } from './key-secret.ts';

/** A key with its Secret and consent. */
type KnownKey = {
  readonly tonApiKey: TonApiKey;
  /** The Secret that it owns; undefined while there is none. */
  readonly secret: KubernetesObject | undefined;
  /** True if the TonApi allows keys of its namespace. */
  readonly permitted: boolean;
};

/**
 * Rows of all keys of a TonApi, in order of their ids. TonApiKeys and their Secrets are the only source.
 * Keys that are disabled, being deleted, expired or not permitted are left out. Keys of a plan that never existed are left out too.
 *
 * Two keys may claim an id, for example after an edit of a Secret. The key whose status had the id first wins.
 * No key can therefore displace another.
 */
export function keyringOf(tonApi: TonApi, keys: readonly KnownKey[], nowMs: number): KeyringRow[] {
  const claims = keys.toSorted(byAge).flatMap((known) => rowsOf(tonApi, known, nowMs));
  const rows = new Map<string, KeyringRow>();
  // Ids in a status come first. The first row of an id stays.
  for (const { row } of [...claims.filter(({ claimed }) => claimed), ...claims]) {
    if (!rows.has(row.id)) rows.set(row.id, row);
  }
  return [...rows.values()].toSorted((a, b) => (a.id < b.id ? -1 : 1));
}

type Claim = { readonly row: KeyringRow; readonly claimed: boolean };

function rowsOf(tonApi: TonApi, { tonApiKey, secret, permitted }: KnownKey, nowMs: number): Claim[] {
  const { metadata, spec, status } = tonApiKey;
  const material = secret && readMaterial(secret);
  if (material === undefined || !permitted || spec.disabled || metadata.deletionTimestamp !== undefined) return [];
  const plan = planInForce(tonApi, tonApiKey, material);
  if (plan === undefined) return [];
  const { allowedMethods, allowedSources, overrides, expiresAt } = spec;
  const row = (id: string, sha256: string, ends: string | undefined): Claim => {
    const notAfter = earlier(ends, expiresAt);
    const terms = {
      plan,
      owner: keyOf(tonApiKey),
      ...(notAfter !== undefined && { notAfter }),
      ...(allowedMethods && { allowedMethods }),
      ...(allowedSources && { allowedSources }),
      ...(overrides && { overrides }),
    };
    return { row: { id, sha256, ...terms }, claimed: status?.activeKeyIds?.includes(id) === true };
  };
  return [
    row(material.keyId, hashText(material.key), undefined),
    ...(material.next ? [row(material.next.keyId, hashText(material.next.key), undefined)] : []),
    ...material.previous.map(({ id, sha256, notAfter }) => row(id, sha256, notAfter)),
  ].filter(({ row: { notAfter } }) => notAfter === undefined || Date.parse(notAfter) > nowMs);
}

/** The wanted plan if it exists, else the plan that was in force. Undefined when neither exists. */
export function planInForce(
  { spec }: TonApi,
  tonApiKey: TonApiKey,
  material: Pick<KeyMaterial, 'plan'> | undefined,
): string | undefined {
  return [tonApiKey.spec.plan, material?.plan].find((wanted) => spec.plans.some(({ name }) => name === wanted));
}

function earlier(a: string | undefined, b: string | undefined): string | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return Date.parse(a) < Date.parse(b) ? a : b;
}

/** Oldest first; of one age by name. */
function byAge({ tonApiKey: a }: KnownKey, { tonApiKey: b }: KnownKey): number {
  const [aged, bged] = [a.metadata.creationTimestamp ?? '', b.metadata.creationTimestamp ?? ''];
  if (aged !== bged) return aged < bged ? -1 : 1;
  return keyOf(a) < keyOf(b) ? -1 : 1;
}
