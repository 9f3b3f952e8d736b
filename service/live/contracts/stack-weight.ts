import type { CellTable } from '#service/decode/cell-table.ts';
import type { StackEntry } from '#service/tvm/stack.ts';

/** An entry without what it refers to: an object and, for a number, its digits. */
const ENTRY_BYTES = 320;
/** Weight of tables per byte of their cells: offsets, references, hashes, and rendered answers as objects and as JSON. */
const TABLE_FACTOR = 8;
const RUN_BYTES = 2_048;

/** About what a result's stack holds of memory, in bytes: its entries, and the tables that their cells are in. */
export function weighStack(stack: readonly StackEntry[]): number {
  const tables = new Set<CellTable>();
  let entries = 0;
  const waiting = [...stack];
  for (let entry = waiting.pop(); entry !== undefined; entry = waiting.pop()) {
    entries++;
    if ('table' in entry) tables.add(entry.table);
    else if (entry.type === 'tuple') waiting.push(...entry.items);
  }
  const held = [...tables].reduce((sum, { bytes }) => sum + bytes.length, 0);
  return RUN_BYTES + entries * ENTRY_BYTES + held * TABLE_FACTOR;
}
