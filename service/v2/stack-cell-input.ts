import type { CellStore } from '../decode/cell-store.ts';
import { CELL_KINDS, type CellKind } from '../decode/cell-table.ts';
import type { StackCell } from '../tvm/stack.ts';
import { invalid } from '../contract/errors.ts';
import { readBase64 } from '../contract/boc-parameter.ts';
import { isRecord } from '../contract/record.ts';
import { orRefuse } from '../contract/stack-arguments.ts';

/**
 * Reads a cell from nested objects `{data: {b64, len}, refs, special?}` (service/v2/README.md#stack).
 * @param take takes a cell from the caller's budget, before it is read
 * @param wanted message for the caller if it is no cell
 * @throws ContractError, and what `take` throws
 */
export function readCellObject(store: CellStore, raw: unknown, take: () => void, wanted: string): StackCell {
  const cell = addObject({ store, take, wanted }, raw);
  // The same rule as for the root of a bag: refuse pruned branches without their Merkle proof.
  if (store.levelMask(cell) !== 0) throw invalid(wanted, 'stack');
  return { table: store, cell };
}

type Reading = { readonly store: CellStore; readonly take: () => void; readonly wanted: string };

/** Recursion is bounded by the depth of a request's JSON. */
function addObject(reading: Reading, raw: unknown): number {
  const { store, take, wanted } = reading;
  const refuse = (): never => {
    throw invalid(wanted, 'stack');
  };
  take();
  if (!isRecord(raw) || !isRecord(raw['data'])) return refuse();
  const { b64 = '', len } = raw['data'];
  const { refs: rawRefs = [], special = false } = raw;
  if (typeof b64 !== 'string' || typeof len !== 'number' || !Number.isInteger(len)) return refuse();
  if (!Array.isArray(rawRefs) || typeof special !== 'boolean') return refuse();
  const data = orRefuse(wanted, () => readBase64(b64, 'stack'));
  const kind = special ? exoticKind(data) : 'ordinary';
  if (kind === undefined) return refuse();
  const refs = rawRefs.map((ref) => addObject(reading, ref));
  return orRefuse(wanted, () => store.add({ kind, data, bitLength: len, refs }));
}

/** Kind of an exotic cell from its first byte; undefined when no exotic cell has the type. Type 0 is no type of an exotic cell. */
function exoticKind(data: Buffer): CellKind | undefined {
  const type = data[0] ?? 0;
  return type === 0 ? undefined : CELL_KINDS[type];
}
