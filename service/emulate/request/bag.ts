import { readBase64 } from '#service/contract/boc-parameter.ts';
import { ContractError, invalid } from '#service/contract/errors.ts';
import { parseBoc, type Boc, type BocLimits } from '#service/decode/boc.ts';
import { DecodeError } from '#service/decode/errors.ts';
import { readInSlices } from '#service/live/accounts/paced-cells.ts';
import type { TimeSlice } from '#service/runtime/time-slice.ts';

/** Cells that the bags of a request still may have. */
export type CellBudget = { cells: number };

/** Place of a bag in a request, and its bounds. */
export type BagRules = {
  /** For messages to the caller. */
  readonly place: string;
  /** Parameter that has the bag. */
  readonly name: string;
  readonly budget: CellBudget;
  readonly depthMax: number;
  /** True to check the hashes in Merkle cells, at some 3 µs a cell. */
  readonly checksHashes: boolean;
};

/**
 * Reads a bag of cells with one root, in base64. A pruned root is refused.
 * @throws ContractError
 */
export function readBag(raw: unknown, rules: BagRules): Boc {
  try {
    return withinRules(parseBoc(bytesOf(raw, rules), limitsOf(rules)), rules);
  } catch (error) {
    throw refusalOf(error, rules);
  }
}

/** Reads the bag of `readBag`, with other requests in between. Rejects as `readBag` throws. */
export async function readBagInSlices(raw: unknown, rules: BagRules, timeSlice: TimeSlice): Promise<Boc> {
  try {
    return withinRules(await readInSlices(bytesOf(raw, rules), limitsOf(rules), timeSlice), rules);
  } catch (error) {
    throw refusalOf(error, rules);
  }
}

function bytesOf(raw: unknown, { name }: BagRules): Buffer {
  if (typeof raw !== 'string') throw invalid('not a bag of cells in base64', name);
  return readBase64(raw, name);
}

function limitsOf({ budget }: BagRules): Partial<BocLimits> {
  return { rootsMax: 1, cellsMax: budget.cells };
}

/** Takes the cells from the budget. */
function withinRules(bag: Boc, { budget, depthMax, checksHashes }: BagRules): Boc {
  budget.cells -= bag.size;
  const root = bag.roots[0]!;
  if (bag.depth(root) > depthMax) throw invalid(`cells are deeper than ${depthMax}`);
  if (checksHashes) bag.hash(root);
  return bag;
}

function refusalOf(error: unknown, { place, name }: BagRules): unknown {
  const isOfBag = error instanceof DecodeError || error instanceof ContractError;
  return isOfBag ? invalid(`${place}: ${error.message}`, name) : error;
}
