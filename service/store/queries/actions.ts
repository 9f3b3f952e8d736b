import { actions, type ActionRow } from '../classification-tables.ts';
import { hashKey } from '../hash-key.ts';
import { columnsOf, createConditions, firstOfEach, pageOf, type Conditions } from './conditions.ts';
import { addAfter, orderBy, orderFor, type After, type Order } from './order.ts';
import type { StoreReader } from './reader.ts';
import { addTimes, type TimeReader } from './times.ts';
import {
  distinctIds,
  readTransactionNames,
  readTransactionsOfMessages,
  type TraceFilter,
  type TransactionName,
} from './traces.ts';
import {
  MESSAGES_OF_TRANSACTION_MAX,
  transactionColumns,
  withVersion,
  type FoundTransaction,
  type SortedPage,
} from './transactions.ts';

/**
 * Filter of actions; all conditions apply. Conditions on traces apply to the action and to the end of its trace. Empty lists are no
 * conditions.
 */
export type ActionFilter = TraceFilter & {
  readonly actionIds: readonly Uint8Array[];
  /** Types to return; empty: all supported types. */
  readonly types: readonly string[];
  readonly excludedTypes: readonly string[];
  /** Types that the caller knows: parts of such an action are omitted. Undefined for all actions and their parts. */
  readonly supported: readonly string[] | undefined;
};

const shown = columnsOf(actions, 'a');

/** Actions by the end of their trace: a time if the filter has a time window, else an lt (service/v3/README.md#order). */
export function actionOrder(
  { startUtime, endUtime }: Pick<ActionFilter, 'startUtime' | 'endUtime'>,
  { sort }: Pick<SortedPage, 'sort'>,
): Order {
  const byLt = startUtime === undefined && endUtime === undefined;
  const key = (name: 'trace_end' | 'end') =>
    byLt
      ? ({ column: `${name}_lt`, type: 'bigint', sort } as const)
      : ({ column: `${name}_utime`, type: 'utime', sort } as const);
  return [
    key('trace_end'),
    { column: 'trace_id', type: 'bytea', sort },
    key('end'),
    { column: 'action_id', type: 'bytea', sort },
  ];
}

/**
 * Actions in the order of `actionOrder`. Uses an index per filter:
 *
 * - the primary key of `actions` for names of traces, the index on id, the index on the masterchain block
 * - the indexes of `action_accounts` on account and end, with and without type
 * - the index on type, the indexes on the end
 */
export async function findActions(
  store: StoreReader,
  filter: ActionFilter,
  page: SortedPage & After,
): Promise<readonly ActionRow[]> {
  const { account, actionIds, mcSeqno } = filter;
  const named = await readNamed(store, filter);
  if (named?.traceIds.length === 0) return [];
  const isFew = named !== undefined || actionIds.length > 0 || mcSeqno !== undefined;
  if (account !== undefined && !isFew) return findOfAccount(store, { ...filter, account }, page);
  const conditions = createConditions();
  addTypes(conditions, filter);
  const keys = orderFor(actionOrder(filter, page), store);
  addPlace(conditions, filter, { alias: 'a', order: keys, after: page.after }, store);
  conditions.when(named?.traceIds, (at) => `a.trace_id = ANY(${at}::bytea[])`);
  for (const hashes of named?.transactions ?? []) conditions.when(hashes, (at) => `a.tx_hashes && ${at}::bytea[]`);
  if (actionIds.length > 0) conditions.when(actionIds, (at) => `a.action_id = ANY(${at}::bytea[])`);
  conditions.when(mcSeqno, (at) => `a.trace_mc_seqno_end = ${at}`);
  conditions.when(account, (at) => `${at}::bytea = ANY(a.accounts)`);
  const order = orderBy(keys, 'a');
  return store.read(`SELECT ${shown} FROM actions a ${conditions.where()} ${order} ${pageOf(page)}`, conditions.values);
}

/** Types whose lists are read side by side, each for a whole page. */
const LISTS_MAX = 8;

/** Type of rows from releases before `action_accounts` had types. */
const typeUnsaid = '';

const ofEntry = 'a.trace_id = e.trace_id AND a.action_id = e.action_id';

/**
 * Cuts the page from the account's own list, or from the lists of its types. The lists are in the order of the answer. They have the
 * columns that decide which callers see an action. Only actions of the page are looked up, one at a time, so that the planner cannot read
 * all at once. Actions of older entries without these columns are looked up too.
 */
function findOfAccount(
  store: StoreReader,
  filter: ActionFilter & { readonly account: Uint8Array },
  page: SortedPage & After,
): Promise<readonly ActionRow[]> {
  const { account, types } = filter;
  const conditions = createConditions();
  const order = orderFor(actionOrder(filter, page), store);
  addPlace(conditions, filter, { alias: 'e', order, after: page.after }, store);
  conditions.when(account, (at) => `e.account = ${at}`);
  const typesOf = typeConditions(conditions, filter);
  const [said, ofAction] = [typesOf('e').join(' AND '), typesOf('a').join(' AND ')];
  if (said !== '') {
    const lookedUp = `coalesce((SELECT ${ofAction} FROM actions a WHERE ${ofEntry} LIMIT 1), false)`;
    conditions.and(`CASE WHEN e.ancestor_types IS NULL THEN ${lookedUp} ELSE ${said} END`);
  }
  const columns = ['trace_id', 'action_id', ...order.map(({ column }) => column)];
  const entry = [...new Set(columns)].map((column) => `e.${column}`).join(', ');
  const isByType = types.length > 0 && types.length <= LISTS_MAX;
  const list = isByType
    ? firstOfEach(
        { select: entry, from: 'action_accounts e', key: 'e.type', keyType: 'text' },
        conditions.place([...new Set([...types, typeUnsaid])]),
        conditions,
        orderBy(order, 'e'),
        page,
      )
    : `SELECT ${entry} FROM action_accounts e ${conditions.where()}`;
  const entries = `${list} ${orderBy(order, isByType ? 'of_key' : 'e')} ${pageOf(page)}`;
  const one = `SELECT ${shown} FROM actions a WHERE ${ofEntry} LIMIT 1`;
  return store.read(
    `SELECT found.* FROM (${entries}) e CROSS JOIN LATERAL (${one}) found ${orderBy(order, 'e')}`,
    conditions.values,
  );
}

/** Actions of traces that are visible to a caller with these types (service/v3/README.md#order). Uses the primary key. */
export function findActionsOfTraces(
  store: StoreReader,
  traceIds: readonly Uint8Array[],
  supported: readonly string[],
): Promise<readonly ActionRow[]> {
  const conditions = createConditions();
  conditions.when(traceIds, (at) => `a.trace_id = ANY(${at}::bytea[])`);
  addTypes(conditions, { types: [], excludedTypes: [], supported });
  return store.read(
    `SELECT ${shown} FROM actions a ${conditions.where()} ORDER BY a.trace_id, a.start_lt, a.end_lt, a.action_id`,
    conditions.values,
  );
}

/** All transactions of some actions, by lt and account. Uses the index on hash, in the partitions of their lts. */
export function findTransactionsOfActions(
  store: StoreReader,
  rows: readonly Pick<ActionRow, 'tx_hashes' | 'start_lt' | 'end_lt'>[],
): Promise<readonly FoundTransaction[]> {
  const [first] = rows;
  if (first === undefined) return Promise.resolve([]);
  const from = rows.reduce((least, { start_lt: lt }) => (lt < least ? lt : least), first.start_lt);
  const to = rows.reduce((most, { end_lt: lt }) => (lt > most ? lt : most), first.end_lt);
  const hashes = [...new Map(rows.flatMap((row) => row.tx_hashes.map((hash) => [hashKey(hash), hash]))).values()];
  // An action starts with a message; the transaction that sent the message came just before.
  const inner = `SELECT ${transactionColumns} FROM transactions t
    WHERE t.hash = ANY($1::bytea[]) AND t.lt >= $2 AND t.lt <= $3`;
  return store.read(withVersion(inner, 'ORDER BY t.lt, t.account'), [hashes, from - MESSAGES_OF_TRANSACTION_MAX, to]);
}

/** Traces of a filter's transactions, messages and traces, and sets of transactions. Each action must have a transaction of each set. */
type Named = { readonly traceIds: readonly Uint8Array[]; readonly transactions: readonly (readonly Uint8Array[])[] };

/** Undefined when the filter has no such condition. */
async function readNamed(store: StoreReader, filter: ActionFilter): Promise<Named | undefined> {
  const { txHashes, msgHashes, traceIds } = filter;
  const found: (readonly TransactionName[])[] = await Promise.all([
    ...(txHashes.length > 0 ? [readTransactionNames(store, txHashes)] : []),
    ...(msgHashes.length > 0 ? [readTransactionsOfMessages(store, msgHashes)] : []),
  ]);
  const lists = [...(traceIds.length > 0 ? [traceIds] : []), ...found.map(distinctIds)];
  if (lists.length === 0) return undefined;
  return { traceIds: inAll(lists), transactions: found.map((names) => names.map(({ hash }) => hash)) };
}

/** Elements that are in every list. */
function inAll([first = [], ...others]: readonly (readonly Uint8Array[])[]): readonly Uint8Array[] {
  const sets = others.map((list) => new Set(list.map(hashKey)));
  return first.filter((one) => sets.every((set) => set.has(hashKey(one))));
}

type TypeFilter = Pick<ActionFilter, 'types' | 'excludedTypes' | 'supported'>;

function addTypes(conditions: Conditions, filter: TypeFilter): void {
  for (const condition of typeConditions(conditions, filter)('a')) conditions.and(condition);
}

/** Returns conditions on types for a table alias: values are placed once. */
function typeConditions(
  conditions: Conditions,
  { types, excludedTypes, supported }: TypeFilter,
): (alias: string) => readonly string[] {
  const wanted = types.length > 0 ? types : supported;
  // A single type has its own list, in the order of the trace's end.
  const isOne = types.length === 1;
  const wantedAt = wanted && conditions.place(isOne ? types[0] : wanted);
  const excludedAt = excludedTypes.length > 0 ? conditions.place(excludedTypes) : undefined;
  const supportedAt = supported && (wanted === supported ? wantedAt : conditions.place(supported));
  return (alias) => [
    ...(wantedAt === undefined ? [] : [`${alias}.type = ${isOne ? wantedAt : `ANY(${wantedAt}::text[])`}`]),
    ...(excludedAt === undefined ? [] : [`${alias}.type <> ALL(${excludedAt}::text[])`]),
    // Comparisons with empty lists took a quarter of the time of a look-up.
    ...(supportedAt === undefined
      ? []
      : [`(${alias}.ancestor_types = '{}' OR NOT ${alias}.ancestor_types && ${supportedAt}::text[])`]),
  ];
}

/** Position of a page in a list, and the alias of the table that the page is cut from. */
type ListPlace = After & { readonly alias: string; readonly order: Order };

function addPlace(conditions: Conditions, filter: ActionFilter, place: ListPlace, reader: TimeReader): void {
  const { alias, order, after } = place;
  addTimes(conditions, `${alias}.trace_end_utime`, filter, reader);
  conditions.when(filter.startLt, (at) => `${alias}.trace_end_lt >= ${at}`);
  conditions.when(filter.endLt, (at) => `${alias}.trace_end_lt <= ${at}`);
  addAfter(conditions, order, alias, after);
}
