import type { Columns, Table } from '../columns.ts';
import { columnsOf, type Direction } from './conditions.ts';
import type { Order } from './order.ts';

// Contracts in the order in which their rows were first made: the order of their tables' `id`.

/** A row with its position in its table. */
export type Placed<R> = R & { readonly id: bigint };

/** The order of first sight. */
export const seenOrder = (sort: Direction): Order => [{ column: 'id', type: 'bigint', sort }];

/** Tokens requested by address are in order of address, others in order of first sight. */
export function tokensOrder(addresses: readonly unknown[]): Order {
  return addresses.length > 0 ? [{ column: 'address', type: 'bytea', sort: 'asc' }] : seenOrder('asc');
}

/**
 * A table with its `id` as an expression without an index. Otherwise a planner walks the whole index on `id` and hopes to meet the few rows
 * of a filter soon.
 */
export function withId<C extends Columns>(table: Table<C>, alias: string): string {
  return `(SELECT ${columnsOf(table, 't')}, t.id + 0 AS id FROM ${table.name} t) ${alias}`;
}
