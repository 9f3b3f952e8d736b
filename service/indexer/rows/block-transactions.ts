import { CellSlice } from '#service/decode/cell-slice.ts';
import type { CellTable } from '#service/decode/cell-table.ts';
import { walkHashmap } from '#service/decode/hashmap.ts';
import { walkAccountBlocks, walkAccountTransactions } from '#service/decode/tlb/account-blocks.ts';
import { accountKey } from '#service/store/account-key.ts';
import type { OpenBlock } from './open-block.ts';

/** Of a transaction what rows need; the rest is in its BoC. */
export type FoundTransaction = {
  readonly cell: number;
  readonly lt: bigint;
  /** 0 for an account's first. */
  readonly prevLt: bigint;
  readonly utime: number;
  /** As `AccountStatus` is encoded. */
  readonly originalStatus: number;
  readonly endStatus: number;
  /** Cells of messages. */
  readonly inMessage: number | undefined;
  readonly outMessages: readonly number[];
  /** Cell of the hashes of the account's state. */
  readonly stateUpdate: number;
};

/** What one account did in a block, by lt. */
export type AccountActivity = {
  readonly id: Buffer;
  /** The account as columns hold it. */
  readonly account: Buffer;
  readonly transactions: readonly FoundTransaction[];
};

/** All transactions of a block, by account and lt. */
export function findTransactions({ id, table, extra }: OpenBlock): AccountActivity[] {
  const activities: AccountActivity[] = [];
  walkAccountBlocks(table, extra.accountBlocks, (block) => {
    const transactions: FoundTransaction[] = [];
    walkAccountTransactions(block, (_, cell) => {
      transactions.push(findTransaction(table, cell));
    });
    const account = accountKey({ workchain: id.workchain, id: block.account });
    activities.push({ id: block.account, account, transactions });
  });
  return activities;
}

/** As `readTransaction` of decode, without copies of what nobody asks for. */
function findTransaction(table: CellTable, cell: number): FoundTransaction {
  const slice = new CellSlice(table, cell);
  slice.expectTag(4, 7, 'Transaction');
  slice.skip(256);
  const lt = slice.uint64();
  slice.skip(256);
  const prevLt = slice.uint64();
  const utime = slice.uint(32) | 0;
  slice.skip(15);
  const originalStatus = slice.uint(2);
  const endStatus = slice.uint(2);
  const messages = slice.refSlice();
  const inMessage = messages.maybeRef();
  const outMessages = listOutMessages(table, messages);
  slice.skipVarUint(16);
  slice.maybeRef();
  return { cell, lt, prevLt, utime, originalStatus, endStatus, inMessage, outMessages, stateUpdate: slice.ref() };
}

const NO_MESSAGES: readonly number[] = [];

function listOutMessages(table: CellTable, messages: CellSlice): readonly number[] {
  const root = messages.maybeRef();
  if (root === undefined) return NO_MESSAGES;
  const cells: number[] = [];
  walkHashmap(table, root, 15, (_, value) => {
    cells.push(value.ref());
  });
  return cells;
}
