import { parseBoc } from '../decode/boc.ts';
import { methodIds } from '../decode/method-ids.ts';
import type { AccountId } from '../live/accounts/accounts.ts';
import type { ChangedAccount, DetectionWorld } from './detector.ts';

/** Reads an account's code from the world in the form that detection needs. Rejects like `ContractWorld.readAccount`. */
export async function readChangedAccount(
  world: Pick<DetectionWorld, 'readAccount'>,
  account: AccountId,
): Promise<ChangedAccount> {
  const { code, codeHash } = await world.readAccount(account);
  return { account, codeHash, methods: code && methodsOf(code) };
}

/** Ids of methods of code, a bag of cells; null for code of another shape. Throws DecodeError. */
export function methodsOf(code: Buffer): number[] | null {
  const table = parseBoc(code);
  return methodIds(table, table.roots[0]!);
}
