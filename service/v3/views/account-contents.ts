import { invalid } from '#service/contract/errors.ts';
import { currenciesById } from '#service/decode/tlb/currency-collection.ts';
import { TonplaneError } from '#service/error.ts';
import type { LiveAccount, LiveAccounts } from '#service/live/accounts/accounts.ts';
import { accountOfKey } from '#service/store/account-key.ts';
import { readAccounts, type AccountRow } from '#service/store/queries/accounts.ts';
import { findMasterchainEnd } from '#service/store/queries/blocks.ts';
import { hidesCurrencies } from './account-rows.ts';
import type { V3Context } from '../request/operation.ts';

/** Completes account rows with bags of cells and extra currencies from lite servers. */
export type AccountContents = {
  /**
   * Returns the same rows in the same order, with missing extra currencies and data, and for `all` the code. Proved reads return them for
   * the row's own state, or for the account's later state. Contents that no lite server has any more stay absent.
   * @throws ContractError above the limit of an answer; errors of live reads
   */
  complete(rows: readonly AccountRow[], wanted: WantedContents, context: V3Context): Promise<readonly AccountRow[]>;
};

type Bocs = 'none' | 'data' | 'all';

export type WantedContents = {
  readonly bocs: Bocs;
  /** Selects rows whose bags of cells are to be whole; other rows stay as they are. */
  readonly of: (row: AccountRow) => boolean;
};

/** Live reads of a request at a time. A page of a thousand accounts must leave lite servers to other requests. */
const READS_AT_ONCE = 8;

/** Reads of a row. A row is read again when a block that changes its account was indexed during its completion, which is rare. */
const TRIES = 3;

/** Bytes of bags of cells in an answer: any single account fits, because its state has 65,536 cells at most. */
const BYTES_MAX = 12 * 1024 * 1024;

export function createAccountContents({
  accounts,
}: {
  readonly accounts: Pick<LiveAccounts, 'readAccount'>;
}): AccountContents {
  /** Undefined when no lite server has that state any more. */
  async function readState(row: AccountRow, context: V3Context): Promise<LiveAccount | 'changed' | undefined> {
    const account = accountOfKey(row.account);
    try {
      const { value: newest } = await accounts.readAccount(account, undefined, context);
      if (isOf(row, newest)) return newest;
      // The account has changed since: read its state as of the newest indexed block.
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

/** Form of rows: null without extra currencies. */
function currenciesOf({ extraCurrencies }: LiveAccount): AccountRow['extra_currencies'] {
  return extraCurrencies.length === 0 ? null : currenciesById(extraCurrencies);
}
