import { readBase64 } from '#service/contract/boc-parameter.ts';
import { ContractError, invalid } from '#service/contract/errors.ts';
import { parseBoc, type Boc } from '#service/decode/boc.ts';
import { DecodeError } from '#service/decode/errors.ts';

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
export function readBag(raw: unknown, { place, name, budget, depthMax, checksHashes }: BagRules): Boc {
  if (typeof raw !== 'string') throw invalid(`${place}: not a bag of cells in base64`, name);
  try {
    const bag = parseBoc(readBase64(raw, name), { rootsMax: 1, cellsMax: budget.cells });
    budget.cells -= bag.size;
    const root = bag.roots[0]!;
    if (bag.depth(root) > depthMax) throw invalid(`cells are deeper than ${depthMax}`);
    if (checksHashes) bag.hash(root);
    return bag;
  } catch (error) {
    if (error instanceof DecodeError || error instanceof ContractError)
      throw invalid(`${place}: ${error.message}`, name);
    throw error;
  }
}
