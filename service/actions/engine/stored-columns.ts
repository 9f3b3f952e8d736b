import { accountColumns, type ActionColumns, type DataValue } from './columns.ts';
import type { Action } from './action-rows.ts';

/** JSON of `actions.columns`: the columns of an action. */
export type StoredColumns = Readonly<Record<string, unknown>>;

const names = [...accountColumns, 'opcode', 'value', 'amount'] as const satisfies readonly (keyof ActionColumns)[];

/**
 * Columns of an action as stored and rendered, under the names of `ActionColumns`. Bigints are decimal text.
 * Null values are absent, within groups too. Empty extra currencies and groups are absent too.
 */
export function columnsJson(action: Action): StoredColumns {
  const columns: Record<string, unknown> = {};
  for (const name of names) {
    const value = action[name];
    if (value !== null) columns[name] = jsonOf(value);
  }
  const { extraCurrencies, data } = action;
  if (Object.keys(extraCurrencies).length > 0) columns['extraCurrencies'] = extraCurrencies;
  if (Object.keys(data).length > 0) columns['data'] = jsonOf(data);
  return columns;
}

function jsonOf(value: DataValue): unknown {
  if (typeof value === 'bigint') return value.toString();
  if (typeof value === 'string') return storable(value);
  if (typeof value !== 'object' || value === null) return value;
  if (isList(value)) return value.map(jsonOf);
  const json: Record<string, unknown> = {};
  for (const [name, one] of Object.entries(value)) if (one !== null) json[name] = jsonOf(one);
  return json;
}

/** Postgres keeps neither the character zero nor halves of a pair in JSON: texts of the chain may hold both. */
function storable(text: string): string {
  return (text.includes('\0') ? text.replaceAll('\0', '') : text).toWellFormed();
}

function isList(value: object): value is readonly DataValue[] {
  return Array.isArray(value);
}
