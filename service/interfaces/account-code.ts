import { methodIds } from '../decode/method-ids.ts';
import type { AccountId } from '../live/accounts/accounts.ts';
import { parseInSlices } from '../live/accounts/paced-cells.ts';
import { createTimeSlice } from '../runtime/time-slice.ts';
import type { ChangedAccount, DetectionWorld } from './detector.ts';

/** Reads an account's code from the world in the form that detection needs. Rejects like `ContractWorld.readAccount`. */
export async function readChangedAccount(
  world: Pick<DetectionWorld, 'readAccount'>,
  account: AccountId,
): Promise<ChangedAccount> {
  const { code } = await world.readAccount(account);
  if (code === null) return { account, codeHash: null, methods: null };
  const table = await parseInSlices(code, createTimeSlice(undefined));
  const root = table.roots[0]!;
  return { account, codeHash: table.hash(root), methods: methodIds(table, root) };
}
