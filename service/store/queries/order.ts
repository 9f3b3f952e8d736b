import type { Conditions, Direction } from './conditions.ts';
import { unsignedTime, type TimeReader } from './times.ts';

/** A column of a list's order. Null is greater than every value, as in Postgres. */
export type OrderKey = {
  readonly column: string;
  /** Postgres type; `utime`: an integer, the signed view of Unix seconds. */
  readonly type: 'bigint' | 'integer' | 'utime' | 'bytea' | 'numeric' | 'text';
  readonly sort: Direction;
  readonly nullable?: boolean;
  /** Compared as unsigned; of a `utime`. */
  readonly isUnsigned?: boolean;
};

/** Order of a list: no two rows have the same values, so that a row's values are its position. */
export type Order = readonly OrderKey[];

/** A row's values of an order's columns. */
export type Position = readonly PositionValue[];
export type PositionValue = bigint | number | string | Uint8Array | null;

/** A list begins behind the row at this place; undefined begins with the first. */
export type After = { readonly after?: Position | undefined };

/** The order for the queries of a reader (`StoreReader.passes2038`). */
export function orderFor(order: Order, { passes2038 = false }: TimeReader): Order {
  if (!passes2038) return order;
  return order.map((key) => (key.type === 'utime' ? { ...key, isUnsigned: true } : key));
}

/** `ORDER BY` of an order. @param alias of the table that has the columns */
export function orderBy(order: Order, alias: string): string {
  return `ORDER BY ${order.map((key) => `${sortedBy(key, alias)} ${key.sort}`).join(', ')}`;
}

/** SQL of the values that an order compares. @param alias of the table that has the columns */
export function sortedBy({ column, isUnsigned }: OrderKey, alias: string): string {
  return isUnsigned === true ? unsignedTime(`${alias}.${column}`) : `${alias}.${column}`;
}

/** Position of a row with all columns of an order. */
export function positionOf(order: Order, row: object): Position {
  return order.map(({ column }) => (row as Readonly<Record<string, PositionValue>>)[column] ?? null);
}

/**
 * Restricts to rows after a position, in a form that an index on the order's columns bounds. No condition without a position.
 *
 * @param alias of the table that has the columns
 * @param elsewhere expressions of columns that the table does not have
 */
export function addAfter(
  conditions: Conditions,
  order: Order,
  alias: string,
  after: Position | undefined,
  elsewhere: Readonly<Record<string, string>> = {},
): void {
  if (after === undefined) return;
  const keys = order.map((key, index) => {
    const value = after[index] ?? null;
    const name = elsewhere[key.column] ?? sortedBy(key, alias);
    return { ...key, name, at: value === null ? 'NULL' : placed(key, conditions.place(value)), isNull: value === null };
  });
  if (keys.every(({ nullable, sort }) => nullable !== true && sort === keys[0]?.sort)) {
    const names = keys.map(({ name }) => name).join(', ');
    conditions.and(`(${names}) ${beyond[keys[0]!.sort]} (${keys.map(({ at }) => at).join(', ')})`);
    return;
  }
  const parts = keys.map((key, index) => {
    const same = keys.slice(0, index).map(({ name, at, isNull }) => (isNull ? `${name} IS NULL` : `${name} = ${at}`));
    return `(${[...same, behind(key)].join(' AND ')})`;
  });
  conditions.and(`(${parts.join(' OR ')})`);
  // Redundant, but an index scan can begin at this condition.
  const [first] = keys;
  if (first?.nullable !== true) conditions.and(`${first!.name} ${beyond[first!.sort]}= ${first!.at}`);
  else if (first.sort === 'desc' && !first.isNull) conditions.and(`${first.name} <= ${first.at}`);
}

/** SQL of a value of a key. @param at its placeholder */
function placed({ type, isUnsigned }: OrderKey, at: string): string {
  const value = `${at}::${type === 'utime' ? 'integer' : type}`;
  return isUnsigned === true ? unsignedTime(value) : value;
}

const beyond = { asc: '>', desc: '<' } as const;

type PlacedKey = Pick<OrderKey, 'sort' | 'nullable'> & {
  readonly name: string;
  readonly at: string;
  readonly isNull: boolean;
};

/** SQL condition: values of a column that sort after the given value. */
function behind({ name, at, sort, nullable, isNull }: PlacedKey): string {
  if (isNull) return sort === 'desc' ? `${name} IS NOT NULL` : 'false';
  const greater = `${name} ${beyond[sort]} ${at}`;
  return nullable === true && sort === 'asc' ? `(${greater} OR ${name} IS NULL)` : greater;
}
