import { countBocCells } from '../decode/boc.ts';
import { DEPTH_MAX } from '../decode/cell-table.ts';
import { DecodeError } from '../decode/errors.ts';
import { STACK_ENTRIES_MAX, sliceEntry, type StackCell, type StackEntry } from '../tvm/stack.ts';
import { parseBocParameter, readBase64 } from './boc-parameter.ts';
import { ContractError, invalid } from './errors.ts';

// Values of a get-method's arguments, for every form of a stack (service/v2/README.md#stack).

/** The reference client's library's words. */
const SIZE_REFUSAL = 'TVM stack size exceeds limit';

/**
 * Most cells of the arguments of one call, as of one TON Connect request. To read, hash and write them takes some 15 ms. A name is one cell,
 * the largest parameter of a configuration or a proof of a key block some 1,000.
 */
export const ARGUMENT_CELLS_MAX = 4_096;

/** Cells and entries that the arguments of one call may still have. */
export type ArgumentBudget = { cells: number; entries: number };

export function makeArgumentBudget(): ArgumentBudget {
  return { cells: ARGUMENT_CELLS_MAX, entries: STACK_ENTRIES_MAX };
}

/** Takes cells from the budget, before they are used. @throws ContractError */
export function takeCells(budget: ArgumentBudget, cells: number): void {
  budget.cells -= cells;
  if (budget.cells >= 0) return;
  throw refused(`${SIZE_REFUSAL}: all cells of stack together are more than ${ARGUMENT_CELLS_MAX}`);
}

/** Takes an entry from the budget, before it is read. Items of tuples and lists are entries too. @throws ContractError */
export function takeEntry(budget: ArgumentBudget): void {
  if (--budget.entries < 0) throw refused(`${SIZE_REFUSAL}: the stack has more than ${STACK_ENTRIES_MAX} entries`);
}

/**
 * Reads the single root of a bag of cells in base64.
 * @param wanted message for the caller otherwise
 * @throws ContractError
 */
export function readBocCell(text: string, wanted: string, budget: ArgumentBudget): StackCell {
  const bytes = orRefuse(wanted, () => readBase64(text, 'stack'));
  takeCells(
    budget,
    orRefuse(wanted, () => countBocCells(bytes)),
  );
  return orRefuse(wanted, () => {
    const table = parseBocParameter(bytes, ARGUMENT_CELLS_MAX);
    return { table, cell: table.roots[0]! };
  });
}

/**
 * An argument that is a cell. The VM reads the cell of a slice or builder as ordinary data: an exotic one is refused.
 * @param refusal text for the caller, which names the argument
 * @throws ContractError
 */
export function cellEntry(type: 'cell' | 'slice' | 'builder', cell: StackCell, refusal: string): StackEntry {
  if (type === 'cell') return { type, ...cell };
  if (cell.table.kind(cell.cell) !== 'ordinary') throw refused(refusal);
  return type === 'slice' ? sliceEntry(cell) : { type, ...cell };
}

/** Most arguments of a call. Each argument is a cell deeper than the one before it, and a bag of cells has 1,024 levels. */
export const ARGUMENTS_MAX = DEPTH_MAX;

/**
 * Returns the arguments of a call, if they are few enough for the VM. Reads no argument: a long stack costs its caller's parsing alone.
 * @throws ContractError
 */
export function requireFewArguments(raw: readonly unknown[]): readonly unknown[] {
  if (raw.length <= ARGUMENTS_MAX) return raw;
  throw refused(`${SIZE_REFUSAL}: ${raw.length} arguments, at most ${ARGUMENTS_MAX} are possible`);
}

/** Bits of a number and its sign in the VM. */
const NUMBER_BITS = 257;
/** Maximum characters of a number (service/v2/README.md#inputs). */
const NUMBER_CHARACTERS_MAX = 255;

/** Decimal or `0x` text, or a JSON integer. @throws ContractError */
export function readStackNumber(value: unknown): bigint {
  if (typeof value === 'bigint') return fitting(value, value.toString());
  if (typeof value === 'string') return readNumber(value);
  if (typeof value === 'number' && Number.isSafeInteger(value)) return BigInt(value);
  throw refused('Wrong type of number in stack entry');
}

/** Decimal or `0x` text, with a sign in front if need be. */
function readNumber(text: string): bigint {
  const shown = text.slice(0, NUMBER_CHARACTERS_MAX);
  const parts = text.length > NUMBER_CHARACTERS_MAX ? null : /^(-?)(\d+|0[xX][0-9a-fA-F]+)$/.exec(text);
  if (parts === null) throw refused(`Invalid number: ${shown}`);
  const magnitude = BigInt(parts[2]!);
  return fitting(parts[1] === '-' ? -magnitude : magnitude, shown);
}

function fitting(value: bigint, shown: string): bigint {
  if (BigInt.asIntN(NUMBER_BITS, value) !== value)
    throw refused(`Invalid number: ${shown.slice(0, NUMBER_CHARACTERS_MAX)}`);
  return value;
}

/**
 * Returns the result of `read`.
 * @param wanted message for the caller when cells or base64 are invalid
 * @throws ContractError
 */
export function orRefuse<T>(wanted: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof DecodeError || (error instanceof ContractError && error.message !== wanted)) {
      throw invalid(wanted, 'stack');
    }
    throw error;
  }
}

function refused(message: string): ContractError {
  return invalid(message, 'stack');
}
