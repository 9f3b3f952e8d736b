import type { Schema } from './schema.ts';

/**
 * Removes keywords that only people and the API server read. States rules that the API server applies by itself (closed objects, unique
 * lists).
 */
export function closedSchema(schema: Schema): object {
  const plain = Object.entries(schema).filter(
    ([name]) =>
      !name.startsWith('x-kubernetes-') &&
      !['title', 'description', 'properties', 'items', 'additionalProperties'].includes(name),
  );
  const keys = schema['x-kubernetes-list-map-keys'];
  return {
    ...Object.fromEntries(plain),
    ...(schema.properties && { properties: mapValues(schema.properties, closedSchema) }),
    ...(schema.properties && !isOpen(schema) && { additionalProperties: false }),
    ...(schema.additionalProperties && { additionalProperties: closedSchema(schema.additionalProperties) }),
    ...(schema.items && { items: closedSchema(schema.items) }),
    ...(schema['x-kubernetes-list-type'] === 'set' && { uniqueItems: true }),
    ...(Array.isArray(keys) && { uniqueBy: keys[0] }),
  };
}

function isOpen(schema: Schema): boolean {
  return schema['x-kubernetes-preserve-unknown-fields'] === true;
}

function mapValues<T, U>(record: Readonly<Record<string, T>>, change: (value: T) => U): Record<string, U> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(value)]));
}
