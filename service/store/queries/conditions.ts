import type { Columns, Table } from '../columns.ts';
import { hashKey } from '../hash-key.ts';

/** Values of a query and its conditions, all of which apply. */
export type Conditions = {
  readonly values: readonly unknown[];
  /** Adds a value; returns its placeholder, `$1` and on. */
  place(value: unknown): string;
  /** Adds a condition on a value unless the value is undefined. @param condition receives the placeholder of the value */
  when(value: unknown, condition: (place: string) => string): void;
  /** Adds a condition. */
  and(condition: string): void;
  /** `WHERE` with all conditions and the extra conditions `more`; empty without conditions. */
  where(...more: readonly string[]): string;
};

/** @param within conditions of the same query: values are placed after the values of its other conditions */
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

/** Part of a list. */
export type Page = { readonly limit: number; readonly offset: number };
export type Direction = 'asc' | 'desc';

/** `LIMIT` and `OFFSET` of a page; no page has more rows than Postgres counts. */
export function pageOf({ limit, offset }: Page): string {
  return `LIMIT ${Math.trunc(limit)} OFFSET ${Math.trunc(offset)}`;
}

/**
 * Hides a key of a named statement from the planner. Otherwise the plan for a rare or single key seems much cheaper than a generic plan.
 * Postgres then plans each call again. In a table with the partitions of some years, planning takes ten times as long as the look-up.
 */
export function keyAt(place: string, type = 'bytea'): string {
  return `(SELECT ${place}::${type})`;
}

/** Same as `keyAt`, for an array of keys. */
export function keysAt(place: string, type: 'bytea' | 'bigint' | 'integer' | 'boolean' = 'bytea'): string {
  return keyAt(place, `${type}[]`);
}

/** Right side of `=`: any of such keys. */
export function anyKeyAt(place: string): string {
  return `ANY(${keysAt(place)}::bytea[])`;
}

/** Same as `pageOf` with `keyAt`: only for lists that are read in their order for any part of them. */
export function pageAt(conditions: Conditions, { limit, offset }: Page): string {
  const [limitAt, offsetAt] = [limit, offset].map((value) => keyAt(conditions.place(Math.trunc(value)), 'bigint'));
  return `LIMIT ${limitAt} OFFSET ${offsetAt}`;
}

/**
 * `LIMIT` of the list of each of several keys: up to the end of the page. The planner takes each key for a usual one, and would sort its short list
 * whole. With a hidden bound the planner prefers to read a list in its order. So a busy key costs no more than the page.
 */
export function limitOfEach({ limit, offset }: Page): string {
  return `LIMIT ${keyAt(String(Math.trunc(limit + offset)), 'bigint')}`;
}

/** Columns of a table under an alias. */
export function columnsOf<C extends Columns>({ columns }: Table<C>, alias: string): string {
  return Object.keys(columns)
    .map((name) => `${alias}.${name}`)
    .join(', ');
}

/** Rows of a table: each key has its own list. */
export type KeyedList = {
  /** Columns, and the table with its alias. */
  readonly select: string;
  readonly from: string;
  /** Column or expression of the key. */
  readonly key: string;
  /** Postgres type of the keys; `bytea` without it. */
  readonly keyType?: 'bytea' | 'text';
  /** Further conditions of this list alone. */
  readonly also?: string;
};

/** The first rows of the list of each key: no list is read further than the page goes. @param at placeholder of the keys, an array */
export function firstOfEach(
  { select, from, key, keyType = 'bytea', also }: KeyedList,
  at: string,
  conditions: Conditions,
  order: string,
  page: Page,
): string {
  const where = conditions.where(`${key} = a.key`, ...(also === undefined ? [] : [also]));
  const rows = `SELECT ${select} FROM ${from} ${where} ${order} ${limitOfEach(page)}`;
  return `SELECT of_key.* FROM unnest(${at}::${keyType}[]) a(key) CROSS JOIN LATERAL (${rows}) of_key`;
}

/** Each of the keys once. */
export function distinctKeys(keys: readonly Uint8Array[]): readonly Uint8Array[] {
  return [...new Map(keys.map((key) => [hashKey(key), key])).values()];
}
