import type { Columns, Table } from '../columns.ts';
import { hashKey } from '../hash-key.ts';

/** The values of one query and what they must satisfy, all of it. */
export type Conditions = {
  readonly values: readonly unknown[];
  /** Takes a value; returns its place, `$1` and on. */
  place(value: unknown): string;
  /** Adds a condition on a value unless that is undefined. @param condition is given the value's place */
  when(value: unknown, condition: (place: string) => string): void;
  /** Adds a condition. */
  and(condition: string): void;
  /** `WHERE` and all conditions, and more that only this place has; empty without one. */
  where(...more: readonly string[]): string;
};

/** @param within of the same query: values are placed after those of its other conditions */
export function createConditions(within?: Conditions): Conditions {
  const own: unknown[] = [];
  const conditions: string[] = [];
  const place = (value: unknown): string => within?.place(value) ?? `$${own.push(value)}`;
  return {
    values: within?.values ?? own,
    place,
    when(value, condition) {
      if (value !== undefined) conditions.push(condition(place(value)));
    },
    and: (condition) => void conditions.push(condition),
    where: (...more) => {
      const all = [...conditions, ...more];
      return all.length === 0 ? '' : `WHERE ${all.join(' AND ')}`;
    },
  };
}

/** Which part of a list, in which order. */
export type Page = { readonly limit: number; readonly offset: number };
export type Direction = 'asc' | 'desc';

/** `LIMIT` and `OFFSET` of a page; no page has more rows than Postgres counts. */
export function pageOf({ limit, offset }: Page): string {
  return `LIMIT ${Math.trunc(limit)} OFFSET ${Math.trunc(offset)}`;
}

/**
 * What a named statement asks by, kept from the planner. Else its plan for a rare key, or for a single one, seems so much cheaper than one for any that
 * Postgres plans anew each time, which takes ten times as long as the look-up where a table has the partitions of some years.
 */
export function keyAt(place: string, type = 'bytea'): string {
  return `(SELECT ${place}::${type})`;
}

/** As `keyAt`, an array of keys. */
export function keysAt(place: string, type: 'bytea' | 'bigint' | 'boolean' = 'bytea'): string {
  return keyAt(place, `${type}[]`);
}

/** For `=`: one of such keys. */
export function anyKeyAt(place: string): string {
  return `ANY(${keysAt(place)}::bytea[])`;
}

/** As `pageOf` and `keyAt`: only for lists that are read in their order whatever part of them is wanted. */
export function pageAt(conditions: Conditions, { limit, offset }: Page): string {
  const [limitAt, offsetAt] = [limit, offset].map((value) => keyAt(conditions.place(Math.trunc(value)), 'bigint'));
  return `LIMIT ${limitAt} OFFSET ${offsetAt}`;
}

/** The columns of a table, of one alias. */
export function columnsOf<C extends Columns>({ columns }: Table<C>, alias: string): string {
  return Object.keys(columns)
    .map((name) => `${alias}.${name}`)
    .join(', ');
}

/** Rows of one table, each of some keys having a list of its own. */
export type KeyedList = {
  /** Columns, and the table with its alias. */
  readonly select: string;
  readonly from: string;
  /** Column, or expression, that the key is. */
  readonly key: string;
  /** Postgres type of the keys; `bytea` without it. */
  readonly keyType?: 'bytea' | 'text';
  /** Conditions that only this list has. */
  readonly also?: string;
};

/** The first rows of the list of each key: none is read further than the page goes. @param at place of the keys, an array */
export function firstOfEach(
  { select, from, key, keyType = 'bytea', also }: KeyedList,
  at: string,
  conditions: Conditions,
  order: string,
  { limit, offset }: Page,
): string {
  const where = conditions.where(`${key} = a.key`, ...(also === undefined ? [] : [also]));
  const each = pageOf({ limit: limit + offset, offset: 0 });
  const rows = `SELECT ${select} FROM ${from} ${where} ${order} ${each}`;
  return `SELECT of_key.* FROM unnest(${at}::${keyType}[]) a(key) CROSS JOIN LATERAL (${rows}) of_key`;
}

/** Each of the keys once. */
export function distinctKeys(keys: readonly Uint8Array[]): readonly Uint8Array[] {
  return [...new Map(keys.map((key) => [hashKey(key), key])).values()];
}
