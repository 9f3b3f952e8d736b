import { accountKey, type StoredAccount } from '../account-key.ts';
import type { AccountStateRow, TransactionRow } from '../tables.ts';
import { signedOf, versionOfRules } from './blocks.ts';
import {
  anyKeyAt,
  createConditions,
  firstOfEach,
  keyAt,
  keysAt,
  pageAt,
  pageOf,
  type Conditions,
  type Direction,
  type Page,
} from './conditions.ts';
import { everyLt, intersect, ltsOfAccountTimes, ltsOfBlocks, ltsOfTimes, type LtWindow } from './lt-windows.ts';
import { addAfter, orderBy, orderFor, type After, type Order } from './order.ts';
import type { StoreReader } from './reader.ts';
import { addTimes } from './times.ts';

/** A transaction and the data of its block. */
export type FoundTransaction = Omit<TransactionRow, 'boc' | 'trace_id' | 'in_opcode' | 'in_body_hash'> & {
  readonly boc: Buffer;
  readonly trace_id: Buffer;
  readonly global_version: number | null;
};

/** Filter of transactions; all conditions apply. Windows are inclusive at both ends. */
export type TransactionFilter = {
  readonly workchain?: number | undefined;
  /** Unsigned 64 bits. */
  readonly shard?: bigint | undefined;
  /** Seqno of their block. */
  readonly seqno?: number | undefined;
  readonly mcSeqno?: number | undefined;
  /** Any of them; empty for all. */
  readonly accounts?: readonly StoredAccount[];
  readonly excludedAccounts?: readonly StoredAccount[];
  /** Any of them; empty for all. */
  readonly hashes?: readonly Uint8Array[];
  readonly lt?: bigint | undefined;
  readonly startUtime?: number | undefined;
  readonly endUtime?: number | undefined;
  readonly startLt?: bigint | undefined;
  readonly endLt?: bigint | undefined;
};

export type SortedPage = Page & { readonly sort: Direction };

const columns =
  't.hash, t.lt, t.account, t.utime, t.mc_seqno, t.workchain, t.shard, t.seqno, t.trace_id, t.in_msg_hash, t.boc';

/**
 * Rows named `t` with their block's version, in the order of `t`. Each row looks up its own block: for a join with hundreds of transactions
 * a planner reads all blocks. @param inner columns of transactions, ordered and limited
 */
export function withVersion(inner: string, order: string): string {
  const block = 'b.workchain = t.workchain AND b.shard = t.shard AND b.seqno = t.seqno';
  const version = `(SELECT ${versionOfRules} FROM blocks b WHERE ${block})`;
  return `SELECT ${columns}, ${version} AS global_version FROM (${inner}) t ${order}`;
}

/** Columns that `withVersion` needs of its inner query. */
export const transactionColumns = columns;

/** A transaction before its content is read. */
export type TransactionPlace = Pick<FoundTransaction, 'hash' | 'lt' | 'account' | 'trace_id'>;

/** Columns of a position, for transactions named `t`. */
export const placeColumns = 't.hash, t.lt, t.account, t.trace_id';

/** A transaction in a list; the order by time needs its time. */
export type ListedTransaction = TransactionPlace & Pick<FoundTransaction, 'utime'>;

const listColumns = `${placeColumns}, t.utime`;

/** Positions in the order of `transactionOrder`. `readTransactionsAt` reads the transactions. */
export function findTransactions(
  store: StoreReader,
  filter: TransactionFilter,
  page: SortedPage & After,
): Promise<readonly ListedTransaction[]> {
  return find(store, filter, page, positions);
}

/** Same as `findTransactions`, with their content. */
export function findWholeTransactions(
  store: StoreReader,
  filter: TransactionFilter,
  page: SortedPage & After,
): Promise<readonly FoundTransaction[]> {
  return find(store, filter, page, { columns, statement: 'whole_transactions', finish: withVersion });
}

/** Parts of a transaction in a list. */
type Selection = {
  readonly columns: string;
  /** Start of names of statements. */
  readonly statement: string;
  readonly finish: (inner: string, order: string) => string;
};

const positions: Selection = { columns: listColumns, statement: 'transactions', finish: (inner) => inner };

async function find<R extends ListedTransaction>(
  store: StoreReader,
  filter: TransactionFilter,
  page: SortedPage & After,
  selection: Selection,
): Promise<readonly R[]> {
  const window = await ltsOf(store, filter);
  if (window.from > window.to) return [];
  const { accounts = [], hashes = [] } = filter;
  const columnsOfOrder = orderFor(transactionOrder(filter, page), store);
  const order = orderBy(columnsOfOrder, 't');
  const conditions = conditionsOf(filter, window);
  addTimes(conditions, 't.utime', filter, store);
  addAfter(conditions, columnsOfOrder, 't', page.after);

  const keys = [...new Set(accounts.map((account) => accountKey(account).toString('hex')))];
  const several = keys.length > 1;
  const isAll = conditions.where() === '' && hashes.length === 0 && keys.length === 0;
  if (isAll && page.offset + page.limit <= FIRST_ROWS) return readFirst<R>(store, order, page, selection);
  const statement = conditions.where() === '' ? keptName(hashes.length, keys.length, page) : undefined;
  const ofAccount = (at: string): string => `t.account = ${statement === undefined ? at : keyAt(at)}`;
  if (!several) conditions.when(keys[0] && Buffer.from(keys[0], 'hex'), ofAccount);
  if (hashes.length > 0) conditions.when(hashes, (at) => `t.hash = ${anyKeyAt(at)}`);
  const { columns: select } = selection;
  const list = { select, from: 'transactions t', key: 't.account' };
  const ofEach = (at: string): string => firstOfEach(list, at, conditions, order, page);
  const inner = several
    ? `SELECT ${select} FROM (${ofEach(conditions.place(keys.map((key) => Buffer.from(key, 'hex'))))}) t ${order} ${pageOf(page)}`
    : `SELECT ${select} FROM transactions t ${conditions.where()} ${order} ${statement === undefined ? pageOf(page) : pageAt(conditions, page)}`;
  const sql = selection.finish(inner, order);
  return store.read<R>(
    sql,
    conditions.values,
    statement === undefined ? {} : { statement: `${selection.statement}_${statement}` },
  );
}

/** Rows of the first pages of a list of all transactions. Later pages are planned for their own length. */
const FIRST_ROWS = 2000;

/**
 * A page of all transactions. The planner takes some milliseconds for the partitions of some years, so the statement has a name. It sees
 * the bound of the inner list in place of the page, which it could not estimate. The inner list is read no further than the page goes.
 */
function readFirst<R extends ListedTransaction>(
  store: StoreReader,
  order: string,
  page: SortedPage,
  selection: Selection,
): Promise<readonly R[]> {
  const conditions = createConditions();
  const first = `SELECT ${selection.columns} FROM transactions t ${order} LIMIT ${FIRST_ROWS}`;
  const inner = `SELECT ${selection.columns} FROM (${first}) t ${order} ${pageAt(conditions, page)}`;
  const statement = `${selection.statement}_${page.sort}`;
  return store.read<R>(selection.finish(inner, order), conditions.values, { statement });
}

/**
 * End of the name of the constant statement: hashes, or a single account, are the only conditions. The account's own list is read from an index, in
 * its order, for any part of the list.
 */
function keptName(hashes: number, accounts: number, { sort }: Pick<SortedPage, 'sort'>): string | undefined {
  if (hashes > 0) return accounts === 0 ? `of_hashes_${sort}` : undefined;
  return accounts === 1 ? `of_account_${sort}` : undefined;
}

/**
 * Order of transactions (service/v3/README.md#order). Hashes follow the requested direction.
 * The lt order of an account is also its time order.
 */
export function transactionOrder(filter: TransactionFilter, { sort }: Pick<SortedPage, 'sort'>): Order {
  const { hashes = [], accounts = [], lt, startUtime, endUtime } = filter;
  const account = { column: 'account', type: 'bytea', sort: 'asc' } as const;
  if (lt !== undefined)
    return [
      { column: 'lt', type: 'bigint', sort: 'asc' },
      { ...account, sort },
    ];
  if (hashes.length > 0) return [{ column: 'hash', type: 'bytea', sort }];
  const byLt = [{ column: 'lt', type: 'bigint', sort } as const, account];
  const byTime = (startUtime ?? endUtime) !== undefined && accounts.length !== 1;
  return byTime ? [{ column: 'utime', type: 'utime', sort }, ...byLt] : byLt;
}

/** All conditions except those on hash, accounts and time. */
function conditionsOf(filter: TransactionFilter, { from, to }: LtWindow): Conditions {
  const { excludedAccounts = [] } = filter;
  const conditions = createConditions();
  if (excludedAccounts.length > 0) {
    conditions.when(excludedAccounts.map(accountKey), (at) => `t.account <> ALL(${at}::bytea[])`);
  }
  conditions.when(filter.workchain, (at) => `t.workchain = ${at}`);
  conditions.when(signedOf(filter.shard), (at) => `t.shard = ${at}`);
  conditions.when(filter.seqno, (at) => `t.seqno = ${at}`);
  conditions.when(filter.mcSeqno, (at) => `t.mc_seqno = ${at}`);
  if (from > everyLt.from) conditions.when(from, (at) => `t.lt >= ${at}`);
  if (to < everyLt.to) conditions.when(to, (at) => `t.lt <= ${at}`);
  return conditions;
}

/** Lts of transactions that satisfy the filter: its conditions on time and blocks, expressed in lt. */
async function ltsOf(store: StoreReader, filter: TransactionFilter): Promise<LtWindow> {
  const given = intersect(
    { from: filter.startLt ?? everyLt.from, to: filter.endLt ?? everyLt.to },
    filter.lt === undefined ? everyLt : { from: filter.lt, to: filter.lt },
  );
  const [account, other] = filter.accounts ?? [];
  const isOfOne = account !== undefined && other === undefined;
  const [times, blocks] = await Promise.all([
    isOfOne ? ltsOfAccountTimes(store, account, filter) : ltsOfTimes(store, filter),
    ltsOfBlocks(store, filter),
  ]);
  return intersect(given, intersect(times, blocks));
}

/** Transactions at some positions, in no order. Uses the index on hash, in the partitions of their lts. */
export async function readTransactionsAt(
  store: StoreReader,
  places: readonly TransactionPlace[],
): Promise<readonly FoundTransaction[]> {
  if (places.length === 0) return [];
  const inner = `SELECT ${columns} FROM unnest(${keysAt('$1')}, ${keysAt('$2', 'bigint')}) AS place (hash, lt)
    JOIN transactions t ON t.hash = place.hash AND t.lt = place.lt`;
  const keys = [places.map(({ hash }) => hash), places.map(({ lt }) => lt)];
  return store.read(withVersion(inner, ''), keys, { statement: 'transactions_at' });
}

/** Indexed transactions of the hashes. */
export function findTransactionsByHash(
  store: StoreReader,
  hashes: readonly Uint8Array[],
): Promise<readonly FoundTransaction[]> {
  const inner = `SELECT ${columns} FROM transactions t WHERE t.hash = ${anyKeyAt('$1')}`;
  return store.read(withVersion(inner, 'ORDER BY t.lt, t.account'), [hashes], { statement: 'transactions_by_hash' });
}

/** Consumers of messages, by hashes of messages. */
export function findConsumers(
  store: StoreReader,
  messageHashes: readonly Uint8Array[],
): Promise<readonly FoundTransaction[]> {
  const inner = `SELECT ${columns} FROM transactions t WHERE t.in_msg_hash = ${anyKeyAt('$1')}`;
  return store.read(withVersion(inner, 'ORDER BY t.lt, t.account'), [messageHashes], { statement: 'consumers' });
}

/** Most messages of a transaction, a bounced message included; their lts follow the transaction's lt. */
export const MESSAGES_OF_TRANSACTION_MAX = 256n;

/** Possible sender of a message of an account at an lt: its last transaction before, if near enough. */
export function findProducer(
  store: StoreReader,
  source: StoredAccount,
  createdLt: bigint,
): Promise<readonly FoundTransaction[]> {
  const order = 'ORDER BY t.lt DESC';
  const inner = `SELECT ${columns} FROM transactions t WHERE t.account = $1 AND t.lt < $2 AND t.lt >= $3 ${order} LIMIT 1`;
  const values = [accountKey(source), createdLt, createdLt - MESSAGES_OF_TRANSACTION_MAX];
  return store.read(withVersion(inner, order), values, { statement: 'producer' });
}

/** States of accounts by their hashes; states outside of the index are absent. */
export function findStates(store: StoreReader, hashes: readonly Uint8Array[]): Promise<readonly AccountStateRow[]> {
  const columnsOfState = 'hash, balance, extra_currencies, status, frozen_hash, data_hash, code_hash';
  const sql = `SELECT ${columnsOfState} FROM account_states WHERE hash = ${anyKeyAt('$1')}`;
  return store.read(sql, [hashes], { statement: 'account_states' });
}
