import { viewInteger } from '#service/contract/json-integer.ts';
import { list, named, object, scalar, type Infer } from '#service/contract/shape.ts';
import type { MultisigOrderRow, MultisigRow } from '#service/store/classification-tables.ts';
import type { OrderAction } from './multisig-order.ts';
import {
  anyText,
  base64,
  flag,
  hash,
  integer,
  intString,
  longInteger,
  orNull,
  rawAddress,
  viewAccountKey,
  viewBytes,
  viewBytesOrNull,
} from '../request/scalars.ts';

const orderAction = named(
  'OrderAction',
  object({
    destination: orNull(rawAddress),
    value: orNull(intString),
    body_raw: orNull(named('Base64', base64)),
    parsed: flag,
    error: orNull(anyText),
    parsed_body: orNull(scalar<Readonly<Record<string, unknown>>>({ type: 'object' })),
    parsed_body_type: anyText,
    send_mode: integer,
  }),
);

/** service/v3/README.md#multisigs. */
export const multisigOrder = named(
  'MultisigOrder',
  object({
    address: rawAddress,
    multisig_address: rawAddress,
    order_seqno: orNull(intString),
    threshold: orNull(integer),
    sent_for_execution: orNull(flag),
    approvals_mask: orNull(intString),
    approvals_num: orNull(integer),
    expiration_date: orNull(longInteger),
    order_boc: orNull(anyText),
    signers: orNull(list(rawAddress)),
    last_transaction_lt: intString,
    code_hash: orNull(hash),
    data_hash: orNull(hash),
    actions: orNull(list(orderAction)),
  }),
);

export type MultisigOrderView = Infer<typeof multisigOrder>;

/** service/v3/README.md#multisigs. */
export const multisig = named(
  'Multisig',
  object({
    address: rawAddress,
    next_order_seqno: orNull(intString),
    threshold: orNull(integer),
    signers: orNull(list(rawAddress)),
    proposers: orNull(list(rawAddress)),
    last_transaction_lt: intString,
    code_hash: orNull(hash),
    data_hash: orNull(hash),
    orders: orNull(list(multisigOrder)),
  }),
);

export type MultisigView = Infer<typeof multisig>;

/** @param actions steps of the order; null when the caller excludes them */
export function viewMultisigOrder(row: MultisigOrderRow, actions: readonly OrderAction[] | null): MultisigOrderView {
  return {
    address: viewAccountKey(row.address),
    multisig_address: viewAccountKey(row.multisig),
    order_seqno: row.order_seqno?.toString() ?? null,
    threshold: row.threshold,
    sent_for_execution: row.sent_for_execution,
    approvals_mask: row.approvals_mask.toString(),
    approvals_num: row.approvals_num,
    expiration_date: viewInteger(row.expiration_date),
    order_boc: viewBytes(row.order_boc),
    signers: row.signers.map(viewAccountKey),
    ...viewState(row),
    actions,
  };
}

export function viewMultisig(row: MultisigRow, orders: readonly MultisigOrderView[]): MultisigView {
  return {
    address: viewAccountKey(row.address),
    next_order_seqno: row.next_order_seqno?.toString() ?? null,
    threshold: row.threshold,
    signers: row.signers.map(viewAccountKey),
    proposers: row.proposers.map(viewAccountKey),
    ...viewState(row),
    orders,
  };
}

function viewState(row: Pick<MultisigRow, 'last_trans_lt' | 'code_hash' | 'data_hash'>) {
  return {
    last_transaction_lt: row.last_trans_lt.toString(),
    code_hash: viewBytesOrNull(row.code_hash),
    data_hash: viewBytesOrNull(row.data_hash),
  };
}
