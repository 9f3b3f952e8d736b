import { list, named, object, oneOfStrings, optional, type Infer, type Shape } from '#service/contract/shape.ts';
import type { RawJson } from '#service/contract/json-stream.ts';
import { formatRawAddress } from '#service/decode/address.ts';
import type { CellStore } from '#service/decode/cell-store.ts';
import type { CellTable } from '#service/decode/cell-table.ts';
import { createBodyDecoder } from '#service/decode/messages/messages.ts';
import type { AccountStatus } from '#service/decode/tlb/account-status.ts';
import type { Message } from '#service/decode/tlb/message.ts';
import type { Transaction } from '#service/decode/tlb/transaction.ts';
import type { AccountStateRow } from '#service/store/tables.ts';
import { viewCurrencies, viewStatus } from './account-rows.ts';
import { blockId } from './block-views.ts';
import { description, viewDescription } from './description-views.ts';
import { extraCurrenciesById } from '#service/decode/tlb/currency-collection.ts';
import { bytesOfContents, message, viewMessage, type MessageView } from './message-views.ts';
import {
  accountStatus,
  anyText,
  extraCurrencies,
  flag,
  hash,
  integer,
  intString,
  orNull,
  rawAddress,
  viewBytes,
  viewBytesOrNull,
  viewShard,
} from '../request/scalars.ts';

/** Certainty that the data stays. */
export const finality = named('FinalityState', oneOfStrings(['pending', 'confirmed', 'finalized']));

/** Fields of an account's state before or after a transaction (service/v3/README.md#account-states-of-transactions). */
export const accountStateFields = {
  hash,
  balance: orNull(intString),
  extra_currencies: orNull(extraCurrencies),
  account_status: orNull(anyText),
  frozen_hash: orNull(hash),
  data_hash: orNull(hash),
  code_hash: orNull(hash),
} as const;

const accountState = named('AccountState', object(accountStateFields));

/** A transaction (service/v3/README.md#transactions). */
const transactionItself = named(
  'Transaction',
  object({
    account: rawAddress,
    hash,
    lt: intString,
    now: integer,
    mc_block_seqno: integer,
    trace_id: optional(hash),
    trace_external_hash: optional(hash),
    prev_trans_hash: hash,
    prev_trans_lt: intString,
    orig_status: accountStatus,
    end_status: accountStatus,
    total_fees: intString,
    total_fees_extra_currencies: orNull(extraCurrencies),
    description,
    block_ref: blockId,
    in_msg: orNull(message),
    out_msgs: list(message),
    account_state_before: orNull(accountState),
    account_state_after: orNull(accountState),
    emulated: flag,
    finality,
  }),
);

export type TransactionView = Infer<typeof transactionItself>;

/** A transaction, written already or not. */
export const transaction: Shape<TransactionView | RawJson<TransactionView>> = transactionItself;

/** A transaction and its rendered data besides its own cell. */
export type ShownTransaction = {
  readonly table: CellTable;
  readonly transaction: Transaction;
  readonly hash: Uint8Array;
  readonly workchain: number;
  /** 64 bits, signed or not. */
  readonly shard: bigint;
  /** Seqno of its block. */
  readonly seqno: number;
  readonly mcSeqno: number;
  readonly traceId: Uint8Array | null;
  /** For messages outside of blocks: the normalized hash of the external message at the start of the trace. */
  readonly traceExternalHash?: Uint8Array;
  /** Version of the rules of its block; null if unknown. */
  readonly globalVersion: number | null;
  readonly finality: TransactionView['finality'];
  readonly emulated: boolean;
};

/** States of accounts by their hash in base64. */
export type StatesByHash = ReadonlyMap<string, Omit<AccountStateRow, 'hash'>>;

/** Hash of `account_none$0`: no account. */
const noAccountHash = 'kK7Illr6uxbrw8ubQI665xthjXh4i8gNCYQ1k8rJjaQ=';

type MessagesView = Pick<TransactionView, 'in_msg' | 'out_msgs'>;

/** The fields of a transaction before its messages. */
export function viewHead(shown: ShownTransaction): Omit<TransactionView, keyof MessagesView | keyof TailView> {
  const { table, transaction: read, workchain, traceId, traceExternalHash } = shown;
  return {
    account: formatRawAddress({ workchain, id: read.account }, 'upper'),
    hash: viewBytes(shown.hash),
    lt: read.lt.toString(),
    now: read.utime,
    mc_block_seqno: shown.mcSeqno,
    ...(traceId !== null && { trace_id: viewBytes(traceId) }),
    ...(traceExternalHash !== undefined && { trace_external_hash: viewBytes(traceExternalHash) }),
    prev_trans_hash: viewBytes(read.prevHash),
    prev_trans_lt: read.prevLt.toString(),
    orig_status: read.originalStatus,
    end_status: read.endStatus,
    total_fees: read.totalFees.grams.toString(),
    total_fees_extra_currencies: extraCurrenciesById(table, read.totalFees.extra),
    description: viewDescription(table, read.descr, workchain),
    block_ref: { workchain, shard: viewShard(shown.shard), seqno: shown.seqno },
  };
}

/** Data for the fields after the messages. */
export type TransactionTail = Pick<Transaction, 'stateUpdate' | 'originalStatus' | 'endStatus'> &
  Pick<ShownTransaction, 'emulated' | 'finality'>;

type TailView = Pick<TransactionView, 'account_state_before' | 'account_state_after' | 'emulated' | 'finality'>;

/** Fields of a transaction that depend on the index: states of its account, and whether it is simulated. */
export function viewTail(tail: TransactionTail, states: StatesByHash): TailView {
  const { stateUpdate, originalStatus, endStatus, emulated } = tail;
  return {
    account_state_before: viewState(stateUpdate.oldHash, originalStatus, states),
    account_state_after: viewState(stateUpdate.newHash, endStatus, states),
    emulated,
    finality: tail.finality,
  };
}

/** Messages of a transaction. */
export type OpenedMessages = {
  readonly taken: MessageView | null;
  /** Sent messages in lt order, viewed lazily: each may take some milliseconds. */
  readonly sent: Iterable<MessageView>;
};

/**
 * Views of the messages of a transaction.
 *
 * @param store receives cells that rendering has to build: a single store for an answer
 * @param contentsMax bytes of bodies and states, after which messages are shown without theirs; default: no bound
 */
export function openMessages(
  { table, transaction: { inMessage, outMessages }, globalVersion }: ShownTransaction,
  store: CellStore,
  contentsMax?: number,
): OpenedMessages {
  // A received order may contain the sent messages: their bodies are decoded once.
  const source = { table, globalVersion, store, decode: createBodyDecoder() };
  let left = contentsMax ?? 0;
  const view = (one: Message): MessageView => {
    const shown = viewMessage(one, { ...source, isBare: left < 0 });
    if (contentsMax !== undefined) left -= bytesOfContents(shown);
    return shown;
  };
  return {
    taken: inMessage === undefined ? null : view(inMessage),
    sent: outMessages.values().map(view),
  };
}

/** True if all rendered data of an account's states before and after is known. */
export function knowsStates({ stateUpdate }: TransactionTail, states: StatesByHash): boolean {
  return [stateUpdate.oldHash, stateUpdate.newHash].map(viewBytes).every((one) => isNoAccount(one) || states.has(one));
}

/** @param stateHash in base64 */
export function isNoAccount(stateHash: string): boolean {
  return stateHash === noAccountHash;
}

/** An indexed state; otherwise its hash and status from the transaction. */
function viewState(bytes: Buffer, status: AccountStatus, states: StatesByHash): Infer<typeof accountState> {
  const text = viewBytes(bytes);
  const state = states.get(text);
  if (state === undefined) return { ...unknownState(text), account_status: status };
  return {
    hash: text,
    balance: state.balance.toString(),
    extra_currencies: viewCurrencies(state),
    account_status: viewStatus(state.status),
    frozen_hash: viewBytesOrNull(state.frozen_hash),
    data_hash: viewBytesOrNull(state.data_hash),
    code_hash: viewBytesOrNull(state.code_hash),
  };
}

function unknownState(text: string): Omit<Infer<typeof accountState>, 'account_status'> {
  const isNone = isNoAccount(text);
  return {
    hash: text,
    balance: isNone ? '0' : null,
    extra_currencies: isNone ? {} : null,
    frozen_hash: null,
    data_hash: null,
    code_hash: null,
  };
}
