import { createByteSink } from './byte-sink.ts';
import type { ColumnKind, Row, Table } from './columns.ts';
import { elementSql, encodeArrayWithin, writeField } from './field-encoding.ts';

/** Signature, flags and length of the extension (Postgres manual, binary format of COPY). */
const copyHeader = Buffer.concat([Buffer.from('PGCOPY\n\xff\r\n\0', 'latin1'), Buffer.alloc(8)]);
const copyTrailer = Buffer.from([0xff, 0xff]);

/** Rows are encoded in pieces of this size: a piece takes about a millisecond. */
const CHUNK_BYTES = 256 * 1024;

/** Encodes rows in the binary format of COPY, in pieces; columns are in the order of the table. */
export function* encodeCopy<T extends Table>(table: T, rows: Iterable<Row<T>>): Generator<Buffer> {
  const fields = Object.entries(table.columns).map(([name, kind]) => ({ name, write: writeField(kind) }));
  const sink = createByteSink(CHUNK_BYTES + CHUNK_BYTES / 4);
  sink.bytes(copyHeader);
  for (const row of rows) {
    sink.int16(fields.length);
    for (const { name, write } of fields) write(sink, (row as Readonly<Record<string, unknown>>)[name]);
    if (sink.length() >= CHUNK_BYTES) yield sink.take();
  }
  sink.bytes(copyTrailer);
  yield sink.take();
}

/**
 * An SQL expression of rows as a relation with the table's columns, and its values: an array for each column. Undefined if the values have
 * more than `bytesMax`.
 */
export function encodeUnnest<T extends Table>(
  table: T,
  rows: readonly Row<T>[],
  bytesMax: number,
): { readonly sql: string; readonly values: readonly Buffer[] } | undefined {
  const columns = Object.entries<ColumnKind<unknown>>(table.columns);
  const values: Buffer[] = [];
  let left = bytesMax;
  for (const [name, kind] of columns) {
    const fields = rows.map((row) => (row as Readonly<Record<string, unknown>>)[name]);
    const value = encodeArrayWithin(kind, fields, left);
    if (value === undefined) return undefined;
    left -= value.length;
    values.push(value);
  }
  const arrays = columns.map(([, kind], index) => `$${index + 1}::${elementSql(kind)}[]`);
  const names = columns.map(([name]) => name);
  const casts = columns.map(([name, kind]) =>
    elementSql(kind) === kind.sql ? name : `${name}::${kind.sql} AS ${name}`,
  );
  return {
    sql: `(SELECT ${casts.join(', ')} FROM unnest(${arrays.join(', ')}) AS given (${names.join(', ')}))`,
    values,
  };
}
