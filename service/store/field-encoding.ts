import { createByteSink, type ByteSink } from './byte-sink.ts';
import type { ColumnKind } from './columns.ts';

/** How values of a Postgres type are written in its binary format (Postgres manual, COPY and the types' `recv` functions). */
type FieldType = {
  /** Id of the type, as in arrays of the type. */
  readonly oid: number;
  /** The value without its length. */
  readonly write: (sink: ByteSink, value: never) => void;
  /** Type of its array elements, if Postgres has no array of it. */
  readonly carrier?: { readonly sql: string; readonly from: (value: never) => unknown };
};

/** Base of the digits of a `numeric`. */
const NUMERIC_BASE = 10_000;

/** Marks null in place of the length of a field. */
const NULL_LENGTH = -1;

const INTEGER_OID = 23;
const BYTEA_OID = 17;
const TEXT_OID = 25;

const fieldTypes: Readonly<Record<string, FieldType>> = {
  bytea: { oid: BYTEA_OID, write: (sink, value: Uint8Array) => sink.bytes(value) },
  bigint: { oid: 20, write: (sink, value: bigint) => sink.int64(value) },
  integer: { oid: INTEGER_OID, write: (sink, value: number) => sink.int32(value) },
  smallint: { oid: 21, write: (sink, value: number) => sink.int16(value) },
  boolean: { oid: 16, write: (sink, value: boolean) => sink.bytes(value ? trueByte : falseByte) },
  text: { oid: TEXT_OID, write: (sink, value: string) => sink.text(withoutZeros(value)) },
  numeric: { oid: 1700, write: writeNumeric },
  jsonb: {
    oid: 3802,
    write: (sink, value: unknown) => {
      sink.bytes(jsonbVersion);
      sink.text(jsonOf(value));
    },
  },
  'integer[]': {
    oid: 1007,
    write: writeElements(INTEGER_OID, (sink, value: number) => sink.int32(value)),
    carrier: { sql: 'text', from: (value: readonly number[]) => `{${value.join(',')}}` },
  },
  'bytea[]': {
    oid: 1001,
    write: writeElements(BYTEA_OID, (sink, value: Uint8Array) => sink.bytes(value)),
    carrier: {
      sql: 'text',
      from: (value: readonly Uint8Array[]) =>
        `{${value.map((one) => `"\\\\x${Buffer.from(one).toString('hex')}"`).join(',')}}`,
    },
  },
  'text[]': {
    oid: 1009,
    write: writeElements(TEXT_OID, (sink, value: string) => sink.text(withoutZeros(value))),
    carrier: {
      sql: 'text',
      from: (value: readonly string[]) => `{${value.map((one) => `"${one.replaceAll(/["\\]/g, '\\$&')}"`).join(',')}}`,
    },
  },
};

/** Texts of the chain may contain characters that Postgres refuses: the character zero, and in JSON unpaired surrogates, as escapes. */
const refusedInJson = /\\u(?:0000|d[89a-f])/i;

function withoutZeros(text: string): string {
  return text.includes('\0') ? text.replaceAll('\0', '') : text;
}

function jsonOf(value: unknown): string {
  const json = JSON.stringify(value);
  if (!refusedInJson.test(json)) return json;
  return JSON.stringify(value, (_name, one: unknown) => {
    if (typeof one === 'string') return storable(one);
    if (typeof one !== 'object' || one === null || Array.isArray(one)) return one;
    return Object.fromEntries(Object.entries(one).map(([name, field]) => [storable(name), field]));
  });
}

function storable(text: string): string {
  return withoutZeros(text).toWellFormed();
}

const trueByte = Uint8Array.of(1);
const falseByte = Uint8Array.of(0);
const jsonbVersion = Uint8Array.of(1);

/** Writes a field with its length, null included. */
export function writeField(kind: ColumnKind<unknown>): (sink: ByteSink, value: unknown) => void {
  const write = typeOf(kind.sql).write as (sink: ByteSink, value: unknown) => void;
  return (sink, value) => {
    if (value === null) {
      if (!kind.nullable) throw new TypeError(`null in a column of ${kind.sql} that has none`);
      sink.int32(NULL_LENGTH);
      return;
    }
    const place = sink.beginLength();
    write(sink, value);
    sink.endLength(place);
  };
}

/** Postgres type of the elements when a column's values are sent as an array. */
export function elementSql(kind: ColumnKind<unknown>): string {
  return typeOf(kind.sql).carrier?.sql ?? kind.sql;
}

/** Encodes a column's values as an array in the binary format. */
export function encodeArray(kind: ColumnKind<unknown>, values: readonly unknown[]): Buffer {
  return encodeArrayWithin(kind, values, Infinity)!;
}

/** Undefined if the array has more than `bytesMax`. */
export function encodeArrayWithin(
  kind: ColumnKind<unknown>,
  values: readonly unknown[],
  bytesMax: number,
): Buffer | undefined {
  const { carrier } = typeOf(kind.sql);
  const element = carrier === undefined ? kind : { sql: carrier.sql, nullable: kind.nullable };
  const from = carrier?.from as ((value: unknown) => unknown) | undefined;
  const write = writeField(element);
  const sink = createByteSink(20 + values.length * 16);
  sink.int32(values.length === 0 ? 0 : 1);
  sink.int32(kind.nullable ? 1 : 0);
  sink.int32(typeOf(element.sql).oid);
  if (values.length > 0) {
    sink.int32(values.length);
    sink.int32(1);
  }
  for (const value of values) {
    write(sink, from === undefined || value === null ? value : from(value));
    if (sink.length() > bytesMax) return undefined;
  }
  return sink.take();
}

function typeOf(sql: string): FieldType {
  const type = fieldTypes[sql];
  if (type === undefined) throw new TypeError(`no binary format for ${sql}`);
  return type;
}

/** Encodes an array of a single dimension in the binary format. */
function writeElements<T>(oid: number, write: (sink: ByteSink, value: T) => void) {
  return (sink: ByteSink, values: readonly T[]): void => {
    sink.int32(values.length === 0 ? 0 : 1);
    sink.int32(0);
    sink.int32(oid);
    if (values.length === 0) return;
    sink.int32(values.length);
    sink.int32(1);
    for (const value of values) {
      const place = sink.beginLength();
      write(sink, value);
      sink.endLength(place);
    }
  };
}

/** Number of digits, power of the first, sign, digits after the point; then the digits, most significant first. */
function writeNumeric(sink: ByteSink, value: bigint): void {
  const digits = value === 0n ? [] : digitsOf(value < 0n ? -value : value);
  const weight = digits.length - 1;
  const last = digits.findLastIndex((digit) => digit !== 0);
  sink.int16(last + 1);
  sink.int16(Math.max(weight, 0));
  sink.int16(value < 0n ? 0x4000 : 0);
  sink.int16(0);
  for (let index = 0; index <= last; index++) sink.int16(digits[index] ?? 0);
}

function digitsOf(value: bigint): number[] {
  const digits: number[] = [];
  let high = value;
  while (high > BigInt(Number.MAX_SAFE_INTEGER)) {
    digits.unshift(Number(high % BigInt(NUMERIC_BASE)));
    high /= BigInt(NUMERIC_BASE);
  }
  // The rest fits a number, which is quicker.
  for (let rest = Number(high); rest > 0; rest = Math.floor(rest / NUMERIC_BASE)) digits.unshift(rest % NUMERIC_BASE);
  return digits;
}
