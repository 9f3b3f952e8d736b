import { invalid } from '#service/contract/errors.ts';
import { withDefault, type DefaultedParameter, type OptionalParameter } from '#service/contract/parameter.ts';
import type { JsonSchema } from '#service/contract/shape.ts';
import {
  readAccount,
  readBool,
  readCount,
  readHash,
  readInt32,
  readLt,
  readNullableAccount,
  readOpcode,
  readShard,
  readUint32,
  readUtime,
  type Account,
} from './parameter-values.ts';

// Kinds of query parameters (service/v3/README.md#parameters). Each takes its name. An empty text is absent; the last value of a repeated
// scalar wins.

const text: JsonSchema = { type: 'string' };

/**
 * Accepted texts, as documents describe them. The patterns do not check checksums of friendly addresses, leading zeros and the last numbers
 * before a bound.
 */
const forms = {
  hash: '(0x)?[0-9a-fA-F]{64}|[A-Za-z0-9+/_-]{43}=',
  account: '-?[0-9]{1,9}:[0-9a-fA-F]{64}|[A-Za-z0-9+/_-]{48}',
  shard: '(0[xX])?[0-9a-fA-F]{1,16}|[+-]?([0-9]{1,18}|[1-8][0-9]{18})|-9223372036854775808',
  opcode: '(0[xX])?[0-9a-fA-F]{1,8}|[+-]?([0-9]{1,9}|1[0-9]{9}|20[0-9]{8})|-2147483648',
  cursor: '[A-Za-z0-9_-]+',
} as const;

/** An optional text of this form. */
const textOf = (form: string): JsonSchema => ({ ...text, pattern: `^(${form})?$` });

/** Such texts, separated by commas. */
const textsOf = (form: string): JsonSchema => ({ ...text, pattern: `^,*((${form})(,+(${form}))*,*)?$` });

/** Most rows of an answer (service/v3/README.md#pages-and-cursors). */
export const LIMIT_MAX = 1000;

export type Sort = 'asc' | 'desc';

export const hash = (name: string): OptionalParameter<Buffer> => scalar(name, readHash, textOf(forms.hash));

/** Repeatable, or separated by commas. */
export const hashes = (name: string): DefaultedParameter<readonly Buffer[]> =>
  list(name, readHash, textsOf(forms.hash));

export const account = (name: string): OptionalParameter<Account> => scalar(name, readAccount, textOf(forms.account));

/** Repeatable, or separated by commas. */
export const accounts = (name: string): DefaultedParameter<readonly Account[]> =>
  list(name, readAccount, textsOf(forms.account));

/** An address, or `null` for the side of a message that is outside the blockchain. */
export const nullableAccount = (name: string): OptionalParameter<Account | 'null'> =>
  scalar(name, readNullableAccount, textOf(`${forms.account}|null`));

/** Unsigned 64 bits. */
export const shard = (name: string): OptionalParameter<bigint> => scalar(name, readShard, textOf(forms.shard));

/** The first 32 bits of a body, as signed. */
export const opcode = (name: string): OptionalParameter<number> => scalar(name, readOpcode, textOf(forms.opcode));

/** Unix seconds. */
export const utime = (name: string): OptionalParameter<number> =>
  scalar(name, readUtime, { type: 'number', minimum: 0 });

/** A logical time below 2^63. */
export const lt = (name: string): OptionalParameter<bigint> =>
  scalar(name, readLt, { type: 'integer', format: 'int64', minimum: 0 });

/** Signed 32 bits: a text in a query, a text or a number in a body. */
export const int32 = (name: string): OptionalParameter<number> =>
  orNumber(scalar(name, readInt32, { type: 'integer', format: 'int32' }));

/** A masterchain block. A text that is no number matches no block, same as 0 (service/v3/README.md#chain-operations). */
export const masterchainSeqno: OptionalParameter<number> = {
  ...int32('seqno'),
  parse: (raw) => readInt32(String(raw)) ?? 0,
};

/** Unsigned 32 bits, in the same forms. */
export const uint32 = (name: string): OptionalParameter<number> =>
  orNumber(
    scalar(
      name,
      readUint32,
      { type: 'integer', minimum: 0, maximum: 2 ** 32 - 1 },
      `${name} must be an unsigned integer of 32 bits`,
    ),
  );

export const bool = (name: string, fallback = false): DefaultedParameter<boolean> =>
  withDefault(scalar(name, readBool, { type: 'boolean' }), fallback);

/** Texts unchanged, repeatable and not split; the operation interprets them. */
export const texts = (name: string): DefaultedParameter<readonly string[]> => ({
  ...list(name, (value) => value, text),
  parse: (raw) => given(raw).filter((value) => value !== ''),
});

export const plainText = (name: string): OptionalParameter<string> => scalar(name, (value) => value, text);

/** A word of a list; any other text fails with `message`. */
export function word<const T extends string>(name: string, words: readonly T[], message: string): OptionalParameter<T> {
  return scalar(name, (value) => words.find((one) => one === value), { type: 'string', enum: words }, message);
}

/** Order for lists that have a default order of their own. */
export const sortIfGiven: OptionalParameter<Sort> = scalar(
  'sort',
  (value) => sorts.get(value.toLowerCase()),
  { type: 'string', enum: ['asc', 'desc'] },
  'wrong value for sort parameter',
);

const sort: DefaultedParameter<Sort> = withDefault(sortIfGiven, 'desc');

const sorts: ReadonlyMap<string, Sort> = new Map([
  ['asc', 'asc'],
  ['a', 'asc'],
  ['desc', 'desc'],
  ['d', 'desc'],
]);

/** Below 1 is as 1; above the most is refused. */
const limit: DefaultedParameter<number> = withDefault(
  {
    ...scalar('limit', (value) => readCount(value, 1), { type: 'integer', minimum: 1, maximum: LIMIT_MAX }),
    check: (value) => (value > LIMIT_MAX ? `limit is not allowed: ${value} > ${LIMIT_MAX}` : undefined),
  },
  100,
);

/** Below 0 is as 0. */
const offset: DefaultedParameter<number> = withDefault(
  scalar('offset', (value) => readCount(value, 0), { type: 'integer', minimum: 0 }),
  0,
);

/** Part of a list to return (service/v3/README.md#pages-and-cursors). */
export const page = { limit, offset };

/** Same as `page`, for a list with a choice of direction. */
export const paging = { ...page, sort };

const cursor = scalar('cursor', (value) => value, textOf(forms.cursor));

/** Same as `page`, for a list with cursors (cursor.ts). */
export const cursorPage = { ...page, cursor };

/** Same as `paging`, for a list with cursors. */
export const cursorPaging = { ...paging, cursor };

/** Bounds in time, both inclusive. */
export const windows = {
  startUtime: utime('start_utime'),
  endUtime: utime('end_utime'),
  startLt: lt('start_lt'),
  endLt: lt('end_lt'),
};

function scalar<T>(
  name: string,
  read: (value: string) => T | undefined,
  schema: JsonSchema,
  message = `failed to decode: schema: error converting value for "${name}"`,
): OptionalParameter<T> {
  return {
    name,
    missing: undefined,
    emptyIsAbsent: true,
    parse: (raw) => {
      const value = typeof raw === 'string' ? read(raw) : undefined;
      return value ?? refuse(message, name);
    },
    check: () => undefined,
    input: { name, schema },
  };
}

/** Takes a number of a body as its text. */
function orNumber<T>(ofText: OptionalParameter<T>): OptionalParameter<T> {
  return { ...ofText, parse: (raw, kind) => ofText.parse(typeof raw === 'number' ? String(raw) : raw, kind) };
}

/** A value that does not parse is split at commas and parsed again; an empty value has no items. */
function list<T>(
  name: string,
  read: (value: string) => T | undefined,
  item: JsonSchema,
): DefaultedParameter<readonly T[]> {
  const readAll = (value: string, index: number): T[] => {
    if (value === '') return [];
    const whole = read(value);
    if (whole !== undefined) return [whole];
    const parts = value.includes(',') ? value.split(',').filter((part) => part !== '') : [value];
    return parts.map(
      (part) =>
        read(part) ?? refuse(`failed to decode: schema: error converting value for index ${index} of "${name}"`, name),
    );
  };
  return withDefault(
    {
      name,
      missing: undefined,
      repeats: true,
      parse: (raw) => given(raw).flatMap(readAll),
      check: () => undefined,
      input: { name, schema: item },
    },
    [],
  );
}

/** Values of a repeated name in a query. */
function given(raw: unknown): readonly string[] {
  return Array.isArray(raw) ? raw.filter((value) => typeof value === 'string') : [];
}

function refuse(message: string, name: string): never {
  throw invalid(message, name);
}
