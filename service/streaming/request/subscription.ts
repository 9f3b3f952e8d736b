import { supportedTypes } from '#service/v3/request/action-versions.ts';
import { readAccount, readHash } from '#service/v3/request/parameter-values.ts';
import type { TimeSlice } from '#service/runtime/time-slice.ts';
import { accountKey, eventTypes, finalities, type AccountKey, type EventType, type Subscription } from '../changes.ts';
import { StreamingError } from '../errors.ts';
import { createFields, type Fields } from './fields.ts';

/** Bounds of one stream, from the plan of its caller. */
export type StreamTerms = { readonly addresses: number; readonly traces: number };

/** Texts of the two transports (service/streaming/README.md#errors). */
export type Wording = {
  /** Start of a text about a field of another form. */
  readonly request: string;
  readonly typesMissing: string;
  readonly addressesMissing: string;
  readonly tooManyAddresses: (count: number, max: number) => string;
};

export const sseWording: Wording = {
  request: 'invalid subscription request',
  typesMissing: 'types are required for subscription',
  addressesMissing: 'addresses are required for subscription',
  tooManyAddresses: (count, max) => `too many addresses: ${count} > max ${max}`,
};

export const wsWording: Wording = {
  request: 'invalid subscribe request',
  typesMissing: 'types are required',
  addressesMissing: 'addresses are required',
  tooManyAddresses: (count, max) => `address limit exceeded: current 0 + new ${count} > max ${max}`,
};

/** Subscription as a caller asked for it. */
export type Wish = {
  readonly subscription: Subscription;
  /** Text of the cursor; undefined for none. */
  readonly cursor: string | undefined;
};

export type WishOptions = {
  readonly wording: Wording;
  readonly terms: StreamTerms;
  /** Header `X-Actions-Version`: the default of `supported_action_types`. */
  readonly actionsVersion: string | undefined;
  readonly slice: TimeSlice;
};

/** Distinct names of actions in each of the two lists. */
const ACTION_TYPES_MAX = 256;
const ACTION_TYPE_LENGTH_MAX = 64;

/** Comes by itself: callers may name it, without effect. */
const impliedType = 'trace_invalidated';

/** Texts of a caller are repeated up to this length in errors: longer than any address or hash. */
const QUOTED_MAX = 128;

/**
 * Reads a subscription (service/streaming/README.md#subscription). The checks have the order of the protocol: the form of each field, types,
 * addresses, traces, what belongs together, bounds.
 * @throws StreamingError `invalid_subscription`
 */
export async function readWish(source: Readonly<Record<string, unknown>>, options: WishOptions): Promise<Wish> {
  const { wording, terms, slice } = options;
  const fields = createFields(source, wording.request);
  const minFinality = fields.word('min_finality', finalities, 'finalized', 'unknown finality state');
  const finalityScope = fields.word('finality_scope', ['trace', 'transaction'], 'trace', 'unknown finality scope');
  const includeAddressBook = fields.flag('include_address_book');
  const includeMetadata = fields.flag('include_metadata');
  const cursor = fields.text('cursor');
  const named = {
    types: fields.texts('types'),
    addresses: fields.texts('addresses'),
    traces: fields.texts('trace_external_hash_norms'),
    actions: readNames(fields, 'action_types'),
    supported: readNames(fields, 'supported_action_types'),
  };
  const types = readTypes(named.types, wording);
  const accounts = await readAccounts(named.addresses, slice);
  const traces = await readTraces(named.traces, slice);
  refuseMismatch(types, accounts, traces, wording);
  if (accounts.size > terms.addresses) throw refusal(wording.tooManyAddresses(accounts.size, terms.addresses));
  refuseExcess('traces', traces.size, terms.traces);
  refuseExcess('action types', Math.max(named.actions.size, named.supported.size), ACTION_TYPES_MAX);
  const { actionsVersion } = options;
  const supported = named.supported.size > 0 ? [...named.supported] : actionsVersion ? [actionsVersion] : [];
  return {
    subscription: {
      types,
      accounts,
      traces,
      minFinality,
      finalityScope,
      includeAddressBook,
      includeMetadata,
      actionTypes: named.actions.size === 0 ? null : named.actions,
      supportedActionTypes: supportedTypes(supported),
    },
    cursor: cursor === '' ? undefined : cursor,
  };
}

/** Accounts and traces that a subscription loses. */
export type Removal = { readonly accounts: ReadonlySet<AccountKey>; readonly traces: ReadonlySet<string> };

/**
 * Reads the message `unsubscribe`.
 * @throws StreamingError `invalid_subscription`
 */
export async function readRemoval(source: Readonly<Record<string, unknown>>, slice: TimeSlice): Promise<Removal> {
  const fields = createFields(source, 'invalid unsubscribe request');
  const [addresses, hashes] = [fields.texts('addresses'), fields.texts('trace_external_hash_norms')];
  const accounts = await readAccounts(addresses, slice);
  const traces = await readTraces(hashes, slice);
  if (accounts.size + traces.size === 0) throw refusal('addresses or trace_external_hash_norms are required');
  return { accounts, traces };
}

function readNames(fields: Fields, name: string): ReadonlySet<string> {
  const names = fields.texts(name);
  if (names.some(({ length }) => length > ACTION_TYPE_LENGTH_MAX)) {
    throw fields.refusal(name, `names of at most ${ACTION_TYPE_LENGTH_MAX} characters`);
  }
  return new Set(names);
}

/** Sets of types that subscriptions share: each set of the five types once. */
const typeSets = new Map<string, ReadonlySet<EventType>>();

function readTypes(given: readonly string[], { typesMissing }: Wording): ReadonlySet<EventType> {
  if (given.length === 0) throw refusal(typesMissing);
  for (const text of given) {
    const isKnown = eventTypes.some((one) => one === text) || text === impliedType;
    if (!isKnown) throw refusal(`invalid event type: ${quoted(text)}`);
  }
  const named = eventTypes.filter((type) => given.includes(type));
  if (named.length === 0) throw refusal(typesMissing);
  const types = typeSets.get(named.join()) ?? new Set(named);
  typeSets.set(named.join(), types);
  return types;
}

/** Addresses between two looks at the clock, which takes as long as half an address. */
const PORTION = 64;

async function readAccounts(given: readonly string[], slice: TimeSlice): Promise<ReadonlySet<AccountKey>> {
  const keys: AccountKey[] = [];
  for (const text of given) {
    const rest = keys.length % PORTION === 0 ? slice.pause() : undefined;
    if (rest !== undefined) await rest;
    keys.push(keyOf(text));
  }
  // A set of 10,000 keys takes 3 ms in one piece, and 5 ms key by key.
  return new Set(keys);
}

/** Form in which v3 writes an account: it is its key. */
const keyForm = /^(?:0|-1):[0-9A-F]{64}$/;

function keyOf(text: string): AccountKey {
  if (keyForm.test(text)) return text;
  const account = readAccount(text);
  if (account === undefined) throw refusal(`invalid address: ${quoted(text)}`);
  return accountKey({ workchain: account.workchain, hash: account.id });
}

/** Most subscriptions name no trace. */
const noTraces: ReadonlySet<string> = new Set();

async function readTraces(given: readonly string[], slice: TimeSlice): Promise<ReadonlySet<string>> {
  if (given.length === 0) return noTraces;
  const traces = new Set<string>();
  for (const text of given) {
    const rest = slice.pause();
    if (rest !== undefined) await rest;
    const trimmed = text.trim();
    if (trimmed === '') throw refusal('trace_external_hash_norms contains empty value');
    const hash = readHash(trimmed);
    if (hash === undefined) throw refusal(`invalid trace hash: ${quoted(text)}`);
    traces.add(hash.toString('hex'));
  }
  return traces;
}

/** Traces belong to the type `trace`, and addresses to all other types. */
function refuseMismatch(
  types: ReadonlySet<EventType>,
  accounts: ReadonlySet<AccountKey>,
  traces: ReadonlySet<string>,
  { addressesMissing }: Wording,
): void {
  const isTrace = types.has('trace');
  if (traces.size > 0 && !isTrace) throw refusal('trace_external_hash_norms requires type "trace"');
  if (traces.size === 0 && isTrace) throw refusal('trace_external_hash_norms are required for trace subscription');
  if (accounts.size === 0 && types.size > (isTrace ? 1 : 0)) throw refusal(addressesMissing);
}

function refuseExcess(what: string, count: number, max: number): void {
  if (count > max) throw refusal(`too many ${what}: ${count} > max ${max}`);
}

function refusal(text: string): StreamingError {
  return new StreamingError('invalid_subscription', text);
}

function quoted(text: string): string {
  return text.length > QUOTED_MAX ? `${text.slice(0, QUOTED_MAX)}…` : text;
}
