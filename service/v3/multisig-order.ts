import { parseBoc } from '../decode/boc.ts';
import type { CellSlice } from '../decode/cell-slice.ts';
import { DecodeError } from '../decode/errors.ts';
import { walkHashmap, type HashmapRoot } from '../decode/hashmap.ts';
import { addressText } from '../decode/messages/addresses.ts';
import { isExhausted, newBudget, type Budget } from '../decode/messages/decoded.ts';
import { readMessageAddress } from '../decode/tlb/message-address.ts';
import { readSent, tellBody, type ParsedFields } from './multisig-order-bodies.ts';

/** One step of an order, as v3 sheet 10 shows it. */
export type OrderAction = {
  readonly destination: string | null;
  /** Nanotons. */
  readonly value: string | null;
  /** Base64 of a BoC. */
  readonly body_raw: string | null;
  readonly parsed: boolean;
  readonly error: string | null;
  readonly parsed_body: ParsedFields | null;
  readonly parsed_body_type: string;
  readonly send_mode: number;
};

const SEND_MESSAGE = 0xf1381e5b;
const UPDATE_PARAMS = 0x1d0cfbd3;

/** An order travels in a message, which has at most 8,192 cells and 2^21 bits. */
const orderLimits = { bytesMax: 1 << 20, cellsMax: 8192, rootsMax: 1 };

/**
 * The steps of an order in the order in which they are done: `(Hashmap 8 ^action)`, where an action is `send_message#f1381e5b mode:uint8
 * message:^Message` or `update_multisig_params#1d0cfbd3 threshold:uint8 signers:^(Hashmap 8 MsgAddress) proposers:(HashmapE 8 MsgAddress)`.
 * What cannot be read is a step that says why, so that it does not look like nothing. Bounded: steps beyond a megabyte of bodies are not told.
 */
export function readOrderActions(orderBoc: Uint8Array): readonly OrderAction[] {
  const actions: OrderAction[] = [];
  const budget = newBudget();
  try {
    const boc = parseBoc(orderBoc, orderLimits);
    walkHashmap(boc, boc.roots[0], 8, (_key, value) => void actions.push(readAction(value, budget)));
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    actions.push(unreadable(`failed to parse order: ${error.message}`));
  }
  return actions;
}

function readAction(entry: CellSlice, budget: Budget): OrderAction {
  try {
    if (isExhausted(budget)) throw new DecodeError('too_big', 'The order has more than is told.');
    const slice = entry.refSlice();
    const tag = slice.uint(32);
    if (tag === SEND_MESSAGE) return sending(slice, budget);
    if (tag === UPDATE_PARAMS) return updating(slice);
    return unreadable(`failed to parse order action: unknown order action type: ${tag}`);
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    return unreadable(`failed to parse order action: ${error.message}`);
  }
}

function sending(slice: CellSlice, budget: Budget): OrderAction {
  const mode = slice.uint(8);
  const sent = readSent(slice, budget);
  const { type, fields } = tellBody(sent, budget);
  return {
    destination: sent.destination,
    value: sent.value,
    body_raw: sent.boc,
    parsed: true,
    error: null,
    parsed_body: fields,
    parsed_body_type: type,
    send_mode: mode,
  };
}

function updating(slice: CellSlice): OrderAction {
  const fields = {
    new_threshold: slice.uint(8),
    new_signers: addressList(slice, slice.refSlice()),
    new_proposers: addressList(slice, slice.maybeRef()),
  };
  return { ...nothing, parsed: true, parsed_body: fields, parsed_body_type: 'multisig_update_params' };
}

const nothing = { destination: null, value: null, body_raw: null, error: null, send_mode: 0 };

function unreadable(error: string): OrderAction {
  return { ...nothing, parsed: false, error, parsed_body: null, parsed_body_type: 'unknown' };
}

function addressList({ table }: CellSlice, root: HashmapRoot): readonly string[] {
  const addresses: string[] = [];
  walkHashmap(table, root, 8, (_key, value) => void addresses.push(addressText(readMessageAddress(value))));
  return addresses;
}

/** Fields of `parsed_body` that hold accounts. */
const accountFields: ReadonlySet<string> = new Set([
  'destination',
  'response',
  'response_destination',
  'to_address',
  'new_admin_address',
  'new_owner',
  'validator_address',
  'new_signers',
  'new_proposers',
  'jetton_wallet',
  'user_address',
]);

/** Accounts that steps of an order name, for the address book. */
export function* accountsOfActions(actions: readonly OrderAction[]): Generator<string> {
  for (const { destination, parsed_body: fields } of actions) {
    if (destination !== null) yield destination;
    if (fields === null) continue;
    const swap = (fields['stonfi_swap_body'] ?? {}) as ParsedFields;
    for (const [name, value] of [...Object.entries(fields), ...Object.entries(swap)]) {
      if (!accountFields.has(name)) continue;
      for (const text of [value].flat()) if (typeof text === 'string') yield text;
    }
  }
}
