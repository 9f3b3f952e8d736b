/** A JSON Schema (2020-12, as OpenAPI 3.1 uses it). */
export type JsonSchema = { readonly [keyword: string]: unknown };

/**
 * Shape of the contract, written once: its JSON Schema at run time, its TypeScript type by `Infer`.
 * Writers return `Infer` of their shape. A field that is added, renamed or moved is a type error until document and answer agree.
 */
export type Shape<T> = {
  /** For use in place: a reference when the shape is named. */
  readonly schema: JsonSchema;
  /** Named shapes that `schema` refers to, itself included; become `components.schemas`. */
  readonly definitions: ReadonlyMap<string, JsonSchema>;
  /** Never set: carries the type only. */
  readonly value?: T;
};

/** Type that a shape describes. */
export type Infer<S> = S extends Shape<infer T> ? T : never;

const noDefinitions: ReadonlyMap<string, JsonSchema> = new Map();

/** A scalar given by its schema. */
export function scalar<T>(schema: JsonSchema): Shape<T> {
  return { schema, definitions: noDefinitions };
}

/** Exactly one value. */
export function constant<const T extends string | boolean>(value: T): Shape<T> {
  return scalar({ const: value });
}

/** Any of the listed strings. */
export function oneOfStrings<const T extends string>(values: readonly T[]): Shape<T> {
  return scalar({ type: 'string', enum: values });
}

/** A field that an object may leave out. */
export type OptionalShape<T> = Shape<T> & { readonly optional: true };

/** Marks a field of an object that may be left out; it is never null. */
export function optional<T>(shape: Shape<T>): OptionalShape<T> {
  return { ...shape, optional: true };
}

type OptionalKeys<P> = { [K in keyof P]: P[K] extends { readonly optional: true } ? K : never }[keyof P];

type Fields<P> = { readonly [K in Exclude<keyof P, OptionalKeys<P>>]: Infer<P[K]> } & {
  readonly [K in OptionalKeys<P>]?: Infer<P[K]>;
};

/** Object with exactly these fields, in this order. All are required except `optional` fields. */
export function object<const P extends Record<string, Shape<unknown>>>(properties: P): Shape<Fields<P>> {
  const entries = Object.entries(properties);
  return {
    schema: {
      type: 'object',
      required: entries.filter(([, shape]) => !('optional' in shape)).map(([name]) => name),
      properties: Object.fromEntries(entries.map(([name, shape]) => [name, shape.schema])),
      additionalProperties: false,
    },
    definitions: merge(entries.map(([, shape]) => shape)),
  };
}

/** A list of at most `maxItems` items, or of as many as the blockchain's own rules allow. */
export function list<T>(item: Shape<T>, maxItems?: number): Shape<readonly T[]> {
  const bound = maxItems === undefined ? {} : { maxItems };
  return { schema: { type: 'array', items: item.schema, ...bound }, definitions: item.definitions };
}

/** An object whose field names are data. @param key shape of a name; any text when absent */
export function map<T>(value: Shape<T>, key?: Shape<string>): Shape<Readonly<Record<string, T>>> {
  const names = key === undefined ? {} : { propertyNames: key.schema };
  return {
    schema: { type: 'object', ...names, additionalProperties: value.schema },
    definitions: merge(key === undefined ? [value] : [key, value]),
  };
}

/** Exactly one of the shapes. The value of one field distinguishes them. */
export function variants<const V extends readonly Shape<unknown>[]>(
  field: string,
  mapping: Readonly<Record<string, string>>,
  shapes: V,
): Shape<Infer<V[number]>> {
  return {
    schema: {
      oneOf: shapes.map((shape) => shape.schema),
      discriminator: {
        propertyName: field,
        mapping: Object.fromEntries(Object.entries(mapping).map(([value, name]) => [value, referenceTo(name)])),
      },
    },
    definitions: merge(shapes),
  };
}

/** Exactly one of the shapes. Their fields distinguish them. */
export function oneOf<const V extends readonly Shape<unknown>[]>(shapes: V): Shape<Infer<V[number]>> {
  return { schema: { oneOf: shapes.map((shape) => shape.schema) }, definitions: merge(shapes) };
}

/** Gives a shape a name in the document. */
export function named<T>(name: string, shape: Shape<T>): Shape<T> {
  return {
    schema: { $ref: referenceTo(name) },
    definitions: new Map([...shape.definitions, [name, shape.schema]]),
  };
}

/** Reference to a named schema in the document. */
export function referenceTo(name: string): string {
  return `#/components/schemas/${name}`;
}

function merge(shapes: readonly Shape<unknown>[]): ReadonlyMap<string, JsonSchema> {
  return new Map(shapes.flatMap((shape) => [...shape.definitions]));
}
