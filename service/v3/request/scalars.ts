import { formatRawAddress } from '#service/decode/address.ts';
import type { JsonInteger } from '#service/contract/json-integer.ts';
import { map, named, oneOf, scalar, type Shape } from '#service/contract/shape.ts';
import { accountOfKey } from '#service/store/account-key.ts';

// Scalars of answers (service/v3/README.md#values).

export const hash = named('Hash', scalar<string>({ type: 'string', pattern: '^[A-Za-z0-9+/]{43}=$' }));

/** Decimal text, because it may exceed 2^53. */
export const intString = named('IntString', scalar<string>({ type: 'string', pattern: '^-?[0-9]+$' }));

export const uintString = named('UIntString', scalar<string>({ type: 'string', pattern: '^[0-9]+$' }));

export const opcodeText = named('Opcode', scalar<string>({ type: 'string', pattern: '^0x[0-9a-f]{8}$' }));

export const rawAddress = named(
  'RawAddress',
  scalar<string>({ type: 'string', pattern: '^(-?[0-9]+:[0-9A-F]{64}|addr_[a-z]+)$' }),
);

export const shardText = named('Shard', scalar<string>({ type: 'string', pattern: '^[0-9A-F]{1,16}$' }));

export const base64 = scalar<string>({ type: 'string', pattern: '^[A-Za-z0-9+/]*={0,2}$' });

export const accountStatus = scalar<string>({ type: 'string', enum: ['uninit', 'frozen', 'active', 'nonexist'] });

export const integer = scalar<number>({ type: 'integer' });

/** An integer that may exceed 2^53; `viewInteger` renders it. */
export const longInteger = scalar<JsonInteger>({ type: 'integer' });

export const flag = scalar<boolean>({ type: 'boolean' });

export const anyText = scalar<string>({ type: 'string' });

/** Extra currencies: id -> amount. */
export const extraCurrencies = named('ExtraCurrencies', map(uintString, scalar<string>({ pattern: '^[0-9]+$' })));

/** The same value, or null without a value. */
export function orNull<T>(shape: Shape<T>): Shape<T | null> {
  const { schema, definitions } = shape;
  // Keywords of a type do not restrict other types.
  if (typeof schema['type'] === 'string' && schema['enum'] === undefined) {
    return { schema: { ...schema, type: [schema['type'], 'null'] }, definitions };
  }
  const none: Shape<null> = scalar<null>({ type: 'null' });
  return { ...oneOf([shape, none]), schema: { anyOf: [shape.schema, none.schema] } };
}

/** Standard base64 with padding. */
export function viewBytes(bytes: Uint8Array): string {
  const buffer = Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return buffer.toString('base64');
}

export function viewBytesOrNull(bytes: Uint8Array | null): string | null {
  return bytes === null ? null : viewBytes(bytes);
}

/** Raw, hex in upper case. @param key as the store keeps accounts */
export function viewAccountKey(key: Uint8Array): string {
  return formatRawAddress(accountOfKey(key), 'upper');
}

/** Hex of the unsigned 64 bits, without zeros in front. */
export function viewShard(shard: bigint): string {
  return BigInt.asUintN(64, shard).toString(16).toUpperCase();
}

/** `0x` and 8 hex digits. @param opcode 32 bits, signed or not */
export function viewOpcode(opcode: number): string {
  return `0x${(opcode >>> 0).toString(16).padStart(8, '0')}`;
}
