import { writeBoc } from '../decode/boc-writer.ts';
import type { StackCell, StackEntry } from '../tvm/stack.ts';
import { ContractError } from './errors.ts';

// Values of a get-method's result, for every form of a stack (service/v2/README.md#stack).

/**
 * Bytes of the bags of cells in one answer. One cell may stand in a stack many times, so that a small result could make an answer
 * without end.
 */
const BAG_BYTES_MAX = 4 * 1024 * 1024;

/** Rest of an answer's bound. */
export type BagRoom = { bagBytes: number };

export function makeBagRoom(): BagRoom {
  return { bagBytes: BAG_BYTES_MAX };
}

/**
 * True if a cell has pruned branches without their Merkle proof.
 * Readers of bags, the VM among them, refuse such a root, so no answer shows it.
 */
export function isPruned({ table, cell }: StackCell): boolean {
  return table.levelMask(cell) !== 0;
}

/** Base64 of a cell's bag. @throws ContractError `result_too_big` */
export function viewBag(room: BagRoom, { table, cell }: StackCell): string {
  const bytes = writeBoc(table, [cell], { crc32c: true });
  room.bagBytes -= bytes.length;
  if (room.bagBytes < 0) throw resultTooBig(`more than ${BAG_BYTES_MAX} bytes of cells`);
  return bytes.toString('base64');
}

/** Hex with `0x`, the sign in front. */
export function viewHexNumber(value: bigint): string {
  return value < 0n ? `-0x${(-value).toString(16)}` : `0x${value.toString(16)}`;
}

/** Items of a list of the VM: nested pairs that end with null. Null alone is the empty list. */
export function listElements(entry: StackEntry): readonly StackEntry[] | undefined {
  const elements: StackEntry[] = [];
  for (let rest = entry; ;) {
    if (rest.type === 'null') return elements;
    if (rest.type !== 'tuple' || rest.items.length !== 2) return undefined;
    elements.push(rest.items[0]!);
    rest = rest.items[1]!;
  }
}

/** @param limit levels of tuples and lists that the answer may have */
export function resultTooDeep(limit: number): ContractError {
  return new ContractError('result_too_deep', `Result stack depth >= ${limit}`);
}

/** @param bound what the result has too much of, with the number and its unit */
export function resultTooBig(bound: string): ContractError {
  return new ContractError('result_too_big', `TVM stack size exceeds limit: the result has ${bound}`);
}

export function resultPruned(): ContractError {
  return new ContractError('result_pruned', 'The result has a cell with pruned branches without their Merkle proof');
}
