import { CellSlice } from '../cell-slice.ts';
import type { CellTable } from '../cell-table.ts';
import { DecodeError } from '../errors.ts';
import { walkHashmap } from '../hashmap.ts';
import { readAccountStatus } from './account-status.ts';
import type { AccountStatus } from './account-status.ts';
import { readCurrencyCollection } from './currency-collection.ts';
import type { CurrencyCollection } from './currency-collection.ts';
import { readHashUpdate } from './hash-update.ts';
import type { HashUpdate } from './hash-update.ts';
import { readMessage } from './message.ts';
import type { Message } from './message.ts';
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

/** Returns outgoing messages in the order in which they were sent. Throws DecodeError `bad_value` when their number is not `count`. */
function readOutMessages(table: CellTable, messages: CellSlice, count: number): readonly Message[] {
  const sent: Message[] = [];
  walkHashmap(table, messages.maybeRef(), 15, (_, value) => {
    // A dictionary over shared cells may spell far more messages than the transaction counts.
    if (sent.length === count) throw wrongCount(messages.cell, count);
    sent.push(readMessage(table, value.ref()));
  });
  if (sent.length !== count) throw wrongCount(messages.cell, count);
  return sent;
}

function wrongCount(cell: number, count: number): DecodeError {
  return new DecodeError('bad_value', 'A transaction states another number of messages than it has.', {
    cell,
    limit: count,
  });
}
