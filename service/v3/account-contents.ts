import { invalid } from '../contract/errors.ts';
import { currenciesById } from '../decode/tlb/currency-collection.ts';
import { TonplaneError } from '../error.ts';
import type { LiveAccount, LiveAccounts } from '../live/accounts.ts';
import { accountOfKey } from '../store/account-key.ts';
import { readAccounts, type AccountRow } from '../store/queries/accounts.ts';
import { findMasterchainEnd } from '../store/queries/blocks.ts';
import { hidesCurrencies } from './account-rows.ts';
import type { V3Context } from './operation.ts';

/** What an account's row lacks of its bags of cells and of its other currencies, from lite servers. */
export type AccountContents = {
  /**
   * The same rows in the same order, with the other currencies, the data, and of `all` the code, that the index does not have whole: from proved reads
   * of the very state that the row tells, or that its account has by then. What nobody keeps any more stays as it is.
   * @throws ContractError when it is more than an answer may hold; as live reads do
   */
  complete(rows: readonly AccountRow[], wanted: WantedContents, context: V3Context): Promise<readonly AccountRow[]>;
};

type Bocs = 'none' | 'data' | 'all';

export type WantedContents = {
  readonly bocs: Bocs;
  /** Rows whose bags of cells are to be whole; the others have what they have. */
  readonly of: (row: AccountRow) => boolean;
};

/** Live reads of one request at a time: a page of a thousand accounts must not take the lite servers from everybody else. */
const READS_AT_ONCE = 8;

/** A row is read anew when a block that changes its account was indexed while it was completed, which hardly happens twice. */
const TRIES = 3;

/** Bytes of bags of cells in one answer: any one account fits, whose state has 65,536 cells at most. */
const BYTES_MAX = 12 * 1024 * 1024;

export function createAccountContents({
  accounts,
}: {
  readonly accounts: Pick<LiveAccounts, 'readAccount'>;
}): AccountContents {
  /** Undefined when nobody keeps that state any more. */
  async function readState(row: AccountRow, context: V3Context): Promise<LiveAccount | 'changed' | undefined> {
    const account = accountOfKey(row.account);
    try {
      const { value: newest } = await accounts.readAccount(account, undefined, context);
      if (isOf(row, newest)) return newest;
      // The account has changed since: its state as of what is indexed.
      const indexed = await findMasterchainEnd(context.store, 'last');
      const { value: earlier } = await accounts.readAccount(account, indexed?.seqno, context);
      return isOf(row, earlier) ? earlier : 'changed';
    } catch (error) {
      if (error instanceof TonplaneError && error.code === 'pruned') return undefined;
      throw error;
    }
  }

  async function completeRow(given: AccountRow, bocs: Bocs, context: V3Context): Promise<AccountRow> {
    let row = given;
    for (let tries = 0; tries < TRIES && lacks(row, bocs); tries++) {
      const state = await readState(row, context);
      if (state === undefined) return row;
      if (state !== 'changed') return withState(row, state, bocs);
      const [newer] = await readAccounts(context.store, { accounts: [row.account], codeHashes: [], bocs });
      row = newer ?? row;
    }
    return row;
  }

  return {
    async complete(rows, { bocs, of }, context) {
      const completed = [...rows];
      let bytesLeft = BYTES_MAX;
      const spend = (bytes: number): void => {
        bytesLeft -= bytes;
        if (bytesLeft < 0) throw invalid('too much code and data: ask for fewer accounts, or without include_boc');
      };
      rows.forEach((row) => spend(bytesOf(row)));
      const bocsOf = (row: AccountRow): Bocs => (of(row) ? bocs : 'none');
      const lacking = rows.flatMap((row, at) => (lacks(row, bocsOf(row)) ? [at] : []));
      const work = lacking.values();
      const worker = async (): Promise<void> => {
        for (const at of work) {
          const row = rows[at]!;
          const whole = await completeRow(row, bocsOf(row), context);
          spend(bytesOf(whole) - bytesOf(row));
          completed[at] = whole;
        }
      };
      await Promise.all(Array.from({ length: Math.min(READS_AT_ONCE, lacking.length) }, worker));
      return completed;
    },
  };
}

function withState(row: AccountRow, state: LiveAccount, bocs: Bocs): AccountRow {
  return {
    ...row,
    extra_currencies: hidesCurrencies(row) ? currenciesOf(state) : row.extra_currencies,
    data_boc: bocs === 'none' ? row.data_boc : (row.data_boc ?? state.data),
    code_boc: bocs === 'all' ? (row.code_boc ?? state.code) : row.code_boc,
  };
}

function bytesOf({ data_boc: data, code_boc: code }: AccountRow): number {
  return (data?.length ?? 0) + (code?.length ?? 0);
}

/** An account may change without a transaction: only the hash names a state. */
function isOf(row: AccountRow, { stateHash }: LiveAccount): boolean {
  return stateHash?.equals(row.hash) ?? false;
}

function lacks(row: AccountRow, bocs: Bocs): boolean {
  if (hidesCurrencies(row)) return true;
  const lacksData = row.data_hash !== null && row.data_boc === null;
  const lacksCode = row.code_hash !== null && row.code_boc === null;
  return (bocs !== 'none' && lacksData) || (bocs === 'all' && lacksCode);
}

/** As rows have them: null without any. */
function currenciesOf({ extraCurrencies }: LiveAccount): AccountRow['extra_currencies'] {
  return extraCurrencies.length === 0 ? null : currenciesById(extraCurrencies);
}
