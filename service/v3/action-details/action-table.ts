import type { StoredColumns } from '#service/actions/engine/stored-columns.ts';
import table from './action-details.json' with { type: 'json' };

/*
 * Fields of `details` by action type (service/v3/README.md#details-of-actions), as data. Each type lists its fields in order, each as `<kind> <source>`.
 *
 * - kind: a scalar of action-fields.ts, or the name of a shape. A shape is an object whose fields are read from the source.
 *   `[]` makes a list of such objects, `?` omits the field without a value, `!` marks it as never null.
 * - source: a column of `columnsJson`, a path through its groups, or `@` and a name of action-derived.ts. `-` is a value that is always unknown.
 *   `<source> if <path>=<value>|<value>` applies to such actions only. Several sources have commas between; the first that applies is used.
 * - type: `<type> if <path>=<value>` has the additional fields of such actions. A text in place of fields names a type with the same fields.
 */

/** Condition of a source: the text at a path is one of the values. */
type Condition = { readonly path: readonly string[]; readonly values: readonly string[] };

/** Source of a field's value. */
export type Source = {
  readonly from: { readonly path: readonly string[] } | { readonly derived: string } | undefined;
  readonly condition: Condition | undefined;
};

/** A field of details. */
export type Field = {
  readonly name: string;
  /** A scalar, or a shape. */
  readonly kind: string;
  readonly isList: boolean;
  /** Form of a missing value. */
  readonly absent: 'null' | 'omitted' | 'never';
  readonly sources: readonly Source[];
};

/** Fields that only some actions of a type have. */
export type Variant = { readonly condition: Condition; readonly fields: readonly Field[] };

export type TypeFields = { readonly fields: readonly Field[]; readonly variant: Variant | undefined };

/** Fields as the table writes them. */
type Written = Readonly<Record<string, string>>;

/** Objects within details, by name. */
export const shapes: ReadonlyMap<string, readonly Field[]> = new Map(
  Object.entries(table.shapes as Readonly<Record<string, Written>>).map(([name, written]) => [
    name,
    readFields(written),
  ]),
);

/** Types of actions with known details. */
export const typeFields: ReadonlyMap<string, TypeFields> = readTypes(table.types);

/** The value at a path; undefined without a value. */
export function valueAt(scope: StoredColumns, path: readonly string[]): unknown {
  let value: unknown = scope;
  for (const name of path) {
    if (typeof value !== 'object' || value === null) return undefined;
    value = (value as StoredColumns)[name];
  }
  return value;
}

export function holds(condition: Condition | undefined, scope: StoredColumns): boolean {
  if (condition === undefined) return true;
  const value = valueAt(scope, condition.path);
  return typeof value === 'string' && condition.values.includes(value);
}

function readTypes(written: Readonly<Record<string, Written | string>>): ReadonlyMap<string, TypeFields> {
  const variants = new Map<string, Variant>();
  const types = new Map<string, TypeFields>();
  for (const [key, fields] of Object.entries(written)) {
    const [type = '', condition] = key.split(' if ');
    const own = typeof fields === 'string' ? types.get(fields)!.fields : readFields(fields);
    if (condition === undefined) types.set(type, { fields: own, variant: undefined });
    else variants.set(type, { condition: readCondition(condition), fields: own });
  }
  for (const [type, variant] of variants) types.set(type, { ...types.get(type)!, variant });
  return types;
}

function readFields(written: Written): readonly Field[] {
  return Object.entries(written).map(([name, text]) => {
    const [, kind = '', list, mark, sources = ''] = /^(\w+)(\[\])?([?!])? (.*)$/.exec(text) ?? [];
    const absent = mark === '?' ? 'omitted' : mark === '!' ? 'never' : 'null';
    return { name, kind, isList: list !== undefined, absent, sources: sources.split(', ').map(readSource) };
  });
}

function readSource(written: string): Source {
  const [from = '', condition] = written.split(' if ');
  return { from: readFrom(from), condition: condition === undefined ? undefined : readCondition(condition) };
}

function readFrom(text: string): Source['from'] {
  if (text === '-') return undefined;
  return text.startsWith('@') ? { derived: text.slice(1) } : { path: text.split('.') };
}

function readCondition(text: string): Condition {
  const [path = '', values = ''] = text.split('=');
  return { path: path.split('.'), values: values.split('|') };
}
