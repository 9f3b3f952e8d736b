import { CellSlice } from '#service/decode/cell-slice.ts';
import type { CellTable } from '#service/decode/cell-table.ts';
import { digestCell, digestRest } from '#service/decode/cell-digest.ts';
import type { CellDigest } from '#service/decode/cell-digest.ts';
import { normalizedMessageHash } from '#service/decode/tlb/normalized-message.ts';
import { readStateInit } from '#service/decode/tlb/state-init.ts';
import type { MessageRow } from '#service/store/tables.ts';
import { readAccountColumn } from './account-column.ts';

export const MESSAGE_KINDS = { externalIn: 0, internal: 1, externalOut: 2 } as const;

/** A message's row, and the code that the message would deploy. */
export type ReadMessage = {
  readonly row: MessageRow;
  /** Hash of external-in messages, also when it equals the plain hash. */
  readonly normalizedHash: Buffer | null;
  /** Cell of the code in its init. */
  readonly code: number | undefined;
};

/**
 * Reads the row's fields of a message; TL-B as in decode's message.ts.
 * @param lt of the receiving transaction: the position of external-in messages, which have no lt
 */
export function readMessageRow(table: CellTable, cell: number, hash: Buffer, lt: bigint): ReadMessage {
  const slice = new CellSlice(table, cell);
  const info = readInfo(slice);
  const code = slice.bit() ? readInitCode(slice) : undefined;
  const isApart = slice.bit();
  const body = isApart ? slice.ref() : undefined;
  const opcode = body === undefined ? firstBits(slice) : opcodeOfCell(table, body);
  const digest = body === undefined ? digestRest(slice) : digestCell(table, body);
  const normalizedHash = info.kind === MESSAGE_KINDS.externalIn ? normalizedMessageHash(table, cell, digest) : null;
  return { row: makeRow(info, hash, lt, opcode, digest, normalizedHash), normalizedHash, code };
}

type Info = Pick<MessageRow, 'kind' | 'source' | 'destination' | 'created_lt' | 'created_at'>;

function readInfo(slice: CellSlice): Info {
  if (!slice.bit()) {
    // Three flags: delivery over hypercube routing off, bounce, bounced.
    slice.skip(3);
    const source = readAccountColumn(slice);
    const destination = readAccountColumn(slice);
    slice.skipVarUint(16);
    slice.maybeRef();
    slice.skipVarUint(16);
    slice.skipVarUint(16);
    return {
      kind: MESSAGE_KINDS.internal,
      source,
      destination,
      created_lt: slice.uint64(),
      created_at: slice.uint(32) | 0,
    };
  }
  if (!slice.bit()) {
    readAccountColumn(slice);
    const destination = readAccountColumn(slice);
    slice.skipVarUint(16);
    return { kind: MESSAGE_KINDS.externalIn, source: null, destination, created_lt: null, created_at: null };
  }
  const source = readAccountColumn(slice);
  readAccountColumn(slice);
  return {
    kind: MESSAGE_KINDS.externalOut,
    source,
    destination: null,
    created_lt: slice.uint64(),
    created_at: slice.uint(32) | 0,
  };
}

function makeRow(
  info: Info,
  hash: Buffer,
  lt: bigint,
  opcode: number | null,
  body: CellDigest,
  normalizedHash: Buffer | null,
): MessageRow {
  return {
    hash,
    lt: info.created_lt ?? lt,
    hash_norm: normalizedHash === null || normalizedHash.equals(hash) ? null : normalizedHash,
    kind: info.kind,
    source: info.source,
    destination: info.destination,
    created_lt: info.created_lt,
    created_at: info.created_at,
    opcode,
    body_hash: body.hash,
  };
}

/** Init after the Maybe of `init`: in a separate cell or inline. */
function readInitCode(slice: CellSlice): number | undefined {
  if (!slice.bit()) return readStateInit(slice).code;
  const cell = slice.ref();
  return slice.table.kind(cell) === 'ordinary' ? readStateInit(new CellSlice(slice.table, cell)).code : undefined;
}

function firstBits(slice: CellSlice): number | null {
  return slice.remainingBits < 32 ? null : slice.peekUint(32) | 0;
}

/** Null for an exotic cell too: its contents are not in the block. */
function opcodeOfCell(table: CellTable, cell: number): number | null {
  if (table.bitLength(cell) < 32 || table.kind(cell) !== 'ordinary') return null;
  return table.bytes.readInt32BE(table.dataOffset(cell));
}
