import type { StoredColumns } from '#service/actions/engine/stored-columns.ts';
import type { ActionType } from '#service/actions/engine/action-type.ts';
import { detailShapes } from '#service/actions/engine/detail-shapes.ts';
import { actionTypes } from '#service/actions/families.ts';

// Fields of `details` (service/v3/README.md#details-of-actions), read from the types of actions.

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

/** Objects within details, by name. */
export const shapes: ReadonlyMap<string, readonly Field[]> = new Map(
  Object.entries(detailShapes).map(([name, fields]) => [name, readFields(fields)]),
);

/** Fields of the types with details, by name of the type. */
export const typeFields: ReadonlyMap<string, TypeFields> = new Map(
  [...actionTypes]
    .toSorted(byName)
    .flatMap(([name, type]) => (type.details === null ? [] : [[name, fieldsOf(type, type.details)]])),
);

/** The value at a path; undefined without a value. */
export function valueAt(scope: StoredColumns, path: readonly string[]): unknown {
  let value: unknown = scope;
  for (const name of path) {
    if (typeof value !== 'object' || value === null) return undefined;
    value = (value as StoredColumns)[name];
  }
  return value;
}

/** Reports whether a field is shown: the text at the path of its condition is in the list. A field without a condition is always shown. */
export function holds(condition: Condition | undefined, scope: StoredColumns): boolean {
  if (condition === undefined) return true;
  const value = valueAt(scope, condition.path);
  return typeof value === 'string' && condition.values.includes(value);
}

function byName([one]: readonly [string, unknown], [other]: readonly [string, unknown]): number {
  return one < other ? -1 : 1;
}

function fieldsOf({ variant }: ActionType, details: NonNullable<ActionType['details']>): TypeFields {
  return {
    fields: readFields(details),
    variant: variant && { condition: readCondition(variant.condition), fields: readFields(variant.fields) },
  };
}

function readFields(written: Readonly<Record<string, string>>): readonly Field[] {
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
