import { isMap, isScalar, parseDocument, type Pair, type YAMLMap } from 'yaml';

/** A JSON schema, as far as it is made here. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** A value of a chart: its position, meaning, default and allowed range. */
export type ChartValue = {
  /** `metrics.port`. */
  readonly path: string;
  readonly description: string;
  readonly preset: unknown;
  readonly schema: JsonSchema;
  /** Present for a group of values. */
  readonly values?: readonly ChartValue[];
};

/**
 * Marks in a comment above a value, besides its meaning:
 * - `@enum A B`, `@min N`, `@max N`, `@pattern REGEX`
 * - `@items JSON-SCHEMA`, `@minItems N`, `@unique`: no item twice
 * - `@map TYPE`: any names
 * - `@open`: any content
 * - `@schema NAME`: a schema given to the reader
 * - `@shared`: a group to which other charts add values of their own
 * - `@nullable`: a group that null removes
 */
type Marks = Readonly<Record<string, string>>;

/**
 * Reads a commented values.yaml.
 *
 * @param schemas by name, for `@schema`
 * @throws TypeError for a value without a comment
 */
export function readValues(text: string, schemas: Readonly<Record<string, JsonSchema>> = {}): readonly ChartValue[] {
  const { contents } = parseDocument(text);
  if (!isMap(contents)) throw new TypeError('values.yaml: expected a map');
  return valuesOf(contents, '', schemas);
}

/** Values that Helm adds to a subchart: `enabled` is the usual `condition` of a dependency. */
const helmValues: Readonly<Record<string, JsonSchema>> = {
  enabled: { type: 'boolean', description: 'Condition of a dependency, read by the chart around this one.' },
};

/** Schema by which Helm checks the values: closed, so that a typo fails. A chart around ours may add `global` values and `enabled`. */
export function valuesSchema(values: readonly ChartValue[]): JsonSchema {
  const { properties, ...schema } = closed(values);
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    ...schema,
    properties: { ...(properties as object), ...helmValues },
  };
}

/** Null removes a value before Helm checks it. So every value that a template needs is required. */
function closed(values: readonly ChartValue[]): JsonSchema {
  const nameOf = ({ path }: ChartValue): string => path.split('.').at(-1) ?? '';
  const required = values.filter(isNeeded).map(nameOf);
  return {
    type: 'object',
    additionalProperties: false,
    ...(required.length > 0 && { required }),
    properties: Object.fromEntries(values.map((value) => [nameOf(value), value.schema] as const)),
  };
}

/** True for a group, and for a value that may not be empty. A group that other charts share may be absent. */
function isNeeded({ schema, preset, values }: ChartValue): boolean {
  const { type, additionalProperties, pattern } = schema;
  if (values !== undefined) return type === 'object' && additionalProperties === false;
  if (type === 'integer' || schema['enum'] !== undefined) return true;
  if (type === 'array') return schema['minItems'] !== undefined;
  if (type === 'string') return typeof pattern === 'string' && !new RegExp(pattern).test('');
  // An object of a resource that the chart presets.
  return schema['properties'] !== undefined && Object.keys(preset as object).length > 0;
}

function valuesOf(map: YAMLMap, path: string, schemas: Readonly<Record<string, JsonSchema>>): ChartValue[] {
  return map.items.map((pair, index) => {
    const { key } = pair as Pair<{ value: string }>;
    const name = key.value;
    // The parser gives the comment before a map's first key to the map.
    const comment =
      (pair.key as { commentBefore?: string }).commentBefore ?? (index === 0 ? map.commentBefore : undefined);
    return valueOf(pair, path === '' ? name : `${path}.${name}`, comment ?? '', schemas);
  });
}

function valueOf(pair: Pair, path: string, comment: string, schemas: Readonly<Record<string, JsonSchema>>): ChartValue {
  const lines = comment.split('\n').map((line) => line.trim());
  const marks: Marks = Object.fromEntries(
    lines.filter((line) => line.startsWith('@')).map((line) => /^@(\w+) ?(.*)$/.exec(line)?.slice(1) ?? []),
  );
  const description = lines
    .filter((line) => !line.startsWith('@'))
    .join(' ')
    .trim();
  const { value } = pair;
  const preset: unknown = isScalar(value) ? value.value : (value as YAMLMap).toJSON();
  const grouped = isMap(value) && value.items.length > 0 && !('open' in marks || 'map' in marks || 'schema' in marks);
  if (grouped) {
    const values = valuesOf(value, path, schemas);
    return {
      path,
      description,
      preset,
      schema: {
        ...(description !== '' && { description }),
        ...closed(values),
        ...('shared' in marks && { additionalProperties: true }),
        // Null removes it, or each of its values.
        ...('nullable' in marks && { type: ['object', 'null'], required: [] }),
      },
      values,
    };
  }
  if (description === '') throw new TypeError(`values.yaml: ${path} has no comment`);
  return { path, description, preset, schema: { description, ...schemaOf(preset, marks, schemas) } };
}

function schemaOf(preset: unknown, marks: Marks, schemas: Readonly<Record<string, JsonSchema>>): JsonSchema {
  if (marks['schema'] !== undefined) {
    const named = schemas[marks['schema']];
    if (named === undefined) throw new TypeError(`values.yaml: no schema ${marks['schema']}`);
    return named;
  }
  if (marks['map'] !== undefined) return { type: 'object', additionalProperties: { type: marks['map'] } };
  if (marks['open'] !== undefined) return { type: 'object' };
  if (Array.isArray(preset)) {
    if (marks['items'] === undefined) throw new TypeError('values.yaml: a list needs @items');
    return {
      type: 'array',
      ...(marks['minItems'] !== undefined && { minItems: Number(marks['minItems']) }),
      ...('unique' in marks && { uniqueItems: true }),
      items: JSON.parse(marks['items']) as JsonSchema,
    };
  }
  if (marks['enum'] !== undefined) return { type: 'string', enum: marks['enum'].split(' ') };
  if (typeof preset === 'number') {
    return {
      type: 'integer',
      ...(marks['min'] !== undefined && { minimum: Number(marks['min']) }),
      ...(marks['max'] !== undefined && { maximum: Number(marks['max']) }),
    };
  }
  if (typeof preset === 'boolean') return { type: 'boolean' };
  return { type: 'string', ...(marks['pattern'] !== undefined && { pattern: marks['pattern'] }) };
}
