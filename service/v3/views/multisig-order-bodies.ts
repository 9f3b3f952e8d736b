import { bit, maybeAddress, payload, peek, tryRead, uint, uint32, uint64 } from '#service/actions/engine/body.ts';
import { readComment as readText } from '#service/actions/engine/basic-blocks.ts';
import { viewInteger } from '#service/contract/json-integer.ts';
import type { BocOptions } from '#service/decode/boc-writer.ts';
import type { ContractSlice } from '#service/decode/cell-slice.ts';
import { addressText } from '#service/decode/messages/addresses.ts';
import { attempt, writeBagText } from '#service/decode/contract-data.ts';
import { bocText, takeRef } from '#service/decode/messages/decoded.ts';
import { openBody, readMessage } from '#service/decode/tlb/message.ts';

// Bodies of messages that orders of a multisig send, decoded by kind (service/v3/README.md#actions-of-orders).

/** Fields of `parsed_body` by name: amounts as decimal text, cells as base64 of a BoC. Accounts are raw, or null for none. */
export type ParsedFields = Readonly<Record<string, unknown>>;

export type ParsedBody = { readonly type: string; readonly fields: ParsedFields };

/** Reads a field; the slice's budget is the budget of the whole order. Throws DecodeError. */
type Field = (slice: ContractSlice) => unknown;

type Layout = { readonly type: string; readonly read: (slice: ContractSlice) => ParsedFields };

const TEXT = 0;
const ENCRYPTED = 0x2167da4b;
const STONFI_SWAP = 0x25938561;

const number64: Field = (slice) => viewInteger(uint64(slice));
const amount: Field = (slice) => slice.coins().toString();

/** With its cells in the order in which clients of v3 know them. */
const bocOptions: BocOptions = { crc32c: true, depthFirst: true };

/** Base64 of a cell, or of the rest of a cell. */
function bocOf(slice: ContractSlice): string {
  return writeBagText(slice, slice.budget, bocOptions);
}

const maybeCell: Field = (slice) => (bit(slice) ? bocText(takeRef(slice), slice.budget, bocOptions) : null);

const forwardPayload: Field = (slice) => {
  const found = payload(slice);
  return found === null ? null : bocOf(found);
};

type Fields = Readonly<Record<string, Field>>;

/** Reads consecutive fields. */
function readFields(fields: Fields, slice: ContractSlice): ParsedFields {
  return Object.fromEntries(Object.entries(fields).map(([name, read]) => [name, read(slice)]));
}

/** Layout of a body with fields alone after the opcode. */
function layout(type: string, fields: Fields): Layout {
  return { type, read: (slice) => readFields(fields, slice) };
}

/** Text in a chain of cells; empty for other contents. An encrypted text is base64 of its bytes. */
function readComment(slice: ContractSlice, encrypted: boolean): string {
  return attempt(slice.budget, () => readText(slice.clone(), encrypted)) ?? '';
}

const transferHead: Fields = {
  query_id: number64,
  amount,
  destination: maybeAddress,
  response: maybeAddress,
  custom_payload: maybeCell,
  forward_amount: amount,
};

const jettonTransfer: Layout = {
  type: 'jetton_transfer',
  read(slice) {
    const head = readFields(transferHead, slice);
    const forwarded = payload(slice);
    return {
      ...head,
      forward_payload: forwarded === null ? null : bocOf(forwarded),
      ...decodeForwarded(forwarded),
    };
  },
};

/** Fields of a forward payload of a known kind. */
function decodeForwarded(forwarded: ContractSlice | null): ParsedFields {
  const noPayload = { comment: '', encrypted_comment: false, payload_sum_type: '', stonfi_swap_body: null };
  if (forwarded === null || forwarded.remainingBits === 0) return noPayload;
  const tag = peek(forwarded, uint32);
  if (tag === undefined) return { ...noPayload, payload_sum_type: 'Unknown' };
  const rest = behindOpcode(forwarded);
  if (tag === TEXT) return { ...noPayload, comment: readComment(rest, false), payload_sum_type: 'TextComment' };
  if (tag === ENCRYPTED) {
    const comment = readComment(rest, true);
    return { ...noPayload, comment, encrypted_comment: true, payload_sum_type: 'EncryptedTextComment' };
  }
  if (tag !== STONFI_SWAP) return { ...noPayload, payload_sum_type: 'Unknown' };
  const swap = tryRead(() => ({
    jetton_wallet: maybeAddress(rest),
    min_amount: viewTons(rest.coins()),
    user_address: maybeAddress(rest),
  }));
  return { ...noPayload, payload_sum_type: 'StonfiSwap', stonfi_swap_body: swap ?? null };
}

/** Decimal TON without zeros at the end. The reference shows the least amount of a swap so, whatever its token. */
function viewTons(nanotons: bigint): string {
  const digits = nanotons.toString().padStart(10, '0');
  return `${digits.slice(0, -9)}.${digits.slice(-9)}`.replace(/\.?0*$/, '');
}

/** Fields of a message that a jetton's master passes on: its destination, and its TON. */
const passedOn: Fields = { query_id: number64, to_address: maybeAddress, ton_amount: amount };

/** The minted amount has two names: its own, and the name in its message. Clients read either. */
const jettonMint: Layout = {
  type: 'jetton_mint',
  read(slice) {
    const head = readFields(passedOn, slice);
    const master = slice.refSlice();
    master.skip(32);
    const queryId = number64(master);
    const minted = amount(master);
    return { ...head, jetton_amount: minted, master_msg_query_id: queryId, master_msg_jetton_amount: minted };
  },
};

/** Names of a jetton master's calls to a wallet. */
const calledActions: ReadonlyMap<number, string> = new Map([
  [0xeed236d3, 'JettonSetStatus'],
  [0x0f8a7ea5, 'JettonTransfer'],
  [0x595f07bc, 'JettonBurn'],
]);

const jettonCallTo: Layout = {
  type: 'jetton_call_to',
  read(slice) {
    const head = readFields(passedOn, slice);
    const action = slice.refSlice();
    const tag = peek(action, uint32);
    return {
      ...head,
      action_type: tag === undefined ? '' : (calledActions.get(tag) ?? 'Unknown'),
      action_data: bocOf(action),
    };
  },
};

const vestingTransfer: Layout = {
  type: 'vesting_internal_transfer',
  read(slice) {
    const head = { query_id: number64(slice), send_mode: uint(8)(slice) };
    const sent = readSent(slice);
    const { destination, value, boc, body } = sent;
    const text = body !== undefined && peek(body, uint32) === TEXT ? behindOpcode(body) : undefined;
    return {
      ...head,
      destination,
      value,
      message_body: boc,
      comment: text === undefined ? '' : readComment(text, false),
    };
  },
};

/** Slice after the opcode. */
function behindOpcode(body: ContractSlice): ContractSlice {
  const text = body.clone();
  text.skip(32);
  return text;
}

/** A message in the form that a contract sends. */
export type SentMessage = {
  /** Raw; null for a message to the outside, which has no value either. */
  readonly destination: string | null;
  readonly value: string | null;
  /** Undefined for an exotic cell. */
  readonly body: ContractSlice | undefined;
  /** Base64 of the body. */
  readonly boc: string;
};

/** Reads the message in the next reference. Throws DecodeError. */
export function readSent(slice: ContractSlice): SentMessage {
  const { table } = slice;
  const message = readMessage(table, slice.ref());
  const { info, body: place } = message;
  const sent =
    info.kind === 'internal'
      ? { destination: addressText(info.destination), value: info.value.grams.toString() }
      : { destination: null, value: null };
  if (table.kind(place.cell) !== 'ordinary') {
    return { ...sent, body: undefined, boc: writeBagText({ table, cell: place.cell }, slice.budget, bocOptions) };
  }
  const body = openBody(table, place).within(slice.budget);
  return { ...sent, body, boc: bocOf(body) };
}

const jettonTopUp = layout('jetton_top_up', { query_id: number64 });

const layouts: ReadonlyMap<number, Layout> = new Map([
  [0x0f8a7ea5, jettonTransfer],
  [0x595f07bc, layout('jetton_burn', { query_id: number64, amount, response_destination: maybeAddress })],
  [0x00000015, withOpcode(0x00000015, jettonMint)],
  [0x642b7d07, withOpcode(0x642b7d07, jettonMint)],
  [0xd372158c, jettonTopUp],
  // Name that clients of v3 use; no jetton has it.
  [0x00009fd3, jettonTopUp],
  [0xfb88e119, layout('jetton_claim_admin', { query_id: number64 })],
  [0x6501f354, layout('jetton_change_admin', { query_id: number64, new_admin_address: maybeAddress })],
  [
    0xcb862902,
    layout('jetton_change_content', {
      query_id: number64,
      new_metadata_url: (slice) => readComment(slice, false),
    }),
  ],
  [0x235caf52, jettonCallTo],
  [0xeed236d3, layout('jetton_set_status', { query_id: number64, new_status: uint(4) })],
  [
    0x5fcc3d14,
    layout('nft_transfer', {
      query_id: number64,
      new_owner: maybeAddress,
      response_destination: maybeAddress,
      custom_payload: maybeCell,
      forward_amount: amount,
      forward_payload: forwardPayload,
    }),
  ],
  [0x00001000, layout('single_nominator_withdraw', { query_id: number64, coins: amount })],
  [0x00001001, layout('single_nominator_change_validator', { query_id: number64, validator_address: maybeAddress })],
  [0xa7733acd, vestingTransfer],
]);

/** The same with its opcode in front. */
function withOpcode(opcode: number, { type, read }: Layout): Layout {
  return { type, read: (slice) => ({ opcode, ...read(slice) }) };
}

/**
 * Decodes a body by its opcode. A body without opcode, or with a comment, is a transfer of TON. `unknown` for every other opcode, for a
 * body that does not match its opcode, and beyond the budget.
 * @param sent message from `readSent`
 */
export function decodeOrderBody({ body, boc }: SentMessage): ParsedBody {
  if (body === undefined) return { type: 'unknown', fields: { opcode: null, data: boc } };
  const opcode = peek(body, uint32);
  if (opcode === undefined) return { type: 'ton_transfer', fields: { comment: '', encrypted: false } };
  if (opcode === TEXT || opcode === ENCRYPTED) {
    const encrypted = opcode === ENCRYPTED;
    return { type: 'ton_transfer', fields: { comment: readComment(behindOpcode(body), encrypted), encrypted } };
  }
  const known = layouts.get(opcode);
  const fields = known && attempt(body.budget, () => known.read(behindOpcode(body)));
  if (known === undefined || fields === undefined) return { type: 'unknown', fields: { opcode, data: boc } };
  return { type: known.type, fields };
}
