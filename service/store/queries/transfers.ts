import type { Columns, Row, Table } from '../columns.ts';
import {
  columnsOf,
  createConditions,
  distinctKeys,
  firstOfEach,
  keysAt,
  pageOf,
  type Conditions,
} from './conditions.ts';
import { everyLt, intersect, ltsOfTimes } from './lt-windows.ts';
import { addAfter, orderBy, orderFor, type After, type Order } from './order.ts';
import type { StoreReader } from './reader.ts';
import { addTimes } from './times.ts';
import type { SortedPage } from './transactions.ts';

/** Bounds on a transfer's transaction, inclusive at both ends. */
export type TransferWindow = {
  readonly startUtime?: number | undefined;
  readonly endUtime?: number | undefined;
  readonly startLt?: bigint | undefined;
  readonly endLt?: bigint | undefined;
};

/** Filter of a table of transfers; all conditions apply. Empty lists are no conditions. Accounts are keys. */
export type TransferList<C extends Columns> = {
  readonly table: Table<C>;
  /** Participants: any of the accounts in any of the columns. */
  readonly parties: { readonly columns: readonly (keyof C & string)[]; readonly keys: readonly Uint8Array[] };
  /** Contract of the transaction. */
  readonly contract: { readonly column: keyof C & string; readonly keys: readonly Uint8Array[] };
  /** The contract's own master or collection. */
  readonly family: { readonly column: keyof C & string; readonly key: Uint8Array | undefined };
  /** Conditions on the row `t` besides. */
  readonly only?: readonly string[];
};

/** A row with the trace of its transaction; null for a transaction outside of the index. */
export type FoundTransfer<C extends Columns> = Row<Table<C>> & { readonly trace_id: Buffer | null };

/** Transaction of a transfer. */
type TransferPlace = { readonly tx_hash: Uint8Array; readonly tx_lt: bigint };

const tracesOfTransfers = `SELECT t.trace_id FROM unnest(${keysAt('$1')}, ${keysAt('$2', 'bigint')}) WITH ORDINALITY AS w (hash, lt, place)
  LEFT JOIN transactions t ON t.hash = w.hash AND t.lt = w.lt ORDER BY w.place`;

/** Trace ids in the order of the rows. A separate query: a join with the transactions is planned over all of their partitions. */
function readTraceIds(
  store: StoreReader,
  rows: readonly TransferPlace[],
): Promise<readonly { readonly trace_id: Buffer | null }[]> {
  if (rows.length === 0) return Promise.resolve([]);
  const keys = [rows.map((row) => row.tx_hash), rows.map((row) => row.tx_lt)];
  return store.read(tracesOfTransfers, keys, { statement: 'traces_of_transfers' });
}

/**
 * Transfers by lt; with a window of time by time and then by lt; equals by transaction. Uses the indexes of each column on account and lt,
 * or on account and time. A contract's own transactions have the same order in time and in lt.
 */
export async function findTransfers<C extends Columns>(
  store: StoreReader,
  list: TransferList<C>,
  window: TransferWindow,
  page: SortedPage & After,
): Promise<readonly FoundTransfer<C>[]> {
  const columnsOfOrder = orderFor(transferOrder(window, page), store);
  const byLt = orderBy(transferOrder({}, page), 't');
  const order = orderBy(columnsOfOrder, 't');
  // Identity and order of rows, and no other columns: an index in that order is the only read.
  const placeColumns = columnsOfOrder.map(({ column }) => `t.${column}`).join(', ');
  const conditions = createConditions();
  addAfter(conditions, columnsOfOrder, 't', page.after);
  const [parties, contracts] = [distinctKeys(list.parties.keys), distinctKeys(list.contract.keys)];
  const isOfContracts = parties.length === 0 && contracts.length > 0;
  if (!(await addWindow(store, conditions, window, isOfContracts))) return [];
  conditions.when(list.family.key, (at) => `t.${list.family.column} = ${at}`);
  for (const condition of list.only ?? []) conditions.and(condition);
  const from = `${list.table.name} t`;
  let places: readonly string[];
  if (parties.length > 0) {
    if (contracts.length > 0) conditions.when(contracts, (at) => `t.${list.contract.column} = ANY(${at}::bytea[])`);
    const at = conditions.place(parties);
    places = list.parties.columns.map((column) =>
      firstOfEach({ select: placeColumns, from, key: `t.${column}` }, at, conditions, order, page),
    );
  } else if (isOfContracts) {
    const key = `t.${list.contract.column}`;
    places = [firstOfEach({ select: placeColumns, from, key }, conditions.place(contracts), conditions, byLt, page)];
  } else {
    places = [`SELECT ${placeColumns} FROM ${from} ${conditions.where()}`];
  }
  // A transfer found on both sides counts once.
  const cut = `SELECT ${placeColumns} FROM (${places.join(' UNION ')}) t ${order} ${pageOf(page)}`;
  const rows = await store.read<Row<Table<C>> & TransferPlace>(
    `SELECT ${columnsOf(list.table, 't')} FROM (${cut}) place
      JOIN ${from} ON t.tx_hash = place.tx_hash AND t.tx_lt = place.tx_lt ${order}`,
    conditions.values,
  );
  const traces = await readTraceIds(store, rows);
  return rows.map((row, at) => ({ ...row, ...traces[at]! }));
}

/** Order of transfers and burns (service/v3/README.md#order). */
export function transferOrder({ startUtime, endUtime }: TransferWindow, { sort }: Pick<SortedPage, 'sort'>): Order {
  const byLt = [
    { column: 'tx_lt', type: 'bigint', sort },
    { column: 'tx_hash', type: 'bytea', sort },
  ] as const;
  const byTime = (startUtime ?? endUtime) !== undefined;
  return byTime ? [{ column: 'tx_utime', type: 'utime', sort }, ...byLt] : byLt;
}

/** False if the window is empty. */
async function addWindow(
  store: StoreReader,
  conditions: Conditions,
  window: TransferWindow,
  isOfContracts: boolean,
): Promise<boolean> {
  const given = { from: window.startLt ?? everyLt.from, to: window.endLt ?? everyLt.to };
  // If the index is on lt, conditions on time become conditions on lt too.
  const { from, to } = isOfContracts ? intersect(given, await ltsOfTimes(store, window)) : given;
  if (from > to) return false;
  addTimes(conditions, 't.tx_utime', window, store);
  if (from > everyLt.from) conditions.when(from, (at) => `t.tx_lt >= ${at}`);
  if (to < everyLt.to) conditions.when(to, (at) => `t.tx_lt <= ${at}`);
  return true;
}

/** Columns of the participants. */
export function partyColumns<const A, const B>(
  from: A,
  to: B,
  direction: 'in' | 'out' | undefined,
): readonly (A | B)[] {
  if (direction === undefined) return [from, to];
  return direction === 'out' ? [from] : [to];
}
