import { writeBoc } from '#service/decode/boc-writer.ts';
import type { CellTable } from '#service/decode/cell-table.ts';
import { cellOfSlice, type StackEntry } from '#service/tvm/stack.ts';
import { writeTyped } from '#test/service/tvm/typed-stack.ts';

/** An argument in the legacy form: as an answer has it, but that a slice keeps its type. */
export function legacyArgument(entry: StackEntry): [string, unknown] {
  return entry.type === 'slice' ? ['slice', cellOf(cellOfSlice(entry))] : legacyOf(entry);
}

/** An entry of an answer in the legacy form (service/v2/README.md#stack). */
export function legacyOf(entry: StackEntry): [string, unknown] {
  if (entry.type === 'int') {
    return ['num', entry.value < 0n ? `-0x${(-entry.value).toString(16)}` : `0x${entry.value.toString(16)}`];
  }
  if (entry.type === 'cell') return ['cell', cellOf(entry)];
  if (entry.type === 'slice') return ['cell', cellOf(cellOfSlice(entry))];
  const typed = writeTyped(entry);
  if (typed['@type'] === 'tvm.stackEntryList') return ['list', typed.list];
  return typed['@type'] === 'tvm.stackEntryTuple' ? ['tuple', typed.tuple] : ['unsupported', ''];
}

function cellOf({ table, cell }: { table: CellTable; cell: number }) {
  return { bytes: writeBoc(table, [cell], { crc32c: true }).toString('base64'), object: objectOf(table, cell) };
}

function objectOf(table: CellTable, cell: number): object {
  const [start, len] = [table.dataOffset(cell), table.bitLength(cell)];
  const data = { b64: table.bytes.toString('base64', start, start + Math.ceil(len / 8)), len };
  const refs = Array.from({ length: table.refCount(cell) }, (_, at) => objectOf(table, table.ref(cell, at)));
  return { data, refs, special: table.kind(cell) !== 'ordinary' };
}
