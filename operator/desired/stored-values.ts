import type { TonApi } from '../resource.ts';
import { formats, shown, tonApiSchema, type FormatName } from '../service-config.ts';

/** Node of the schema of the TonApi, with the keywords that matter here. */
type SchemaNode = {
  readonly format?: string;
  readonly default?: unknown;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly items?: SchemaNode;
};

/** Field of the spec whose text has a format. `[]` is a step into a list. */
type TextField = {
  readonly steps: readonly string[];
  readonly format: FormatName;
  readonly preset: unknown;
  readonly isRequired: boolean;
};

type Fields = Readonly<Record<string, unknown>>;

/** Value that the operator cannot read. An older definition, or an older API server, may have accepted it. */
export type UnreadableValue = { readonly path: string; readonly expected: string };

const specSchema = (tonApiSchema as SchemaNode).properties?.['spec'] ?? {};

const textFields = textFieldsOf(specSchema, { steps: [], isRequired: false });

/** Values of the spec that have not the format of their field. */
export function unreadableValues({ spec }: Pick<TonApi, 'spec'>): UnreadableValue[] {
  return textFields.flatMap(({ steps, format }) =>
    textsAt(spec, steps, 'spec')
      .filter(({ text }) => !formats[format].isReadable(text))
      .map(({ path, text }) => ({ path, expected: `expected ${formats[format].words}, got ${shown(text)}` })),
  );
}

/**
 * The TonApi with the default in place of each unreadable value, so that one value does not stop all other work.
 * A value without a default is left out. Its parent goes too, if the parent needs it. Elements of lists stay as they are.
 * Returns the same object if everything is readable.
 */
export function withReadableValues(tonApi: TonApi): TonApi {
  const spec = textFields.reduce<Fields>((found, field) => mended(found, field) ?? found, tonApi.spec);
  return spec === (tonApi.spec as Fields) ? tonApi : { ...tonApi, spec: spec as TonApi['spec'] };
}

function textFieldsOf(node: SchemaNode, at: Pick<TextField, 'steps' | 'isRequired'>): TextField[] {
  const { format, items, properties = {} } = node;
  return [
    ...(format !== undefined && format in formats
      ? [{ ...at, format: format as FormatName, preset: node.default }]
      : []),
    ...(items === undefined ? [] : textFieldsOf(items, { steps: [...at.steps, '[]'], isRequired: true })),
    ...Object.entries(properties).flatMap(([name, property]) =>
      textFieldsOf(property, { steps: [...at.steps, name], isRequired: node.required?.includes(name) === true }),
    ),
  ];
}

type Text = { readonly path: string; readonly text: string };

function textsAt(value: unknown, [step, ...rest]: readonly string[], path: string): Text[] {
  if (step === undefined) return typeof value === 'string' ? [{ path, text: value }] : [];
  if (step === '[]') {
    return Array.isArray(value) ? value.flatMap((element, at) => textsAt(element, rest, `${path}[${at}]`)) : [];
  }
  return isFields(value) ? textsAt(value[step], rest, `${path}.${step}`) : [];
}

/** The object with a readable value in the field. Undefined: the object needs the field, and there is no default. */
function mended(parent: Fields, field: TextField): Fields | undefined {
  const [step = '', ...rest] = field.steps;
  const value = parent[step];
  if (rest.length === 0) {
    if (!isUnreadable(value, field)) return parent;
    if (field.preset !== undefined) return { ...parent, [step]: field.preset };
    return field.isRequired ? undefined : without(parent, step);
  }
  if (!isFields(value)) return parent;
  const next = mended(value, { ...field, steps: rest });
  if (next === value) return parent;
  return next === undefined ? without(parent, step) : { ...parent, [step]: next };
}

function isUnreadable(value: unknown, { format }: TextField): boolean {
  return typeof value === 'string' && !formats[format].isReadable(value);
}

function without(fields: Fields, name: string): Fields {
  const { [name]: _left, ...others } = fields;
  return others;
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
