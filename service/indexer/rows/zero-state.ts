import { parseProvedBoc } from '#service/decode/boc.ts';
import { createPlainBocWriter } from '#service/decode/plain-boc.ts';
import { readAccount } from '#service/decode/tlb/account.ts';
import { walkShardAccounts } from '#service/decode/tlb/shard-account.ts';
import { readShardState } from '#service/decode/tlb/shard-state.ts';
import { accountKey } from '#service/store/account-key.ts';
import type { SourceBlock } from '../source.ts';
import type { StateRows } from './account-states.ts';
import { addLatestState } from './account-states.ts';

/** Accounts of a chain's zerostate. No transaction made them, so no block shows them before their first transaction. */
export function addZeroState({ id, boc }: SourceBlock, rows: StateRows): void {
  const table = parseProvedBoc(boc);
  const cells = { table, writeBoc: createPlainBocWriter(table) };
  const { utime, accounts } = readShardState(table, table.roots[0]!);
  walkShardAccounts(table, accounts, (accountId, { account, lastTransactionHash, lastTransactionLt }) => {
    const state = readAccount(table, account);
    if (state === undefined) return;
    const at = {
      account: accountKey({ workchain: id.workchain, id: accountId }),
      utime,
      last_trans_hash: Buffer.from(lastTransactionHash),
      last_trans_lt: lastTransactionLt,
      changed_lt: null,
    };
    addLatestState(cells, { state, hash: table.hash(account), at }, rows);
  });
}
