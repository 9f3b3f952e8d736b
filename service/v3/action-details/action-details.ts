import type { StoredColumns } from '#service/actions/engine/stored-columns.ts';
import { derived, type ActionNetwork } from './action-derived.ts';
import type { ScalarKind } from '#service/actions/engine/detail-shapes.ts';
import { scalarKinds } from './action-fields.ts';
import { holds, shapes, typeFields, valueAt, type Field } from './action-table.ts';

/** Details of an action as rendered: an object by type (service/v3/README.md#details-of-actions). */
export type Details = Readonly<Record<string, unknown>>;

/**
 * Details of an action.
 * @param columns result of `columnsJson`
 * @returns undefined for types without a form of their own
 */
export function viewDetails(type: string, columns: StoredColumns, network: ActionNetwork): Details | undefined {
  const known = typeFields.get(type);
  if (known === undefined) return undefined;
  const { data, ...own } = columns;
  const scope: StoredColumns = { ...own, ...(data as StoredColumns | undefined) };
  const { fields, variant } = known;
  const all = variant !== undefined && holds(variant.condition, scope) ? [...fields, ...variant.fields] : fields;
  return viewFields(all, scope, network);
}

function viewFields(fields: readonly Field[], scope: StoredColumns, network: ActionNetwork): Details {
  const shown: Record<string, unknown> = {};
  for (const field of fields) {
    const value = viewValue(field, readSource(field, scope, network), network);
    if (value !== null || field.absent !== 'omitted') shown[field.name] = value;
  }
  return shown;
}

/** Value of the first source whose condition applies, with or without a value. */
function readSource({ sources }: Field, scope: StoredColumns, network: ActionNetwork): unknown {
  const from = sources.find(({ condition }) => holds(condition, scope))?.from;
  if (from === undefined) return undefined;
  return 'path' in from ? valueAt(scope, from.path) : derived[from.derived]!(scope, network);
}

function viewValue({ kind, isList, absent }: Field, value: unknown, network: ActionNetwork): unknown {
  const shape = shapes.get(kind);
  if (isList) {
    const items = Array.isArray(value) ? (value as readonly StoredColumns[]) : [];
    return items.map((item) => viewFields(shape!, item ?? {}, network));
  }
  const isAbsent = value === undefined || value === null;
  if (shape !== undefined) {
    return isAbsent && absent !== 'never' ? null : viewFields(shape, (value ?? {}) as StoredColumns, network);
  }
  if (isAbsent) return emptyOf[kind] ?? null;
  return scalarKinds[kind as ScalarKind].view(value);
}

/** `columnsJson` omits empty values; answers contain them. */
const emptyOf: Readonly<Record<string, unknown>> = { currencies: {}, addresses: [] };
