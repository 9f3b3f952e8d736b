import { parseAddress } from '#service/decode/address.ts';

// Values of parameters' texts (service/v3/README.md#parameters). Each reader returns undefined for a text of another kind.

/** An account from a caller. */
export type Account = {
  readonly workchain: number;
  /** 32 bytes. */
  readonly id: Buffer;
};

const int64Max = 2n ** 63n - 1n;
const uint64Max = 2n ** 64n - 1n;

/** Longer texts have zeros in front or are beyond every integer type; refused before they are converted. */
const DIGITS_MAX = 32;

/** 64 hex digits, `0x` in front or not, or 44 characters of either base64 alphabet with the padding. */
export function readHash(text: string): Buffer | undefined {
  const hex = /^(?:0x)?([0-9a-fA-F]{64})$/.exec(text)?.[1];
  if (hex !== undefined) return Buffer.from(hex, 'hex');
  return /^[A-Za-z0-9+/_-]{43}=$/.test(text) ? Buffer.from(text, 'base64') : undefined;
}

/** Friendly with any tag byte, or raw. */
export function readAccount(text: string): Account | undefined {
  const address = parseAddress(text, { anyTag: true });
  return address && { workchain: address.workchain, id: address.id };
}

/** Same as `readAccount`, or the outer side of a message. */
export function readNullableAccount(text: string): Account | 'null' | undefined {
  return text === 'null' ? text : readAccount(text);
}

/** Hex first, then signed decimal: unsigned 64 bits. */
export function readShard(text: string): bigint | undefined {
  const hex = readHex(text, uint64Max);
  if (hex !== undefined) return hex;
  const decimal = readInteger(text);
  return decimal !== undefined && isSigned(decimal, 64) ? BigInt.asUintN(64, decimal) : undefined;
}

/** `0x` and hex; without `0x` hex first, then signed decimal. Returns the 32 bits as signed. */
export function readOpcode(text: string): number | undefined {
  const hex = readHex(text, 2n ** 32n - 1n);
  if (hex !== undefined) return Number(BigInt.asIntN(32, hex));
  const decimal = readInteger(text);
  return decimal !== undefined && isSigned(decimal, 32) ? Number(decimal) : undefined;
}

/** Unix seconds; the fraction is cut. Times beyond 2^53 are equal. */
export function readUtime(text: string): number | undefined {
  if (text.length > DIGITS_MAX || !/^\d+(?:\.\d*)?(?:[eE][+-]?\d{1,3})?$/.test(text)) return undefined;
  return Math.min(Math.trunc(Number(text)), Number.MAX_SAFE_INTEGER);
}

/** Unsigned; beyond 2^63 no transaction is, and all such bounds are the same. */
export function readLt(text: string): bigint | undefined {
  const value = readInteger(text);
  if (value === undefined || value < 0n || value > uint64Max) return undefined;
  return value > int64Max ? int64Max : value;
}

/** Signed 32 bits, in decimal; undefined for any other text. */
export function readInt32(text: string): number | undefined {
  const value = readInteger(text);
  return value !== undefined && isSigned(value, 32) ? Number(value) : undefined;
}

/** Unsigned 32 bits, in decimal; undefined for any other text. */
export function readUint32(text: string): number | undefined {
  const value = readInteger(text);
  return value !== undefined && BigInt.asUintN(32, value) === value ? Number(value) : undefined;
}

/** How many, at least `least`; beyond 2^53 all are the same. */
export function readCount(text: string, least: number): number | undefined {
  const value = readInteger(text);
  if (value === undefined || !isSigned(value, 64)) return undefined;
  return Math.min(Math.max(Number(value), least), Number.MAX_SAFE_INTEGER);
}

const booleans: ReadonlyMap<string, boolean> = new Map(
  ['true', 'True', 'TRUE', 't', 'T', '1', 'false', 'False', 'FALSE', 'f', 'F', '0'].map((text, at) => [text, at < 6]),
);

/** A word of `booleans`; undefined for any other text. */
export function readBool(text: string): boolean | undefined {
  return booleans.get(text);
}

function readHex(text: string, max: bigint): bigint | undefined {
  const digits = /^(?:0[xX])?([0-9a-fA-F]+)$/.exec(text)?.[1];
  if (digits === undefined || digits.length > DIGITS_MAX) return undefined;
  const value = BigInt(`0x${digits}`);
  return value <= max ? value : undefined;
}

function readInteger(text: string): bigint | undefined {
  return text.length <= DIGITS_MAX && /^[+-]?\d+$/.test(text) ? BigInt(text.replace(/^\+/, '')) : undefined;
}

function isSigned(value: bigint, bits: number): boolean {
  return BigInt.asIntN(bits, value) === value;
}
