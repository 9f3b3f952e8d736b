import { CellSlice } from '../cell-slice.ts';
import type { CellTable } from '../cell-table.ts';
import { DecodeError } from '../errors.ts';
import { walkHashmap } from '../hashmap.ts';
import { readAccountStatus } from './account-status.ts';
import type { AccountStatus } from './account-status.ts';
import { readCurrencyCollection, skipCurrencyCollection } from './currency-collection.ts';
import type { CurrencyCollection } from './currency-collection.ts';
import { readHashUpdate } from './hash-update.ts';
import type { HashUpdate } from './hash-update.ts';
import { readMessage, readReceiver, readSender } from './message.ts';
import type { Message } from './message.ts';
import type { InternalAddress } from './message-address.ts';
import { readTransactionDescr } from './transaction-descr.ts';
import type { TransactionDescr } from './transaction-descr.ts';

/** Change of one account, with its incoming and outgoing messages. */
export type Transaction = {
  /** Cell of the transaction; its hash identifies the transaction. */
  readonly cell: number;
  /** Account id, 32 bytes; the workchain is the block's. */
  readonly account: Buffer;
  readonly lt: bigint;
  readonly prevHash: Buffer;
  readonly prevLt: bigint;
  /** Unix seconds. */
  readonly utime: number;
  readonly outMessageCount: number;
  readonly originalStatus: AccountStatus;
  readonly endStatus: AccountStatus;
  readonly inMessage: Message | undefined;
  /** Outgoing messages in the order in which they were sent. */
  readonly outMessages: readonly Message[];
  readonly totalFees: CurrencyCollection;
  /** Hashes of the account's state. */
  readonly stateUpdate: HashUpdate;
  readonly descr: TransactionDescr;
};

/**
 * `transaction$0111 account_addr:bits256 lt:uint64 prev_trans_hash:bits256 prev_trans_lt:uint64 now:uint32 outmsg_cnt:uint15
 * orig_status:AccountStatus end_status:AccountStatus ^[ in_msg:(Maybe ^(Message Any)) out_msgs:(HashmapE 15 ^(Message Any)) ]
 * total_fees:CurrencyCollection state_update:^(HASH_UPDATE Account) description:^TransactionDescr`.
 * Throws DecodeError; `bad_value` when the count of outgoing messages is wrong.
 */
export function readTransaction(table: CellTable, cell: number): Transaction {
  const slice = new CellSlice(table, cell);
  slice.expectTag(4, 7, 'Transaction');
  const account = slice.hash();
  const lt = slice.uint64();
  const prevHash = slice.hash();
  const prevLt = slice.uint64();
  const utime = slice.uint(32);
  const outMessageCount = slice.uint(15);
  const originalStatus = readAccountStatus(slice);
  const endStatus = readAccountStatus(slice);
  const messages = slice.refSlice();
  const inMessage = messages.bit() ? readMessage(table, messages.ref()) : undefined;
  const outMessages = readOutMessages(table, messages, outMessageCount);
  return {
    cell,
    account,
    lt,
    prevHash,
    prevLt,
    utime,
    outMessageCount,
    originalStatus,
    endStatus,
    inMessage,
    outMessages,
    totalFees: readCurrencyCollection(slice),
    stateUpdate: readHashUpdate(table, slice.ref()),
    descr: readTransactionDescr(table, slice.ref()),
  };
}

/** Part of a transaction that is available without reading its messages whole. */
export type TransactionOutline = Pick<
  Transaction,
  'account' | 'outMessageCount' | 'originalStatus' | 'endStatus' | 'stateUpdate'
> & {
  /** Sender of the received message and receivers of the sent messages, without addresses outside the chain. Undefined for a missing address. */
  readonly parties: readonly (InternalAddress | undefined)[];
};

/** Reads the outline of a transaction, like `readTransaction` without its checks of the rest. Throws DecodeError. */
export function readTransactionOutline(table: CellTable, cell: number): TransactionOutline {
  const slice = new CellSlice(table, cell);
  slice.expectTag(4, 7, 'Transaction');
  const account = slice.hash();
  slice.skip(64 + 256 + 64 + 32);
  const outMessageCount = slice.uint(15);
  const originalStatus = readAccountStatus(slice);
  const endStatus = readAccountStatus(slice);
  const messages = slice.refSlice();
  const parties: (InternalAddress | undefined)[] = [];
  const sender = messages.bit() ? readSender(table, messages.ref()) : null;
  if (sender !== null) parties.push(sender);
  eachOutMessage(table, messages, outMessageCount, (message) => {
    const receiver = readReceiver(table, message);
    if (receiver !== null) parties.push(receiver);
  });
  skipCurrencyCollection(slice);
  return {
    account,
    outMessageCount,
    originalStatus,
    endStatus,
    stateUpdate: readHashUpdate(table, slice.ref()),
    parties,
  };
}

function readOutMessages(table: CellTable, messages: CellSlice, count: number): Message[] {
  const out: Message[] = [];
  eachOutMessage(table, messages, count, (message) => out.push(readMessage(table, message)));
  return out;
}

/** Visits outgoing messages in the order in which they were sent. Throws DecodeError `bad_value` when their number is not `count`. */
function eachOutMessage(table: CellTable, messages: CellSlice, count: number, visit: (cell: number) => void): void {
  let found = 0;
  walkHashmap(table, messages.maybeRef(), 15, (_, value) => {
    // A dictionary over shared cells may spell far more messages than the transaction counts.
    if (++found > count) throw wrongCount(messages.cell, count);
    visit(value.ref());
  });
  if (found !== count) throw wrongCount(messages.cell, count);
}

function wrongCount(cell: number, count: number): DecodeError {
  return new DecodeError('bad_value', 'A transaction states another number of messages than it has.', {
    cell,
    limit: count,
  });
}
