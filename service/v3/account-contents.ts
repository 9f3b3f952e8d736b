import { invalid } from '../contract/errors.ts';
import { TonplaneError } from '../error.ts';
import type { LiveAccount, LiveAccounts } from '../live/accounts.ts';
import { accountOfKey } from '../store/account-key.ts';
import type { AccountRow } from '../store/queries/accounts.ts';
import { findMasterchainEnd } from '../store/queries/blocks.ts';
import type { V3Context } from './operation.ts';

/** What an account's row lacks of its bags of cells, from lite servers. */
export type AccountContents = {
  /**
   * The same rows in the same order, with the data, and of `all` the code, that the index does not have whole: from proved reads of the very state
   * that the row tells. What nobody keeps any more stays null.
   * @throws ContractError when it is more than an answer may hold; as live reads do
   */
  complete(rows: readonly AccountRow[], wanted: WantedContents, context: V3Context): Promise<readonly AccountRow[]>;
};

export type WantedContents = {
  readonly bocs: 'data' | 'all';
  /** Rows that are to be whole; the others stay as they are. */
  readonly of: (row: AccountRow) => boolean;
};

/** Live reads of one request at a time: a page of a thousand accounts must not take the lite servers from everybody else. */
const READS_AT_ONCE = 8;

/** Bytes of bags of cells in one answer: any one account fits, whose state has 65,536 cells at most. */
const BYTES_MAX = 12 * 1024 * 1024;

export function createAccountContents({
  accounts,
}: {
  readonly accounts: Pick<LiveAccounts, 'readAccount'>;
}): AccountContents {
  async function readState(row: AccountRow, context: V3Context): Promise<LiveAccount | undefined> {
    const account = accountOfKey(row.account);
    const { value: newest } = await accounts.readAccount(account, undefined, context);
    if (isOf(row, newest)) return newest;
    // The account has changed since: its state as of what is indexed.
    const indexed = await findMasterchainEnd(context.store, 'last');
    const { value: earlier } = await accounts.readAccount(account, indexed?.seqno, context);
    return isOf(row, earlier) ? earlier : undefined;
  }

  async function completeRow(row: AccountRow, bocs: 'data' | 'all', context: V3Context): Promise<AccountRow> {
    const state = await readState(row, context).catch((error: unknown) => {
      if (error instanceof TonplaneError && error.code === 'pruned') return undefined;
      throw error;
    });
    if (state === undefined) return row;
    const data = row.data_boc ?? state.data;
    return { ...row, data_boc: data, code_boc: bocs === 'all' ? (row.code_boc ?? state.code) : null };
  }

  return {
    async complete(rows, { bocs, of }, context) {
      const completed = [...rows];
      let bytesLeft = BYTES_MAX;
      const spend = ({ data_boc: data, code_boc: code }: AccountRow): void => {
        bytesLeft -= (data?.length ?? 0) + (code?.length ?? 0);
        if (bytesLeft < 0) throw invalid('too much code and data: ask for fewer accounts, or without include_boc');
      };
      rows.forEach(spend);
      const lacking = rows.flatMap((row, at) => (of(row) && lacks(row, bocs) ? [at] : []));
      const work = lacking.values();
      const worker = async (): Promise<void> => {
        for (const at of work) {
          const row = await completeRow(rows[at]!, bocs, context);
          spend(row);
          completed[at] = row;
        }
      };
      await Promise.all(Array.from({ length: Math.min(READS_AT_ONCE, lacking.length) }, worker));
      return completed;
    },
  };
}

/** Accounts change by transactions alone: the same last one, the same state. */
function isOf(row: AccountRow, { lastTransaction }: LiveAccount): boolean {
  return lastTransaction.hash.equals(row.last_trans_hash);
}

function lacks(row: AccountRow, bocs: 'data' | 'all'): boolean {
  const lacksData = row.data_hash !== null && row.data_boc === null;
  return lacksData || (bocs === 'all' && row.code_hash !== null && row.code_boc === null);
}
