import { TlError } from './errors.ts';
import type { TlReader } from './reader.ts';
import type { TlWriter } from './writer.ts';

/**
 * Reads and writes one TL type. `tl` is the type in a declaration. The declaration's text, and with it the constructor id, follows from the codecs of
 * its fields.
 */
export type Codec<T> = {
  readonly tl: string;
  /** Fewest bytes of a value, which bounds a vector's count by the bytes present. */
  readonly bytesMin: number;
  read(reader: TlReader): T;
  write(writer: TlWriter, value: T): void;
};

/** Value type of a codec. */
export type Carried<C> = C extends Codec<infer T> ? T : never;

/**
 * Most elements of one vector. The longest real ones (signatures of all validators, shards, 256 transactions) are far below. A lying answer of 16 MiB
 * cannot become millions of objects.
 */
export const VECTOR_COUNT_MAX = 65_536;

export const int: Codec<number> = {
  tl: 'int',
  bytesMin: 4,
  read: (reader) => reader.int32(),
  write: (writer, value) => writer.int32(value),
};

/** `int` in the declaration, unsigned in meaning: seqno, utime, hashes of 32 bits. */
export const uint: Codec<number> = {
  tl: 'int',
  bytesMin: 4,
  read: (reader) => reader.uint32(),
  write: (writer, value) => writer.uint32(value),
};

/** `#`: unsigned 32 bits. */
export const nat: Codec<number> = { ...uint, tl: '#' };

export const long: Codec<bigint> = {
  tl: 'long',
  bytesMin: 8,
  read: (reader) => reader.int64(),
  write: (writer, value) => writer.int64(value),
};

/** `long` in the declaration, unsigned in meaning: shards. */
export const ulong: Codec<bigint> = {
  tl: 'long',
  bytesMin: 8,
  read: (reader) => reader.uint64(),
  write: (writer, value) => writer.uint64(value),
};

/** 32 bytes; read as a view of the input. */
export const int256: Codec<Buffer> = {
  tl: 'int256',
  bytesMin: 32,
  read: (reader) => reader.raw(32),
  write: (writer, value) => writer.raw(value, 32),
};

/** Length-prefixed bytes; read as a view of the input. */
export const bytes: Codec<Buffer> = {
  tl: 'bytes',
  bytesMin: 4,
  read: (reader) => reader.byteString(),
  write: (writer, value) => writer.byteString(value),
};

/** UTF-8 text. Malformed input is read with replacement characters, because texts are only displayed. */
export const string: Codec<string> = {
  tl: 'string',
  bytesMin: 4,
  read: (reader) => reader.byteString().toString('utf8'),
  write: (writer, value) => writer.byteString(Buffer.from(value, 'utf8')),
};

const boolTrueId = 0x997275b5;
const boolFalseId = 0xbc799737;

/** Boxed `Bool`. */
export const bool: Codec<boolean> = {
  tl: 'Bool',
  bytesMin: 4,
  read(reader) {
    const { offset } = reader;
    const id = reader.uint32();
    if (id !== boolTrueId && id !== boolFalseId) throw unknownId('Bool', id, offset);
    return id === boolTrueId;
  },
  write: (writer, value) => writer.uint32(value ? boolTrueId : boolFalseId),
};

/** Bare vector: count, then elements. */
export function vector<T>(element: Codec<T>): Codec<T[]> {
  const tl = `vector ${element.tl}`;
  return {
    tl,
    bytesMin: 4,
    read(reader) {
      const { offset } = reader;
      const count = reader.uint32();
      if (count > VECTOR_COUNT_MAX || count * element.bytesMin > reader.remaining) {
        throw new TlError('tl_count', `${tl} claims ${count} elements`, { what: tl, offset });
      }
      const values: T[] = [];
      for (let index = 0; index < count; index++) values.push(element.read(reader));
      return values;
    },
    write(writer, values) {
      writer.uint32(values.length);
      for (const value of values) element.write(writer, value);
    },
  };
}

export function unknownId(what: string, id: number, offset: number): TlError {
  return new TlError('tl_unknown_id', `no constructor of ${what} has the id ${idText(id)}`, { what, offset });
}

/** Returns a constructor id as in schemas: 8 hexadecimal digits. */
export function idText(id: number): string {
  return id.toString(16).padStart(8, '0');
}
