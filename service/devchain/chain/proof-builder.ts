import { writeBoc } from '#service/decode/boc-writer.ts';
import { createCellStore } from '#service/decode/cell-store.ts';
import type { CellTable } from '#service/decode/cell-table.ts';
import { addMerkleProof } from '#service/decode/merkle-builder.ts';
import { VisitedCells } from '../collator/visited-cells.ts';

/** Most cells of one answer: a whole block or state of the largest size that fits a frame. */
const answerCellsMax = 1 << 19;

/** A tree that an answer shows: whole, or only where it was visited. */
export type Shown = VisitedCells | { readonly table: CellTable; readonly cell: number };

/**
 * Returns the same bag of cells as the node for these roots: Merkle proofs of visited trees, whole trees unchanged. It has no index, no
 * checksum, and equal cells once.
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
