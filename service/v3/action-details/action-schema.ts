import type { TypeWords } from '#service/actions/engine/action-type.ts';
import { list, named, object, optional, scalar, type JsonSchema, type Shape } from '#service/contract/shape.ts';
import type { ScalarKind } from '#service/actions/engine/detail-shapes.ts';
import { scalarKinds } from './action-fields.ts';
import { shapes, typeFields, type Field, type TypeFields } from './action-table.ts';
import { orNull } from '../request/scalars.ts';

/** Shape of an action with details by its type: the type's name selects the shape of details. */
export function withDetails<T>(action: Shape<T>): Shape<T> {
  const definitions = new Map(action.definitions);
  const cases: JsonSchema[] = [];
  const add = (type: string, details: JsonSchema): void => {
    cases.push(conditional({ type: { const: type } }, { properties: { details } }));
  };
  for (const [type, fields] of typeFields) {
    const { schema, definitions: own } = detailsOf(type, fields);
    for (const [name, definition] of own) definitions.set(name, definition);
    add(type, schema);
  }
  add(extraCurrencyTransfer, { anyOf: plainTransfers.map((type) => detailsOf(type, typeFields.get(type)!).schema) });
  return { schema: { ...action.schema, allOf: cases }, definitions };
}

/** A transfer or call with currencies besides TON has a separate type name. */
export const extraCurrencyTransfer = 'extra_currency_transfer';

/** Its title and sentence for people. */
export const extraCurrencyTransferWords: TypeWords = [
  'Currency transfer',
  '{@source} sends [{%value_extra_currencies} ][{%extra_currencies} ]to {@destination}[ with {$value}][: {"comment}]',
];

/** Types that such an action can have. */
export const plainTransfers = ['ton_transfer', 'call_contract'] as const;

function detailsOf(type: string, { fields, variant }: TypeFields): Shape<unknown> {
  const usual = named(detailsName(type), shapeOf(fields));
  if (variant === undefined) return usual;
  const { condition } = variant;
  const path = condition.path.join('.');
  const tested = fields.find(({ sources }) =>
    sources.some(({ from }) => from !== undefined && 'path' in from && from.path.join('.') === path),
  );
  const special = named(
    detailsName(`${type}_of_${condition.values.join('_')}`),
    shapeOf([...fields, ...variant.fields]),
  );
  return {
    schema: conditional({ [tested!.name]: anyOfTexts(condition.values) }, special.schema, usual.schema),
    definitions: new Map([...usual.definitions, ...special.definitions]),
  };
}

function anyOfTexts(values: readonly string[]): JsonSchema {
  return values.length === 1 ? { const: values[0] } : { enum: values };
}

/** Schema for objects that match the given fields, and schema for other objects. */
function conditional(
  fields: Readonly<Record<string, JsonSchema>>,
  schema: JsonSchema,
  otherwise?: JsonSchema,
): JsonSchema {
  const parts = [{ properties: fields, required: Object.keys(fields) }, schema, otherwise];
  return Object.fromEntries(
    conditionWords.map((word, at) => [word, parts[at]] as const).filter(([, part]) => part !== undefined),
  );
}

const conditionWords = ['if', 'then', 'else'] as const;

function shapeOf(fields: readonly Field[]): Shape<unknown> {
  return object(Object.fromEntries(fields.map((field) => [field.name, fieldShape(field)])));
}

function fieldShape({ kind, isList, absent }: Field): Shape<unknown> {
  const inner = shapes.get(kind);
  const value = inner === undefined ? scalarKinds[kind as ScalarKind].shape : named(detailsName(kind), shapeOf(inner));
  if (isList) return list(value);
  if (absent === 'omitted') return optional(value);
  return absent === 'never' || neverNull.has(kind) ? value : orNull(value);
}

/** Kinds that are empty instead of null. */
const neverNull: ReadonlySet<string> = new Set(['currencies']);

/** `nft_put_on_sale` -> `DetailsNftPutOnSale`. */
function detailsName(type: string): string {
  return `Details${type.replaceAll(/(?:^|_)([a-z0-9])/g, (_found, letter: string) => letter.toUpperCase())}`;
}

/** Shape of details of types without a form of their own. */
export const plainDetails: Shape<Readonly<Record<string, unknown>>> = scalar({ type: 'object' });
