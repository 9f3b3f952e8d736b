import type { Table } from '../columns.ts';

/** @param further lines beside the columns, as of those that Postgres fills */
export function createTable({ name, key, columns }: Table, further: readonly string[] = []): string {
  const lines = Object.entries(columns).map(
    ([column, { sql, nullable }]) => `  ${column} ${sql}${nullable ? '' : ' NOT NULL'}`,
  );
  const all = [...lines, ...further.map((line) => `  ${line}`), `  PRIMARY KEY (${key.join(', ')})`];
  return `CREATE TABLE ${name} (\n${all.join(',\n')}\n)`;
}
