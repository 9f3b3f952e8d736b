import type { ReadBudget } from '#service/decode/read-budget.ts';
import { readAccount } from '#service/decode/tlb/account.ts';
import { hashInSlices, writeInSlices } from '#service/live/accounts/paced-cells.ts';
import type { SimulatedAccounts } from '#service/live/contracts/chain-snapshot.ts';
import { viewBytes } from '#service/v3/request/scalars.ts';
import type { TimeSlice } from '#service/runtime/time-slice.ts';

/** Bags of cells in base64 by hash. */
type CellTexts = Readonly<Record<string, string>>;

export type ContractCells = { readonly code_cells: CellTexts; readonly data_cells: CellTexts };

export const noCells: ContractCells = { code_cells: {}, data_cells: {} };

/** Code and data of accounts, each once. Throws DecodeError `too_big` when the budget is spent. */
export async function viewContractCells(
  accounts: SimulatedAccounts,
  budget: ReadBudget,
  timeSlice: TimeSlice,
): Promise<ContractCells> {
  const found = { code: new Map<string, string>(), data: new Map<string, string>() };
  for (const { table, account } of accounts.values()) {
    await timeSlice.pause();
    await hashInSlices(table, timeSlice);
    const state = readAccount(table, account)?.state;
    if (state?.kind !== 'active') continue;
    for (const part of ['code', 'data'] as const) {
      const cell = state.init[part];
      if (cell === undefined) continue;
      const hash = viewBytes(table.hash(cell));
      if (found[part].has(hash)) continue;
      const bag = await writeInSlices({ table, cell }, { crc32c: true, budget }, timeSlice);
      const text = bag.toString('base64');
      budget.write(text.length);
      found[part].set(hash, text);
    }
  }
  return { code_cells: Object.fromEntries(found.code), data_cells: Object.fromEntries(found.data) };
}
