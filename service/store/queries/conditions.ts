import type { Columns, Table } from '../columns.ts';

/** The values of one query and what they must satisfy, all of it. */
export type Conditions = {
  readonly values: readonly unknown[];
  /** Takes a value; returns its place, `$1` and on. */
  place(value: unknown): string;
  /** Adds a condition on a value unless that is undefined. @param condition is given the value's place */
  when(value: unknown, condition: (place: string) => string): void;
  /** Adds a condition. */
  and(condition: string): void;
  /** `WHERE` and all conditions; empty without one. */
  where(): string;
};

export function createConditions(): Conditions {
  const values: unknown[] = [];
  const conditions: string[] = [];
  const place = (value: unknown): string => `$${values.push(value)}`;
  return {
    values,
    place,
    when(value, condition) {
      if (value !== undefined) conditions.push(condition(place(value)));
    },
    and: (condition) => void conditions.push(condition),
    where: () => (conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`),
  };
}

/** Which part of a list, in which order. */
export type Page = { readonly limit: number; readonly offset: number };
export type Direction = 'asc' | 'desc';

/** `LIMIT` and `OFFSET` of a page; no page has more rows than Postgres counts. */
export function pageOf({ limit, offset }: Page): string {
  return `LIMIT ${Math.trunc(limit)} OFFSET ${Math.trunc(offset)}`;
}

/** The columns of a table, of one alias. */
export function columnsOf<C extends Columns>({ columns }: Table<C>, alias: string): string {
  return Object.keys(columns)
    .map((name) => `${alias}.${name}`)
    .join(', ');
}
