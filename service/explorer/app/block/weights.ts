import type { ConfigValue } from '../config/values.ts';

/** A validator of the masterchain. */
export type Validator = { readonly key: string; readonly weight: bigint };

/** Validators of the masterchain in a decoded validator set: the first `main` of its list. Undefined for a set without a known form. */
export function masterchainValidators(set: ConfigValue | undefined): readonly Validator[] | undefined {
  if (set?.kind !== 'group') return undefined;
  const fields = new Map(set.rows);
  const [main, list] = [fields.get('main'), fields.get('validators')];
  if (main?.kind !== 'number' || list?.kind !== 'list') return undefined;
  return list.items.slice(0, Number(main.text)).flatMap((item) => {
    const own = new Map(item.kind === 'group' ? item.rows : []);
    const [key, weight] = [own.get('key'), own.get('weight')];
    return key?.kind === 'hash' && weight?.kind === 'number' ? [{ key: key.hex, weight: BigInt(weight.text) }] : [];
  });
}

/** A signer: its validator is undefined for a signer outside of the set. */
export type Signer = { readonly node: string; readonly validator: Validator | undefined };

export type Weights = {
  readonly signers: readonly Signer[];
  readonly signed: bigint;
  readonly total: bigint;
  /** More than two thirds of the weight. */
  readonly isEnough: boolean;
};

/**
 * Weighs the signers of a block. A signer counts once.
 * @param nodes short ids of the signers, as the API has them
 * @param idOf returns the short id of a validator's key, in the same form
 */
export async function weigh(
  nodes: readonly string[],
  validators: readonly Validator[],
  idOf: (key: string) => Promise<string>,
): Promise<Weights> {
  const ids = await Promise.all(validators.map(({ key }) => idOf(key)));
  const byId = new Map(validators.map((validator, at) => [ids[at], validator]));
  const signers = nodes.map((node) => ({ node, validator: byId.get(node) }));
  const signed = [...new Set(signers.map(({ validator }) => validator))].reduce(
    (sum, validator) => sum + (validator?.weight ?? 0n),
    0n,
  );
  const total = validators.reduce((sum, { weight }) => sum + weight, 0n);
  return { signers, signed, total, isEnough: signed * 3n > total * 2n };
}

/** First bytes of a serialized Ed25519 key: the TL id of `pub.ed25519`. */
const KEY_PREFIX = [0xc6, 0xb4, 0x13, 0x48];

/** Short id of a node: SHA-256 of its serialized key, in base64. @param key 64 hexadecimal digits */
export async function nodeIdOf(key: string): Promise<string> {
  const bytes = (key.match(/../g) ?? []).map((pair) => Number.parseInt(pair, 16));
  const digest = await crypto.subtle.digest('SHA-256', Uint8Array.from([...KEY_PREFIX, ...bytes]));
  return btoa(String.fromCharCode(...new Uint8Array(digest)));
}

/** Parts of a hundred with two digits, cut: a share below a bound never looks like the bound. */
export function percentOf(part: bigint, whole: bigint): string {
  if (whole === 0n) return '0';
  const hundredths = (part * 10_000n) / whole;
  return `${hundredths / 100n}.${(hundredths % 100n).toString().padStart(2, '0')}`;
}
