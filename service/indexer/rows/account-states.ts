import { CellSlice } from '#service/decode/cell-slice.ts';
import type { CellTable } from '#service/decode/cell-table.ts';
import { walkHashmap } from '#service/decode/hashmap.ts';
import { ACCOUNT_STATUS_TAGS } from '#service/decode/tlb/account-status.ts';
import type { Account } from '#service/decode/tlb/account.ts';
import { readAccount } from '#service/decode/tlb/account.ts';
import type { CurrencyCollection } from '#service/decode/tlb/currency-collection.ts';
import { extraCurrenciesById, NO_CURRENCIES } from '#service/decode/tlb/currency-collection.ts';
import { accountKey } from '#service/store/account-key.ts';
import type { AccountEditRow, AccountStateRow, LatestAccountStateRow } from '#service/store/tables.ts';
import type { AccountEdit } from './account-edits.ts';
import { shardAccountBefore } from './account-edits.ts';
import type { BlockReader } from './block-reader.ts';
import type { AccountActivity } from './block-transactions.ts';
import type { CodeRows } from './code-rows.ts';
import { statesBetween } from './states-between.ts';

/** Hash of the cell of `account_none$0`: the state of an account before its creation and after its deletion. */
const NO_ACCOUNT_HASH = Buffer.from('90aec8965afabb16ebc3cb9b408ebae71b618d78788bc80d09843593cac98da4', 'hex');

/** Last transaction hash of an account without transactions. */
const NO_TRANSACTION_HASH = Buffer.alloc(32);

/** Stored state of an account that does not exist (service/indexer/README.md#rows). */
const NO_ACCOUNT: AccountStateRow = {
  hash: NO_ACCOUNT_HASH,
  balance: 0n,
  extra_currencies: null,
  status: ACCOUNT_STATUS_TAGS.nonexist,
  frozen_hash: null,
  data_hash: null,
  code_hash: null,
};

/** Destination of states. */
export type StateRows = {
  readonly accountStates: AccountStateRow[];
  readonly latest: LatestAccountStateRow[];
  readonly edits: AccountEditRow[];
  readonly codes: CodeRows;
};

/**
 * States of a block's accounts, from the Merkle update of the shard's state. The state after the last transaction is whole; states before
 * it have status and balance. The state before a first transaction is included when the account existed.
 */
export function addStates(block: BlockReader, activities: readonly AccountActivity[], rows: StateRows): void {
  let touchesNothing = false;
  for (const activity of activities) {
    const after = stateAfter(block, activity);
    addLastState(block, activity, after, rows);
    const { transactions } = activity;
    const first = transactions[0]!;
    if (transactions.length > 1 || (first.prevLt === 0n && first.originalStatus !== ACCOUNT_STATUS_TAGS.nonexist)) {
      addStatesBefore(block, activity, after, rows);
    }
    touchesNothing ||= transactions.some(
      ({ originalStatus, endStatus }) =>
        originalStatus === ACCOUNT_STATUS_TAGS.nonexist || endStatus === ACCOUNT_STATUS_TAGS.nonexist,
    );
  }
  if (touchesNothing) rows.accountStates.push(NO_ACCOUNT);
}

/** States of accounts that the block changes without a transaction: as the block leaves them, at its start lt. */
export function addEditedStates(
  block: BlockReader,
  edits: readonly AccountEdit[],
  mcSeqno: number,
  rows: StateRows,
): void {
  const { id: blockId, table, info } = block;
  for (const { id, after } of edits) {
    // A cell that the update takes over from elsewhere in the old state shows nothing of the account.
    if (after !== undefined && table.kind(after.account) === 'pruned') continue;
    const state = after && readAccount(table, after.account);
    const account = accountKey({ workchain: blockId.workchain, id });
    const hash = after === undefined ? NO_ACCOUNT_HASH : table.hash(after.account, 0);
    const at = {
      account,
      utime: info.utime,
      last_trans_hash: after?.lastTransactionHash ?? NO_TRANSACTION_HASH,
      last_trans_lt: after?.lastTransactionLt ?? 0n,
      changed_lt: info.startLt,
    };
    rows.edits.push({ account, lt: info.startLt, mc_seqno: mcSeqno, hash });
    if (state !== undefined) {
      addLatestState(block, { state, hash, at }, rows);
      continue;
    }
    rows.accountStates.push(NO_ACCOUNT);
    rows.latest.push({ ...NO_ACCOUNT, ...at, ...NO_DATA });
  }
}

function hashAfter(table: CellTable, stateUpdate: number): Buffer {
  const slice = new CellSlice(table, stateUpdate);
  slice.skip(8 + 256);
  return slice.hash();
}

function hashBefore(table: CellTable, stateUpdate: number): Buffer {
  const slice = new CellSlice(table, stateUpdate);
  slice.skip(8);
  return slice.hash();
}

/** Undefined when the account is gone. */
function stateAfter({ table }: BlockReader, { after }: AccountActivity): Account | undefined {
  return after === undefined ? undefined : readAccountIn(table, after.account);
}

function addLastState(
  block: BlockReader,
  { account, transactions }: AccountActivity,
  state: Account | undefined,
  rows: StateRows,
): void {
  const { table } = block;
  const last = transactions.at(-1)!;
  const at = {
    account,
    utime: last.utime,
    last_trans_hash: last.hash,
    last_trans_lt: last.lt,
    changed_lt: null,
  };
  if (state === undefined) {
    if (last.endStatus === ACCOUNT_STATUS_TAGS.nonexist) rows.latest.push({ ...NO_ACCOUNT, ...at, ...NO_DATA });
    return;
  }
  addLatestState(block, { state, hash: hashAfter(table, last.stateUpdate), at }, rows);
}

/** Source of an account's state. */
type Cells = Pick<BlockReader, 'table' | 'writeBoc'>;

/** A state of an account, and the transaction before it. */
export type StateAt = {
  readonly state: Account;
  readonly hash: Buffer;
  readonly at: Pick<LatestAccountStateRow, 'account' | 'utime' | 'last_trans_hash' | 'last_trans_lt' | 'changed_lt'>;
};

/** The newest state of an account, without the parts that its cells do not show. */
export function addLatestState(cells: Cells, { state, hash, at }: StateAt, rows: StateRows): void {
  const row = stateRow(cells.table, hash, state);
  rows.accountStates.push(row);
  rows.latest.push({ ...row, ...at, ...wholeData(cells, state, row, at.changed_lt ?? at.last_trans_lt) });
  if (state.state.kind !== 'active') return;
  const { code, libraries } = state.state.init;
  if (code !== undefined) rows.codes.add(cells, code);
  if (libraries !== undefined) addPublicLibraries(cells, libraries, rows);
}

/** Pruned when the block did not change it. */
function readAccountIn(table: CellTable, cell: number): Account | undefined {
  return table.kind(cell) === 'ordinary' ? readAccount(table, cell) : undefined;
}

type WholeData = Pick<LatestAccountStateRow, 'data_boc' | 'data_boc_hash' | 'data_boc_lt'>;

const NO_DATA: WholeData = { data_boc: null, data_boc_hash: null, data_boc_lt: null };

/** Data of the account if the update shows all of it. */
function wholeData(
  { table, writeBoc }: Cells,
  { state }: Account,
  { data_hash }: AccountStateRow,
  lt: bigint,
): WholeData {
  const data = state.kind === 'active' ? state.init.data : undefined;
  if (data === undefined || table.levelMask(data) !== 0) return NO_DATA;
  return { data_boc: writeBoc(data), data_boc_hash: data_hash, data_boc_lt: lt };
}

function stateRow(table: CellTable, hash: Buffer, { balance, state }: Account): AccountStateRow {
  const init = state.kind === 'active' ? state.init : undefined;
  // Level 0: the hash of the cell that a pruned branch stands for.
  const hashOf = (cell: number | undefined): Buffer | null => (cell === undefined ? null : table.hash(cell, 0));
  return {
    hash,
    balance: balance.grams,
    extra_currencies: extraCurrencies(table, balance),
    status: ACCOUNT_STATUS_TAGS[state.kind],
    frozen_hash: state.kind === 'frozen' ? state.stateHash : null,
    data_hash: hashOf(init?.data),
    code_hash: hashOf(init?.code),
  };
}

/** Null without extra currencies; empty when the update does not show them. */
function extraCurrencies(table: CellTable, { extra }: CurrencyCollection): Readonly<Record<string, string>> | null {
  if (extra === undefined) return null;
  if (table.levelMask(extra) !== 0) return {};
  return extraCurrenciesById(table, extra);
}

/** States before the last transaction: the initial account, then status and balance between the transactions. */
function addStatesBefore(
  block: BlockReader,
  { id, transactions }: AccountActivity,
  after: Account | undefined,
  rows: StateRows,
): void {
  const { table } = block;
  const first = transactions[0]!;
  const wasNothing = first.originalStatus === ACCOUNT_STATUS_TAGS.nonexist;
  const before = wasNothing ? undefined : accountBefore(block, id);
  if (before !== undefined && first.prevLt === 0n) {
    rows.accountStates.push(stateRow(table, hashBefore(table, first.stateUpdate), before));
  }
  if (transactions.length === 1) return;
  const ends = { before: wasNothing ? NO_CURRENCIES : before?.balance, after: after?.balance };
  statesBetween(block, transactions, ends).forEach((balance, index) => {
    const { stateUpdate, endStatus } = transactions[index]!;
    if (endStatus === ACCOUNT_STATUS_TAGS.nonexist) return;
    const hash = hashAfter(table, stateUpdate);
    rows.accountStates.push({
      hash,
      balance: balance.balance,
      extra_currencies: balance.extra_currencies,
      status: endStatus,
      frozen_hash: null,
      data_hash: null,
      code_hash: null,
    });
  });
}

/** Undefined also when the block does not show it. The old side of the update may contain less than the account. */
function accountBefore(block: BlockReader, id: Buffer): Account | undefined {
  const account = shardAccountBefore(block, id);
  return account && readAccountIn(block.table, account.account);
}

/** `simple_lib$_ public:Bool root:^Cell`: code that other accounts name by its hash. */
function addPublicLibraries(cells: Cells, libraries: number, { codes }: StateRows): void {
  walkHashmap(
    cells.table,
    libraries,
    256,
    (_, value) => {
      if (value.bit()) codes.add(cells, value.ref());
    },
    { skipPruned: true },
  );
}
