import { Cell, Dictionary } from '@ton/core';
import type { Slice } from '@ton/core';

/** Returns the cells of all transactions of a block, by account and lt, found with @ton/core. It has no reader for blocks, so these are the steps. */
export function coreTransactionCells(bytes: Buffer): Cell[] {
  const block = Cell.fromBoc(bytes)[0]!;
  const accountBlocks = block.refs[3]!.refs[2]!.beginParse();
  if (!accountBlocks.loadBit()) return [];
  const accounts = Dictionary.loadDirect(
    Dictionary.Keys.BigUint(256),
    { serialize: () => {}, parse: readAccountBlock },
    accountBlocks.loadRef(),
  );
  return accounts.values().flatMap((transactions) => transactions.values());
}

function skipCurrencies(slice: Slice): void {
  slice.loadCoins();
  if (slice.loadBit()) slice.loadRef();
}

function readAccountBlock(slice: Slice): Dictionary<bigint, Cell> {
  skipCurrencies(slice);
  slice.skip(4 + 256);
  return Dictionary.loadDirect(
    Dictionary.Keys.BigUint(64),
    {
      serialize: () => {},
      parse: (leaf) => {
        skipCurrencies(leaf);
        return leaf.loadRef();
      },
    },
    slice,
  );
}
