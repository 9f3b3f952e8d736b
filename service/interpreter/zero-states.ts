import type { ChangedAccount } from '../interfaces/detector.ts';
import { accountOfKey } from '../store/account-key.ts';
import { hashKey } from '../store/hash-key.ts';
import type { BlockRows } from '../store/tables.ts';

/** Accounts with code in the zerostates that the first block has not changed. No transaction reveals their kind. */
export function beginningOf({ latestAccountStates, codes }: BlockRows): ChangedAccount[] {
  const methods = new Map(codes.map((row) => [hashKey(row.code_hash), row.methods]));
  return latestAccountStates.flatMap(({ account, last_trans_lt: lt, code_hash: codeHash }) =>
    lt > 0n || codeHash === null
      ? []
      : [{ account: accountOfKey(account), codeHash, methods: methods.get(hashKey(codeHash)) ?? null }],
  );
}
