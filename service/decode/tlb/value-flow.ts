import type { CellStore } from '../cell-store.ts';
import { BitWriter } from '../bit-writer.ts';
import { CellSlice } from '../cell-slice.ts';
import type { CellTable } from '../cell-table.ts';
import { DecodeError } from '../errors.ts';
import { readCurrencyCollection, writeCurrencyCollection } from './currency-collection.ts';
import type { CurrencyCollection } from './currency-collection.ts';

/** Flow of money through a block. */
export type ValueFlow = {
  readonly fromPrevBlock: CurrencyCollection;
  readonly toNextBlock: CurrencyCollection;
  readonly imported: CurrencyCollection;
  readonly exported: CurrencyCollection;
  readonly feesCollected: CurrencyCollection;
  /** Burned amount, only in the second version. */
  readonly burned: CurrencyCollection | undefined;
  readonly feesImported: CurrencyCollection;
  readonly recovered: CurrencyCollection;
  readonly created: CurrencyCollection;
  readonly minted: CurrencyCollection;
};

const TAG = 0xb8e48dfb;
const TAG_WITH_BURNED = 0x3ebf98b7;

/**
 * `value_flow#b8e48dfb ^[ from_prev_blk to_next_blk imported exported ] fees_collected ^[ fees_imported recovered created minted ]`, all
 * `CurrencyCollection`. `value_flow_v2#3ebf98b7` has `burned` after `fees_collected`.
 */
export function readValueFlow(table: CellTable, cell: number): ValueFlow {
  const slice = new CellSlice(table, cell);
  const tag = slice.uint(32);
  if (tag !== TAG && tag !== TAG_WITH_BURNED) {
    throw new DecodeError('bad_tag', 'The cell is no ValueFlow.', { cell, type: 'ValueFlow', found: tag });
  }
  const moved = slice.refSlice();
  const feesCollected = readCurrencyCollection(slice);
  const burned = tag === TAG_WITH_BURNED ? readCurrencyCollection(slice) : undefined;
  const made = slice.refSlice();
  return {
    fromPrevBlock: readCurrencyCollection(moved),
    toNextBlock: readCurrencyCollection(moved),
    imported: readCurrencyCollection(moved),
    exported: readCurrencyCollection(moved),
    feesCollected,
    burned,
    feesImported: readCurrencyCollection(made),
    recovered: readCurrencyCollection(made),
    created: readCurrencyCollection(made),
    minted: readCurrencyCollection(made),
  };
}

/** The reverse of `readValueFlow`; the second version when `burned` is present. */
export function storeValueFlow(store: CellStore, flow: ValueFlow): number {
  const gather = (parts: readonly CurrencyCollection[]): number => {
    const writer = new BitWriter();
    for (const part of parts) writeCurrencyCollection(writer, part);
    return writer.finish(store);
  };
  const moved = gather([flow.fromPrevBlock, flow.toNextBlock, flow.imported, flow.exported]);
  const made = gather([flow.feesImported, flow.recovered, flow.created, flow.minted]);
  const writer = new BitWriter().int(flow.burned === undefined ? TAG : TAG_WITH_BURNED, 32).ref(moved);
  writeCurrencyCollection(writer, flow.feesCollected);
  if (flow.burned !== undefined) writeCurrencyCollection(writer, flow.burned);
  return writer.ref(made).finish(store);
}
