import { withAppliedHash, ownerOf } from '../desired/child.ts';
import { manager, tonApiLabel } from '../desired/names.ts';
import type { KubernetesObject } from '../kubernetes/object.ts';
import { group, type TonApiKey } from '../resource.ts';
import { keyHash } from '../service-config.ts';

/** Key that goes out of force when the overlap ends. Its plain text exists nowhere any more. */
type PreviousKey = {
  readonly id: string;
  /** 64 hex digits. */
  readonly sha256: string;
  /** RFC 3339. */
  readonly notAfter: string;
};

/** Content of the Secret of a TonApiKey. The Secrets alone are enough to rebuild the keyring. */
export type KeyMaterial = {
  /** `ton_<id>_<secret>`, in force and for the customer to use. */
  readonly key: string;
  readonly keyId: string;
  /** When it became the customer's, RFC 3339. */
  readonly since: string;
  /** The value of `spec.rotation.trigger` that was acted on last. */
  readonly trigger?: string;
  /** Plan in force. It stays when the wanted plan does not exist. */
  readonly plan: string;
  /** The next key, on its way into every pod's keyring before the customer gets it. */
  readonly next?: { readonly key: string; readonly keyId: string; readonly since: string; readonly trigger?: string };
  /** Keys before, oldest first. */
  readonly previous: readonly PreviousKey[];
};

const notes = {
  since: `${group}/key-since`,
  trigger: `${group}/key-trigger`,
  plan: `${group}/key-plan`,
  nextSince: `${group}/next-key-since`,
  nextTrigger: `${group}/next-key-trigger`,
} as const;

/** Name of the Secret that a key is put into. */
export function secretNameOf({ metadata, spec }: TonApiKey): string {
  return spec.secretName ?? metadata.name;
}

/**
 * Builds the Secret of a key (operator/README.md#children). `key`, `keyId` and `url` are for the customer, the rest is the operator's.
 *
 * @param url address of the API
 */
export function keySecret(tonApiKey: TonApiKey, material: KeyMaterial, url: string): KubernetesObject {
  const { key, keyId, since, trigger, plan, next, previous } = material;
  const data = {
    key,
    keyId,
    url,
    ...(next && { 'next-key': next.key }),
    ...(previous.length > 0 && { 'previous-keys': JSON.stringify(previous) }),
  };
  return withAppliedHash({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      name: secretNameOf(tonApiKey),
      namespace: tonApiKey.metadata.namespace ?? '',
      labels: {
        'app.kubernetes.io/part-of': 'tonplane',
        'app.kubernetes.io/managed-by': manager,
        'app.kubernetes.io/component': 'key',
        [tonApiLabel]: tonApiKey.spec.apiRef.name,
      },
      annotations: {
        [notes.since]: since,
        [notes.plan]: plan,
        ...(trigger !== undefined && { [notes.trigger]: trigger }),
        ...(next && { [notes.nextSince]: next.since }),
        ...(next?.trigger !== undefined && { [notes.nextTrigger]: next.trigger }),
      },
      ownerReferences: [ownerOf(tonApiKey)],
    },
    type: 'Opaque',
    data: Object.fromEntries(Object.entries(data).map(([name, text]) => [name, Buffer.from(text).toString('base64')])),
  });
}

/** Reads a Secret; undefined when it has no key of ours. Anybody may have edited it, so every value is checked. */
export function readMaterial({ metadata, data }: KubernetesObject): KeyMaterial | undefined {
  const text = (name: string): string => Buffer.from(data?.[name] ?? '', 'base64').toString('utf8');
  const note = (name: keyof typeof notes): string | undefined => metadata.annotations?.[notes[name]];
  const key = text('key');
  const keyId = idOf(key);
  if (keyId === undefined) return undefined;
  const nextKey = text('next-key');
  const nextId = idOf(nextKey);
  const [trigger, nextTrigger] = [note('trigger'), note('nextTrigger')];
  const created = timeOr(metadata.creationTimestamp, '1970-01-01T00:00:00Z');
  return {
    key,
    keyId,
    since: timeOr(note('since'), created),
    plan: note('plan') ?? '',
    ...(trigger !== undefined && { trigger }),
    ...(nextId !== undefined && {
      next: {
        key: nextKey,
        keyId: nextId,
        since: timeOr(note('nextSince'), created),
        ...(nextTrigger !== undefined && { trigger: nextTrigger }),
      },
    }),
    previous: readPrevious(text('previous-keys')),
  };
}

/** SHA-256 of a key's text as the keyring has it. */
export function hashText(key: string): string {
  return keyHash(key).toString('hex');
}

/** All ids of a Secret's keys, the current id first. */
export function idsOf({ keyId, next, previous }: KeyMaterial): string[] {
  return [keyId, ...previous.map(({ id }) => id), ...(next ? [next.keyId] : [])];
}

/** Maximum of previous keys besides the current and the next. The status lists as many. */
export const PREVIOUS_MAX = 6;

function readPrevious(text: string): PreviousKey[] {
  if (text === '') return [];
  try {
    const found: unknown = JSON.parse(text);
    return Array.isArray(found) ? found.filter(isPrevious).slice(-PREVIOUS_MAX) : [];
  } catch {
    return [];
  }
}

function isPrevious(value: unknown): value is PreviousKey {
  const { id, sha256, notAfter } = (value ?? {}) as Readonly<Record<string, unknown>>;
  return (
    typeof id === 'string' &&
    idText.test(id) &&
    typeof sha256 === 'string' &&
    /^[0-9a-f]{64}$/.test(sha256) &&
    typeof notAfter === 'string' &&
    !Number.isNaN(Date.parse(notAfter))
  );
}

const idText = /^[0-9A-Za-z]{12}$/;

/** The public half of a well-formed key. */
function idOf(key: string): string | undefined {
  return /^ton_([0-9A-Za-z]{12})_[0-9A-Za-z]{43}$/.exec(key)?.[1];
}

function timeOr(text: string | undefined, otherwise: string): string {
  return text === undefined || Number.isNaN(Date.parse(text)) ? otherwise : text;
}
