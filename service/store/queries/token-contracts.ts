import type { Columns, Row, Table } from '../columns.ts';
import { columnsOf, createConditions, distinctKeys, firstOfEach, pageOf, type Page } from './conditions.ts';
import { tokensOrder, type Placed } from './first-seen.ts';
import { addAfter, orderBy, type After } from './order.ts';
import type { StoreReader } from './reader.ts';

/** Filter of contracts; all conditions apply. Empty lists are no conditions. Accounts are keys. */
export type ContractFilter = {
  readonly addresses: readonly Uint8Array[];
  /** Accounts that may change the contracts: any of these. */
  readonly owners: readonly Uint8Array[];
};

/**
 * Contracts of a table with owners. Contracts requested by address are ordered by address, others by first sight. Uses the primary key, or
 * the index on owner and id.
 */
export function findOwnedContracts<C extends Columns>(
  store: StoreReader,
  { table, owner }: { readonly table: Table<C>; readonly owner: keyof C & string },
  filter: ContractFilter,
  page: Page & After,
): Promise<readonly Placed<Row<Table<C>>>[]> {
  const conditions = createConditions();
  const owners = distinctKeys(filter.owners);
  const select = `${columnsOf(table, 't')}, t.id`;
  const columns = tokensOrder(filter.addresses);
  const order = orderBy(columns, 't');
  addAfter(conditions, columns, 't', page.after);
  if (filter.addresses.length > 0) {
    conditions.when(filter.addresses, (at) => `t.address = ANY(${at}::bytea[])`);
    if (owners.length > 0) conditions.when(owners, (at) => `t.${owner} = ANY(${at}::bytea[])`);
  } else if (owners.length > 1) {
    const list = { select, from: `${table.name} t`, key: `t.${owner}` };
    const each = firstOfEach(list, conditions.place(owners), conditions, order, page);
    return store.read(`SELECT * FROM (${each}) t ${order} ${pageOf(page)}`, conditions.values);
  } else {
    conditions.when(owners[0], (at) => `t.${owner} = ${at}`);
  }
  return store.read(
    `SELECT ${select} FROM ${table.name} t ${conditions.where()} ${order} ${pageOf(page)}`,
    conditions.values,
  );
}
