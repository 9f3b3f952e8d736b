import { createByteSink } from '#service/store/byte-sink.ts';
import type { ByteSink } from '#service/store/byte-sink.ts';
import { bytes, defineTable, hash, int, nullable, small } from '#service/store/columns.ts';
import type { ColumnKind, Row, Table } from '#service/store/columns.ts';
import {
  accountEdits,
  accountStates,
  blocks,
  codes,
  latestAccountStates,
  messages,
  shardTops,
  transactions,
} from '#service/store/tables.ts';
import type { BlockRows, TransactionLinks } from '#service/store/tables.ts';
import { bytesOfRows } from './row-bytes.ts';

// Rows cross the thread border as one buffer. A clone of the objects costs the receiving thread more than the other thread spends on making
// them.
// Bytes are views of that buffer on the other side.

const { trace_id: _, ...openColumns } = transactions.columns;
const openTransactions = defineTable('open_transactions', ['hash'], openColumns);

const CAUSES: readonly TransactionLinks['cause'][] = ['none', 'external', 'system', 'internal'];
const links = defineTable('links', [], { cause: small, norm: nullable(hash), sent: bytes, logs: int });

/** Packs rows into a separate buffer, to be transferred. */
export function packRows(rows: BlockRows): Buffer {
  const sink = createByteSink(bytesOfRows(rows));
  sink.int32(rows.mcSeqno);
  packTable(sink, blocks, rows.blocks);
  packTable(sink, shardTops, rows.shardTops);
  packTable(sink, openTransactions, rows.transactions);
  packTable(sink, links, rows.links.map(linkRow));
  packTable(sink, messages, rows.messages);
  packTable(sink, accountStates, rows.accountStates);
  packTable(sink, latestAccountStates, rows.latestAccountStates);
  packTable(sink, accountEdits, rows.accountEdits);
  packTable(sink, codes, rows.codes);
  return sink.take();
}

/** The reverse of `packRows`. */
export function unpackRows(buffer: Buffer): BlockRows {
  const source: Source = { buffer, at: 0 };
  return {
    mcSeqno: readInt(source),
    blocks: unpackTable(source, blocks),
    shardTops: unpackTable(source, shardTops),
    transactions: unpackTable(source, openTransactions),
    links: unpackTable(source, links).map(linksOf),
    messages: unpackTable(source, messages),
    accountStates: unpackTable(source, accountStates),
    latestAccountStates: unpackTable(source, latestAccountStates),
    accountEdits: unpackTable(source, accountEdits),
    codes: unpackTable(source, codes),
  };
}

function linkRow({ cause, externalHashNorm, sent, logs }: TransactionLinks): Row<typeof links> {
  return { cause: CAUSES.indexOf(cause), norm: externalHashNorm, sent: Buffer.concat(sent), logs };
}

function linksOf({ cause, norm, sent, logs }: Row<typeof links>): TransactionLinks {
  const hashes = Array.from({ length: sent.length / 32 }, (__, index) => sent.subarray(32 * index, 32 * index + 32));
  return { cause: CAUSES[cause]!, externalHashNorm: norm, sent: hashes, logs };
}

type Source = { readonly buffer: Buffer; at: number };

type Codec = { readonly write: (sink: ByteSink, value: never) => void; readonly read: (source: Source) => unknown };

const NULL_LENGTH = -1;

/** Codecs per Postgres type. Bytes and texts have a length, which also marks null. Other nullable columns have a mark before the value. */
const codecs: Readonly<Record<string, Codec>> = {
  bytea: {
    write(sink, value: Uint8Array | null) {
      sink.int32(value === null ? NULL_LENGTH : value.length);
      if (value !== null) sink.bytes(value);
    },
    read: readBytes,
  },
  bigint: { write: (sink, value: bigint) => sink.int64(value), read: readBigInt },
  numeric: {
    write(sink, value: bigint) {
      sink.int64(value >> 64n);
      sink.int64(BigInt.asIntN(64, value));
    },
    read: (source) => (readBigInt(source) << 64n) | BigInt.asUintN(64, readBigInt(source)),
  },
  integer: { write: (sink, value: number) => sink.int32(value), read: readInt },
  smallint: { write: (sink, value: number) => sink.int32(value), read: readInt },
  boolean: { write: (sink, value: boolean) => sink.int32(value ? 1 : 0), read: (source) => readInt(source) === 1 },
  jsonb: jsonCodec(),
  'integer[]': jsonCodec(),
};

function jsonCodec(): Codec {
  return {
    write(sink, value: unknown) {
      const place = sink.beginLength();
      sink.text(JSON.stringify(value));
      sink.endLength(place);
    },
    read: (source) => JSON.parse(readBytes(source)!.toString()),
  };
}

function codecOf(kind: ColumnKind<unknown>): Codec {
  const codec = codecs[kind.sql]!;
  if (!kind.nullable || kind.sql === 'bytea') return codec;
  return {
    write(sink, value: never) {
      sink.int32(value === null ? 0 : 1);
      if (value !== null) codec.write(sink, value);
    },
    read: (source) => (readInt(source) === 0 ? null : codec.read(source)),
  };
}

function packTable<T extends Table>(sink: ByteSink, table: T, given: readonly Row<T>[]): void {
  const rows = given as readonly Readonly<Record<string, unknown>>[];
  const fields = Object.entries(table.columns).map(([name, kind]) => ({ name, write: codecOf(kind).write }));
  sink.int32(rows.length);
  for (const row of rows) {
    for (const { name, write } of fields) write(sink, row[name] as never);
  }
}

function unpackTable<T extends Table>(source: Source, table: T): Row<T>[] {
  const fields = Object.entries(table.columns).map(([name, kind]) => ({ name, read: codecOf(kind).read }));
  const count = readInt(source);
  const rows: Row<T>[] = [];
  for (let index = 0; index < count; index++) {
    const row: Record<string, unknown> = {};
    for (const { name, read } of fields) row[name] = read(source);
    rows.push(row as Row<T>);
  }
  return rows;
}

function readInt(source: Source): number {
  const { buffer, at } = source;
  source.at = at + 4;
  return (buffer[at]! << 24) | (buffer[at + 1]! << 16) | (buffer[at + 2]! << 8) | buffer[at + 3]!;
}

function readBigInt(source: Source): bigint {
  const { at } = source;
  source.at = at + 8;
  return source.buffer.readBigInt64BE(at);
}

function readBytes(source: Source): Buffer | null {
  const length = readInt(source);
  if (length === NULL_LENGTH) return null;
  const { at } = source;
  source.at = at + length;
  return source.buffer.subarray(at, at + length);
}
