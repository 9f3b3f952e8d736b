import { parseBoc } from '#service/decode/boc.ts';
import type { ContractSlice } from '#service/decode/cell-slice.ts';
import { openContractCell, takeText, walkDictionary } from '#service/decode/contract-data.ts';
import { DecodeError } from '#service/decode/errors.ts';
import { addressText } from '#service/decode/messages/addresses.ts';
import { ReadBudget } from '#service/decode/read-budget.ts';
import { readMessageAddress } from '#service/decode/tlb/message-address.ts';
import { readSent, decodeOrderBody, type ParsedFields } from './multisig-order-bodies.ts';

/** A step of an order, as in service/v3/README.md#actions-of-orders. */
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

/** An order is sent in a message, which has at most 8192 cells and 2^21 bits. */
const orderLimits = { bytesMax: 1 << 20, cellsMax: 8192, rootsMax: 1 };

/** An answer shows each cell of a message of 8,192 cells twice: in the body and in the parsed body. */
export const ORDER_STEPS_MAX = 40_000;

/** JSON of a step besides its parsed body: the names of its fields, an address and an amount. */
const STEP_BYTES = 320;

/**
 * Steps of an order in the order of execution: `(Hashmap 8 ^action)`.
 * An action is `send_message#f1381e5b mode:uint8 message:^Message` or `update_multisig_params#1d0cfbd3 threshold:uint8 signers:^(Hashmap 8
 * MsgAddress) proposers:(HashmapE 8 MsgAddress)`.
 * An unreadable step states the reason, so that it does not seem empty. Each step beyond the budget does the same. The caller may pause
 * between two steps.
 */
export function* readOrderActions(
  orderBoc: Uint8Array,
  budget: ReadBudget = new ReadBudget({ steps: ORDER_STEPS_MAX }),
): Generator<OrderAction> {
  const steps: ContractSlice[] = [];
  try {
    const table = parseBoc(orderBoc, orderLimits);
    walkDictionary(
      openContractCell({ table, cell: table.roots[0]! }, budget),
      8,
      (_key, step) => void steps.push(step),
    );
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    yield* steps.values().map(readAction);
    yield unreadable(`failed to parse order: ${error.message}`);
    return;
  }
  yield* steps.values().map(readAction);
}

function readAction(entry: ContractSlice): OrderAction {
  const { budget } = entry;
  // Without an error of its own: an order may have hundreds of such steps.
  if (budget.isSpent) return unreadable('failed to parse order action: The order has more than one answer shows.');
  try {
    budget.write(STEP_BYTES);
    const slice = entry.refSlice();
    const tag = slice.uint(32);
    if (tag === SEND_MESSAGE) return sending(slice);
    if (tag === UPDATE_PARAMS) return updating(slice);
    return unreadable(`failed to parse order action: unknown order action type: ${tag}`);
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    return unreadable(`failed to parse order action: ${error.message}`);
  }
}

function sending(slice: ContractSlice): OrderAction {
  const mode = slice.uint(8);
  const sent = readSent(slice);
  const { type, fields } = decodeOrderBody(sent);
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

function updating(slice: ContractSlice): OrderAction {
  const fields = {
    new_threshold: slice.uint(8),
    new_signers: addressList(slice.refSlice()),
    new_proposers: addressList(slice.maybeRefSlice()),
  };
  return { ...nothing, parsed: true, parsed_body: fields, parsed_body_type: 'multisig_update_params' };
}

const nothing = { destination: null, value: null, body_raw: null, error: null, send_mode: 0 };

function unreadable(error: string): OrderAction {
  return { ...nothing, parsed: false, error, parsed_body: null, parsed_body_type: 'unknown' };
}

/** Steps of an address: its rendering as text costs as much as some references. */
const ADDRESS_STEPS = 4;

/** Addresses of a dictionary `Hashmap 8 MsgAddress`, null for an empty dictionary. Throws DecodeError. */
function addressList(root: ContractSlice | undefined): readonly string[] | null {
  if (root === undefined) return null;
  const addresses: string[] = [];
  walkDictionary(root, 8, (_key, value) => {
    value.budget.step(ADDRESS_STEPS);
    addresses.push(takeText(value.budget, addressText(readMessageAddress(value))));
  });
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

/** Accounts in the steps of an order, for the address book. */
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
