import { writeBoc } from '../decode/boc-writer.ts';
import { createCellStore } from '../decode/cell-store.ts';
import type { CellTable } from '../decode/cell-table.ts';
import { addMerkleProof } from '../decode/merkle-builder.ts';
import { VisitedCells } from './visited-cells.ts';

/** Cells of one answer at most: a whole block or state of the largest kind that a frame carries. */
const answerCellsMax = 1 << 19;

/** A tree that an answer shows: whole, or only where it was visited. */
export type Shown = VisitedCells | { readonly table: CellTable; readonly cell: number };

/**
 * The bag of cells that the node makes of these roots: Merkle proofs of visited trees, whole trees as they are; no index,
 * no checksum, equal cells once.
 */
export function answerBoc(...roots: readonly Shown[]): Buffer {
  const store = createCellStore({ cellsMax: answerCellsMax });
  return writeBoc(
    store,
    roots.map((root) =>
      root instanceof VisitedCells ? addMerkleProof(store, root) : store.import(root.table, root.cell),
    ),
  );
}
