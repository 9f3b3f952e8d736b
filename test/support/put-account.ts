import type { Cell } from '@ton/core';

import { parseBoc } from '#service/decode/boc.ts';
import type { CellStore } from '#service/decode/cell-store.ts';
import { editAccount } from '#service/devchain/chain/edit-builders.ts';
import type { AccountEdit } from '#service/devchain/collator/state-edits.ts';
import type { AccountPlace } from '#service/devchain/collator/missing-account.ts';

/** Enough for whatever a test sends: a thousand TON. */
const balance = 1_000_000_000_000n;

/** Puts a contract at an address, whatever is there. */
export function putAccount(
  place: AccountPlace,
  { code, data }: { readonly code: Cell; readonly data: Cell },
): AccountEdit {
  return editAccount(place, (states) => ({
    balance,
    code: importCell(states, code),
    data: importCell(states, data),
  }));
}

function importCell(states: CellStore, cell: Cell): number {
  const boc = parseBoc(cell.toBoc());
  return states.import(boc, boc.roots[0]!);
}
