import { BitWriter } from '../decode/bit-writer.ts';
import { createCellStore } from '../decode/cell-store.ts';
import { writeStandardAddress } from '../decode/tlb/message-address.ts';
import type { AccountId } from '../live/accounts/accounts.ts';
import { sliceEntry } from '../tvm/stack.ts';
import type { StackEntry } from '../tvm/stack.ts';
import { account, stackShape } from './stack-shape.ts';

/** Returns an account as an argument of a get-method: `addr_std` alone in a slice. */
export function addressEntry(address: AccountId): StackEntry {
  const table = createCellStore({ cellsMax: 1 });
  const writer = new BitWriter();
  writeStandardAddress(writer, address);
  return sliceEntry({ table, cell: writer.finish(table) });
}

const naming = stackShape({ named: account });

/** Reports whether a result names this account. Only workchain and id count. */
export function isNamed(result: readonly StackEntry[] | undefined, { workchain, id }: AccountId): boolean {
  const named = naming(result)?.named;
  return named !== undefined && named.workchain === workchain && named.id.equals(id);
}
