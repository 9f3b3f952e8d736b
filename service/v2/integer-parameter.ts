import { invalid } from '../contract/errors.ts';
import {
  withDefault,
  type DefaultedParameter,
  type OptionalParameter,
  type RequiredParameter,
} from '../contract/parameter.ts';
import type { JsonSchema } from '../contract/shape.ts';

const int32Min = -(2 ** 31);
const int32Max = 2 ** 31 - 1;
const uint32Max = 2 ** 32 - 1;
const int64Min = -(2n ** 63n);
const int64Max = 2n ** 63n - 1n;

/** Longer texts are zeros in front or beyond every integer type; refused before they are converted. */
const DIGITS_MAX = 32;

const integerTypes = ['string', 'integer'];

const seqnoInput: JsonSchema = { type: integerTypes, pattern: '^0*[1-9]\\d{0,9}$', minimum: 1, maximum: int32Max };

const positiveSeqno = {
  name: 'seqno',
  parse: (raw: unknown) => parseInt32(raw, 'seqno'),
  check: (value: number) => (value > 0 ? undefined : 'seqno should be positive'),
  input: { name: 'SeqnoInput', schema: seqnoInput },
};

/** A masterchain seqno to read at, 1..2^31-1; absent means the latest. */
export const optionalSeqno: OptionalParameter<number> = { ...positiveSeqno, missing: undefined };

/** The seqno of the block that an operation is about, 1..2^31-1. */
export const seqno: RequiredParameter<number> = { ...positiveSeqno, missing: 'seqno required' };

/** The workchain that an operation is about, signed 32 bits. */
export const workchain: RequiredParameter<number> = {
  name: 'workchain',
  missing: 'workchain required',
  parse: (raw) => parseInt32(raw, 'workchain'),
  check: () => undefined,
  input: {
    name: 'Int32Input',
    schema: { type: integerTypes, pattern: '^-?\\d{1,10}$', minimum: int32Min, maximum: int32Max },
  },
};

/** The shard that an operation is about: signed decimal outside, unsigned 64 bits inside. */
export const shard: RequiredParameter<bigint> = {
  name: 'shard',
  missing: 'shard required',
  parse: (raw) => BigInt.asUintN(64, parseInt64(typeof raw === 'bigint' ? nearestDouble(raw) : raw, 'shard')),
  // The lowest bit that is set ends a shard's prefix: no shard is 0.
  check: (prefix) => (prefix === 0n ? 'failed to parse shard' : undefined),
  input: {
    name: 'ShardInput',
    schema: {
      type: integerTypes,
      pattern: '^-?\\d{1,19}$',
      description: 'signed 64-bit decimal; strings are safe, numbers beyond 2^53 need exact parsing',
    },
  },
};

/** A Unix time in seconds, 0..2^32-1; the document names the range of the published one. */
export function optionalUtime(name: string): OptionalParameter<number> {
  return {
    ...optionalNonNegative(name),
    parse(raw) {
      const value = Number(parseInt64(raw, name));
      if (value < int32Min || value > uint32Max) throw invalid(`failed to parse ${name}`, name);
      return value;
    },
  };
}

/** Number in 0..2^31-1. The second argument is the name in the message about a negative number. */
export function optionalNonNegative(name: string, label = name): OptionalParameter<number> {
  return {
    name,
    missing: undefined,
    parse: (raw) => parseInt32(raw, name),
    check: (value) => (value < 0 ? `${label} should be non-negative` : undefined),
    input: {
      name: 'NonNegInt32Input',
      schema: { type: integerTypes, pattern: '^\\d{1,10}$', minimum: 0, maximum: int32Max },
    },
  };
}

/**
 * Reverses JavaScript's rounding of a JSON integer, which writes -2^63 as -9223372036854776000. Text is exact already.
 * A shard with a prefix of up to 52 bits is exactly a double. Networks split only four to eight times.
 */
function nearestDouble(integer: bigint): bigint {
  const double = Number(integer);
  return Number.isFinite(double) ? BigInt(double) : integer;
}

/** A logical time, 0..2^63-1. */
export function optionalLt(name: string): OptionalParameter<bigint> {
  return { ...ltParameter(name), missing: undefined };
}

/** Like `optionalLt`, for an operation that requires the value. */
export function requiredLt(name: string): RequiredParameter<bigint> {
  return { ...ltParameter(name), missing: `failed to parse ${name}` };
}

function ltParameter(name: string) {
  return {
    name,
    parse: (raw: unknown) => parseInt64(raw, name),
    check: (value: bigint) => (value < 0n ? `${name} should be non-negative` : undefined),
    input: { name: 'LtInput', schema: { type: integerTypes, pattern: '^\\d{1,19}$', minimum: 0 } },
  };
}

/** How many of a list are wanted, 1..`max`; what is absent is `fallback`. */
export function listLength(
  name: string,
  input: { readonly name: string; readonly max: number },
  fallback: number,
): DefaultedParameter<number> {
  const moreDigits = input.max.toString().length - 1;
  return withDefault(
    {
      name,
      missing: undefined,
      parse: (raw) => Number(parseInt64(raw, name)),
      check: (value) => {
        if (value <= 0) return `${name} should be positive`;
        return value > input.max ? `${name} should be less or equal ${input.max}` : undefined;
      },
      input: {
        name: input.name,
        schema: { type: integerTypes, pattern: `^0*[1-9]\\d{0,${moreDigits}}$`, minimum: 1, maximum: input.max },
      },
    },
    fallback,
  );
}

/** Decimal text or a JSON integer within 32 signed bits (service/v2/README.md#inputs). @throws ContractError */
export function parseInt32(raw: unknown, name: string): number {
  const value = parseInteger(raw);
  if (value === undefined || value < int32Min || value > int32Max) throw invalid(`failed to parse ${name}`, name);
  return Number(value);
}

/** Decimal text or a JSON integer within 64 signed bits (service/v2/README.md#inputs). @throws ContractError */
export function parseInt64(raw: unknown, name: string): bigint {
  const value = parseInteger(raw);
  if (value === undefined || value < int64Min || value > int64Max) throw invalid(`failed to parse ${name}`, name);
  return value;
}

function parseInteger(raw: unknown): bigint | undefined {
  if (typeof raw === 'bigint') return raw;
  if (typeof raw === 'number') return Number.isInteger(raw) ? BigInt(raw) : undefined;
  if (typeof raw !== 'string' || raw.length > DIGITS_MAX || !/^-?\d+$/.test(raw)) return undefined;
  return BigInt(raw);
}
