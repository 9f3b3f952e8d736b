import {
  constant,
  list,
  map,
  named,
  object,
  oneOfStrings,
  optional,
  scalar,
  variants,
  type Shape,
} from '../contract/shape.ts';
import { addressBookRow } from '../v3/views/address-book-row.ts';
import { action } from '../v3/views/action-views.ts';
import { metadata } from '../v3/annotations/metadata.ts';
import { hash, integer, intString, orNull, rawAddress, uintString } from '../v3/request/scalars.ts';
import { traceNode, transactionsByHash } from '../v3/views/trace-views.ts';
import { accountStateFields, finality, transaction } from '../v3/views/transaction-views.ts';
import { invalidationReasons } from './changes.ts';

// Frames of the service, as JSON Schemas: `data:` of server-sent events, and text frames of a WebSocket.

const cursor = named('Cursor', scalar<string>({ type: 'string', pattern: '^[A-Za-z0-9_-]{1,64}$' }));

const id = optional(scalar<string>({ type: 'string', maxLength: 256 }));

const text = scalar<string>({ type: 'string', minLength: 1 });

/** A mark that is true or absent. */
const mark = optional(scalar<true>({ const: true }));

/** Level of an event about an account. */
const accountFinality = oneOfStrings(['confirmed', 'finalized']);

/** Book and metadata of an event have the accounts of the event, if the caller asks for them. */
const labels = {
  address_book: optional(named('AddressBook', map(addressBookRow))),
  metadata: optional(metadata),
};

/** First fields of an event about a trace. `trace_id` is that of a trace without an external root. */
const traceHead = { finality, trace_external_hash_norm: hash, trace_id: optional(hash) };

const count = scalar<number>({ type: 'integer', minimum: 1 });

const streamAction: Shape<unknown> = {
  schema: { allOf: [action.schema, { required: ['accounts'] }] },
  definitions: action.definitions,
};

function filled<T>(shape: Shape<readonly T[]>): Shape<readonly T[]> {
  return { ...shape, schema: { ...shape.schema, minItems: 1 } };
}

/** Names of the shapes of events, by `type`. */
export const eventShapeNames = {
  transactions: 'TransactionsEvent',
  actions: 'ActionsEvent',
  trace: 'TraceEvent',
  account_state_change: 'AccountStateEvent',
  jettons_change: 'JettonsEvent',
  trace_invalidated: 'TraceInvalidatedEvent',
} as const;

const transactionsEvent = object({
  type: constant('transactions'),
  ...traceHead,
  transactions: filled(list(transaction)),
  part: optional(count),
  parts: optional(count),
  is_incomplete: mark,
  ...labels,
  cursor,
});

const actionsEvent = object({
  type: constant('actions'),
  ...traceHead,
  actions: filled(list(streamAction)),
  is_incomplete: mark,
  ...labels,
  cursor,
});

const traceEvent = object({
  type: constant('trace'),
  ...traceHead,
  trace: traceNode,
  transactions: transactionsByHash,
  actions: optional(filled(list(streamAction))),
  is_incomplete: mark,
  ...labels,
  cursor,
});

const accountStateEvent = object({
  type: constant('account_state_change'),
  finality: accountFinality,
  account: rawAddress,
  state: object({
    ...accountStateFields,
    balance: intString,
    last_transaction_lt: orNull(intString),
    last_transaction_hash: orNull(hash),
  }),
  correction: mark,
  cursor,
});

const jettonsEvent = object({
  type: constant('jettons_change'),
  finality: accountFinality,
  jetton: object({
    address: rawAddress,
    balance: uintString,
    owner: rawAddress,
    jetton: rawAddress,
    last_transaction_lt: intString,
    code_hash: orNull(hash),
    data_hash: orNull(hash),
  }),
  correction: mark,
  ...labels,
  cursor,
});

const invalidatedEvent = object({
  type: constant('trace_invalidated'),
  trace_external_hash_norm: hash,
  reason: oneOfStrings(invalidationReasons),
  cursor,
});

/** An event of a stream. */
const event = named(
  'Event',
  variants('type', eventShapeNames, [
    named('TransactionsEvent', transactionsEvent),
    named('ActionsEvent', actionsEvent),
    named('TraceEvent', traceEvent),
    named('AccountStateEvent', accountStateEvent),
    named('JettonsEvent', jettonsEvent),
    named('TraceInvalidatedEvent', invalidatedEvent),
  ]),
);

/** Answer to a subscription: the first `data:` of server-sent events, with the line `event: connected`. */
const subscribed = object({
  id,
  status: constant('subscribed'),
  cursor,
  resumed: oneOfStrings(['full', 'finalized', 'none']),
  gap: optional(object({ from_mc_seqno: integer, to_mc_seqno: integer })),
});

/** Shapes of answers over WebSocket, by `status`. */
export const answerShapeNames = { subscribed: 'Subscribed', unsubscribed: 'Unsubscribed', pong: 'Pong' } as const;

/** All frames of the service by their names. */
export const frameShapes: readonly Shape<unknown>[] = [
  event,
  named('Subscribed', subscribed),
  named('Unsubscribed', object({ id, status: constant('unsubscribed') })),
  named('Pong', object({ id, status: constant('pong'), cursor })),
  named('Refusal', object({ id, error: text })),
  named('Closing', object({ error: text, code: scalar<number>({ type: 'integer' }), cursor: optional(cursor) })),
];
