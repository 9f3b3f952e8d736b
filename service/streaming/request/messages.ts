import type { JsonSchema } from '#service/contract/shape.ts';
import { eventTypes, finalities } from '../changes.ts';

// Messages of a caller, as JSON Schemas. Unknown fields are ignored, and null is absent.

const text: JsonSchema = { type: 'string' };
const flag: JsonSchema = { type: 'boolean', default: false };
const listOf = (items: JsonSchema): JsonSchema => ({ type: 'array', items });
const names = listOf({ ...text, maxLength: 64 });

const id: JsonSchema = { ...text, maxLength: 256 };

/** Accounts and traces. */
const watched: Readonly<Record<string, JsonSchema>> = {
  addresses: listOf(text),
  trace_external_hash_norms: listOf(text),
};

/** Fields of a subscription (service/streaming/README.md#subscription). */
export const subscriptionFields: Readonly<Record<string, JsonSchema>> = {
  id,
  types: { ...listOf({ type: 'string', enum: [...eventTypes, 'trace_invalidated'] }), minItems: 1 },
  ...watched,
  min_finality: { type: 'string', enum: [...finalities], default: 'finalized' },
  finality_scope: { type: 'string', enum: ['trace', 'transaction'], default: 'trace' },
  include_address_book: flag,
  include_metadata: flag,
  action_types: names,
  supported_action_types: names,
  cursor: { ...text, maxLength: 64 },
};

/** Bodies of server-sent events, and messages over WebSocket, by name. */
export const messageSchemas: Readonly<Record<string, JsonSchema>> = {
  Subscription: bodyOf(subscriptionFields, ['types']),
  Subscribe: messageOf('subscribe', subscriptionFields, ['types']),
  Unsubscribe: messageOf('unsubscribe', { id, ...watched }, []),
  Ping: messageOf('ping', { id }, []),
};

/** Names of the schemas of messages, by `operation`. */
export const messageNames = { subscribe: 'Subscribe', unsubscribe: 'Unsubscribe', ping: 'Ping' } as const;

function bodyOf(fields: Readonly<Record<string, JsonSchema>>, required: readonly string[]): JsonSchema {
  const properties = Object.entries(fields).map(([name, schema]) => [
    name,
    required.includes(name) ? schema : { anyOf: [schema, { type: 'null' }] },
  ]);
  return { type: 'object', required, properties: Object.fromEntries(properties) };
}

function messageOf(
  operation: string,
  fields: Readonly<Record<string, JsonSchema>>,
  required: readonly string[],
): JsonSchema {
  const { properties } = bodyOf(fields, required);
  return {
    type: 'object',
    required: ['operation', ...required],
    properties: { operation: { const: operation }, ...(properties as object) },
  };
}
