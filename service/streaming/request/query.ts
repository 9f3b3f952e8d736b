import { readBool } from '#service/v3/request/parameter-values.ts';

/** Fields that a query repeats, or separates by commas. */
const lists = ['types', 'addresses', 'trace_external_hash_norms', 'action_types', 'supported_action_types'] as const;

const flags = ['include_address_book', 'include_metadata'] as const;

const texts = ['id', 'min_finality', 'finality_scope', 'cursor'] as const;

/**
 * Returns the fields of a subscription in a query. An empty value is absent, and the last value of a repeated scalar wins. A flag of another form stays
 * a text, which the subscription refuses.
 */
export function fieldsOfQuery(query: URLSearchParams): Readonly<Record<string, unknown>> {
  const fields: Record<string, unknown> = {};
  for (const name of lists) {
    const values = query.getAll(name).flatMap((value) => value.split(','));
    fields[name] = values.filter((value) => value !== '');
  }
  for (const name of [...flags, ...texts]) {
    const value = query.getAll(name).at(-1);
    if (value !== undefined && value !== '') fields[name] = value;
  }
  for (const name of flags) {
    const value = fields[name];
    if (typeof value === 'string') fields[name] = readBool(value) ?? value;
  }
  return fields;
}
