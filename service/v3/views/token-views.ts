import { scalar, type Shape } from '#service/contract/shape.ts';
import { decoded } from './message-views.ts';
import { viewPayload } from './payloads.ts';
import {
  anyText,
  flag,
  hash,
  integer,
  intString,
  orNull,
  rawAddress,
  viewAccountKey,
  viewBytes,
  viewBytesOrNull,
} from '../request/scalars.ts';

// Common parts of jettons and NFTs (service/v3/README.md#token-lists).

type Fields<S> = { readonly [name in keyof S]: S[name] extends Shape<infer T> ? T : never };

/** TEP-64 keys, or `uri`. */
export const content = scalar<Readonly<Record<string, unknown>>>({ type: 'object' });

/** Fields of every contract's row: the state that it comes from. */
export const contractState = {
  last_transaction_lt: intString,
  code_hash: hash,
  data_hash: hash,
};

/** Contracts whose methods were run have both hashes, so this value never appears in answers. */
const noCell = Buffer.alloc(32);

export function viewContractState(row: {
  readonly last_trans_lt: bigint;
  readonly code_hash: Uint8Array | null;
  readonly data_hash: Uint8Array | null;
}): Fields<typeof contractState> {
  return {
    last_transaction_lt: row.last_trans_lt.toString(),
    code_hash: viewBytes(row.code_hash ?? noCell),
    data_hash: viewBytes(row.data_hash ?? noCell),
  };
}

/** Fields of every row from a transaction of a token's contract. */
export const tokenTransaction = {
  query_id: intString,
  transaction_hash: hash,
  transaction_lt: intString,
  transaction_now: integer,
  transaction_aborted: flag,
  response_destination: orNull(rawAddress),
  custom_payload: orNull(anyText),
  decoded_custom_payload: orNull(decoded),
  trace_id: orNull(hash),
};

export function viewTokenTransaction(row: {
  readonly query_id: bigint;
  readonly tx_hash: Uint8Array;
  readonly tx_lt: bigint;
  readonly tx_utime: number;
  readonly tx_aborted: boolean;
  readonly returned?: boolean;
  readonly response_destination: string | null;
  readonly custom_payload: Uint8Array | null;
  readonly trace_id: Uint8Array | null;
}): Fields<typeof tokenTransaction> {
  return {
    query_id: row.query_id.toString(),
    transaction_hash: viewBytes(row.tx_hash),
    transaction_lt: row.tx_lt.toString(),
    transaction_now: row.tx_utime >>> 0,
    // Clients that book a transfer read this field.
    transaction_aborted: row.tx_aborted || row.returned === true,
    response_destination: row.response_destination,
    custom_payload: viewBytesOrNull(row.custom_payload),
    decoded_custom_payload: viewPayload(row.custom_payload),
    trace_id: viewBytesOrNull(row.trace_id),
  };
}

/** Fields of transfers: the payload for the new owner. */
export const forwarded = { forward_payload: orNull(anyText), decoded_forward_payload: orNull(decoded) };

export function viewForwarded(payload: Uint8Array | null): Fields<typeof forwarded> {
  return { forward_payload: viewBytesOrNull(payload), decoded_forward_payload: viewPayload(payload) };
}

/** The raw address of an account key; null for no account. */
export function viewKeyOrNull(key: Uint8Array | null): string | null {
  return key === null ? null : viewAccountKey(key);
}

/** The account, or the text of bodies for no account. */
export function viewKeyOrNone(key: Uint8Array | null): string {
  return viewKeyOrNull(key) ?? 'addr_none';
}
