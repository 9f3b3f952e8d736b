import { traces, type TraceRow } from '../tables.ts';
import { anyKeyAt, columnsOf, createConditions, distinctKeys, keyAt, keysAt, pageOf } from './conditions.ts';
import type { WrittenTraceRow } from '../written-traces.ts';
import { addAfter, orderBy, orderFor, type After, type Order } from './order.ts';
import type { StoreReader } from './reader.ts';
import { addTimes, type TimeReader } from './times.ts';
import {
  MESSAGES_OF_TRANSACTION_MAX,
  transactionColumns,
  withVersion,
  type FoundTransaction,
  type SortedPage,
} from './transactions.ts';

/**
 * Filter of traces; all conditions apply. Windows are inclusive at both ends. At most one of account and the lists of hashes is a
 * condition.
 */
export type TraceFilter = {
  /** Key of `accountKey`. */
  readonly account?: Uint8Array | undefined;
  readonly traceIds: readonly Uint8Array[];
  /** Hashes of transactions in the traces. */
  readonly txHashes: readonly Uint8Array[];
  /** Hashes of messages that transactions in the traces received or sent, raw or normalised. */
  readonly msgHashes: readonly Uint8Array[];
  /** Complete traces that ended in this masterchain block. */
  readonly mcSeqno?: number | undefined;
  /** On the trace's end, as are the bounds in lt. */
  readonly startUtime?: number | undefined;
  readonly endUtime?: number | undefined;
  readonly startLt?: bigint | undefined;
  readonly endLt?: bigint | undefined;
};

/** A trace and the result of its classification: 0 unchanged, 1 failed, 2 ok, 3 broken; null before classification. */
export type FoundTrace = TraceRow & {
  readonly classification: number | null;
  /** End by which a list of an account has the trace. It may be earlier than the end of a large trace that is pending. */
  readonly listed_lt?: bigint;
  readonly listed_utime?: number;
};

/** Place of a trace in its list: its columns of `traceOrder`. */
export function placeOfTrace({ listed_lt, listed_utime, ...row }: FoundTrace): TraceRow {
  return { ...row, end_lt: listed_lt ?? row.end_lt, end_utime: listed_utime ?? row.end_utime };
}

/** Columns of `FoundTrace`. @param alias of the table of traces */
export const foundColumns = (alias: string): string =>
  `${columnsOf(traces, alias)}, (SELECT c.state FROM trace_classifications c WHERE c.trace_id = ${alias}.trace_id) AS classification`;

/**
 * Traces by their end; equal ends by id. The end is a time if the filter has a window of time, else an lt. Uses an index per filter: the
 * primary key, the index on `mc_seqno_end`, or the indexes on the end. An account has the indexes of `trace_accounts` on account and end;
 * other filters have those of `traces`. Classifications use their primary key.
 */
export async function findTraces(
  store: StoreReader,
  filter: TraceFilter,
  page: SortedPage & After,
): Promise<readonly FoundTrace[]> {
  const { account, mcSeqno } = filter;
  const ids = await idsOf(store, filter);
  if (ids?.length === 0) return [];
  if (account !== undefined && mcSeqno === undefined) return findOfAccount(store, { ...filter, account }, page);
  const order = orderFor(traceOrder(filter, page), store);
  const conditions = conditionsOf(filter, { ...page, order }, store);
  conditions.when(ids, (at) => `e.trace_id = ANY(${at}::bytea[])`);
  conditions.when(mcSeqno, (at) => `e.mc_seqno_end = ${at} AND e.state = 0`);
  conditions.when(
    account,
    (at) => `EXISTS (SELECT FROM trace_accounts a WHERE a.account = ${at} AND a.trace_id = e.trace_id)`,
  );
  return store.read(
    `SELECT ${foundColumns('e')} FROM traces e ${conditions.where()} ${orderBy(order, 'e')} ${pageOf(page)}`,
    conditions.values,
  );
}

/** The page is cut from the account's own list. */
function findOfAccount(
  store: StoreReader,
  filter: TraceFilter & { readonly account: Uint8Array },
  page: SortedPage & After,
): Promise<readonly FoundTrace[]> {
  const keys = orderFor(traceOrder(filter, page), store);
  const conditions = conditionsOf(filter, { ...page, order: keys }, store);
  conditions.when(filter.account, (at) => `e.account = ${at}`);
  const order = orderBy(keys, 'e');
  const cut = `SELECT e.trace_id, e.end_lt, e.end_utime FROM trace_accounts e ${conditions.where()} ${order} ${pageOf(page)}`;
  return store.read(
    `SELECT ${foundColumns('t')}, e.end_lt AS listed_lt, e.end_utime AS listed_utime FROM (${cut}) e JOIN traces t ON t.trace_id = e.trace_id ${order}`,
    conditions.values,
  );
}

/** Transactions of some traces, by lt and account; each trace must be named once. Uses the index on trace and lt. */
export async function findTransactionsOfTraces(
  store: StoreReader,
  rows: readonly Pick<TraceRow, 'trace_id' | 'start_lt' | 'end_lt'>[],
): Promise<readonly FoundTransaction[]> {
  if (rows.length === 0) return [];
  // A trace's own lts spare looking into the partitions of all others.
  const inner = `SELECT ${transactionColumns}
    FROM unnest(${keysAt('$1')}, ${keysAt('$2', 'bigint')}, ${keysAt('$3', 'bigint')}) AS w (trace_id, start_lt, end_lt)
    JOIN transactions t ON t.trace_id = w.trace_id AND t.lt >= w.start_lt AND t.lt <= w.end_lt`;
  const values = [rows.map((row) => row.trace_id), rows.map((row) => row.start_lt), rows.map((row) => row.end_lt)];
  const sql = withVersion(inner, 'ORDER BY t.lt, t.account');
  return store.read(sql, values, { statement: 'transactions_of_traces' });
}

/** Stored rendered traces among the given traces, as of their rendering. Uses the primary key. */
export function readWrittenTraces(
  store: StoreReader,
  traceIds: readonly Uint8Array[],
  form: number,
): Promise<
  readonly (Omit<WrittenTraceRow, 'form' | 'packed' | 'accounts'> & {
    readonly packed: Buffer;
    readonly accounts: readonly Buffer[];
  })[]
> {
  return store.read(
    `SELECT trace_id, nodes, edges, messages, accounts, packed FROM written_traces WHERE trace_id = ${anyKeyAt('$1')} AND form = ${keyAt('$2', 'integer')}`,
    [traceIds, form],
    { statement: 'written_traces' },
  );
}

/** Stored rendered traces among the given traces, each with at most so many messages. Uses the primary key. */
export function readTracesOf(
  store: StoreReader,
  traceIds: readonly Uint8Array[],
  messagesMax: readonly number[],
  form: number,
): Promise<readonly { readonly trace_id: Buffer; readonly packed: Buffer }[]> {
  return store.read(
    `SELECT w.trace_id, w.packed FROM unnest(${keysAt('$1')}, ${keysAt('$2', 'integer')}) AS wanted (id, messages_max)
      JOIN written_traces w ON w.trace_id = wanted.id AND w.messages <= wanted.messages_max AND w.form = ${keyAt('$3', 'integer')}`,
    [traceIds, messagesMax, form],
    { statement: 'written_traces_up_to' },
  );
}

/** Conditions on the end, and on the start of the page. `e` is the alias of the table that has the end. */
function conditionsOf(
  filter: TraceFilter,
  { order, after }: After & { readonly order: Order },
  reader: TimeReader,
): ReturnType<typeof createConditions> {
  const conditions = createConditions();
  addTimes(conditions, 'e.end_utime', filter, reader);
  conditions.when(filter.startLt, (at) => `e.end_lt >= ${at}`);
  conditions.when(filter.endLt, (at) => `e.end_lt <= ${at}`);
  addAfter(conditions, order, 'e', after);
  return conditions;
}

/** Order of traces (service/v3/README.md#order). */
export function traceOrder(
  { startUtime, endUtime }: Pick<TraceFilter, 'startUtime' | 'endUtime'>,
  { sort }: Pick<SortedPage, 'sort'>,
): Order {
  const end =
    startUtime === undefined && endUtime === undefined
      ? ({ column: 'end_lt', type: 'bigint', sort } as const)
      : ({ column: 'end_utime', type: 'utime', sort } as const);
  return [end, { column: 'trace_id', type: 'bytea', sort }];
}

/** Ids of the traces that the filter names in any way; undefined without names. */
async function idsOf(store: StoreReader, filter: TraceFilter): Promise<readonly Uint8Array[] | undefined> {
  const { traceIds, txHashes, msgHashes } = filter;
  if (txHashes.length > 0) return distinctIds(await readTransactionNames(store, txHashes));
  if (msgHashes.length > 0) return distinctIds(await readTransactionsOfMessages(store, msgHashes));
  return traceIds.length > 0 ? traceIds : undefined;
}

/** A transaction and its trace. */
export type TransactionName = { readonly hash: Uint8Array; readonly trace_id: Uint8Array };

/** The traces of transactions, each once. */
export function distinctIds(names: readonly TransactionName[]): readonly Uint8Array[] {
  return distinctKeys(names.map((name) => name.trace_id));
}

/** Indexed transactions among the given ones. Uses the index on hash. */
export function readTransactionNames(
  store: StoreReader,
  hashes: readonly Uint8Array[],
): Promise<readonly TransactionName[]> {
  return store.read(`SELECT hash, trace_id FROM transactions WHERE hash = ${anyKeyAt('$1')}`, [hashes], {
    statement: 'transaction_names',
  });
}

/**
 * Transactions that received messages, and their senders: the last transaction of the source before the message. Uses the indexes of
 * messages on both hashes. Uses the indexes of transactions on the inbound message's hash and on account and lt.
 * @param hashes raw or normalised
 */
export function readTransactionsOfMessages(
  store: StoreReader,
  hashes: readonly Uint8Array[],
): Promise<readonly TransactionName[]> {
  return store.read(
    `WITH named AS MATERIALIZED (
        SELECT hash, source, created_lt FROM messages WHERE hash = ${anyKeyAt('$1')}
        UNION SELECT hash, source, created_lt FROM messages WHERE hash_norm = ${anyKeyAt('$1')})
      SELECT hash, trace_id FROM transactions WHERE in_msg_hash = ANY(ARRAY(SELECT hash FROM named))
      UNION SELECT s.hash, s.trace_id FROM named m CROSS JOIN LATERAL (
        SELECT t.hash, t.trace_id FROM transactions t
        WHERE t.account = m.source AND t.lt < m.created_lt AND t.lt >= m.created_lt - ${MESSAGES_OF_TRANSACTION_MAX}
        ORDER BY t.lt DESC LIMIT 1) s`,
    [hashes],
    { statement: 'transactions_of_messages' },
  );
}
