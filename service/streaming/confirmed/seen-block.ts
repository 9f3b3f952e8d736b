import { formatRawAddress } from '#service/decode/address.ts';
import type { BlockId } from '#service/decode/block-id.ts';
import { parseProvedBoc, type Boc } from '#service/decode/boc.ts';
import type { CellTable } from '#service/decode/cell-table.ts';
import { readAccount } from '#service/decode/tlb/account.ts';
import { readBlockTransactions } from '#service/decode/tlb/account-blocks.ts';
import { ACCOUNT_STATUS_TAGS } from '#service/decode/tlb/account-status.ts';
import { readBlock } from '#service/decode/tlb/block.ts';
import { extraCurrenciesById } from '#service/decode/tlb/currency-collection.ts';
import { digestBody, type Message } from '#service/decode/tlb/message.ts';
import { normalizedMessageHash } from '#service/decode/tlb/normalized-message.ts';
import { findShardAccount } from '#service/decode/tlb/shard-account.ts';
import { readShardState } from '#service/decode/tlb/shard-state.ts';
import type { Transaction } from '#service/decode/tlb/transaction.ts';
import type { BlockFile } from '#service/live/blocks/block-files.ts';
import { viewBytes } from '#service/v3/request/scalars.ts';
import type { StatesByHash } from '#service/v3/views/transaction-views.ts';
import type { AccountKey } from '../changes.ts';
import type { LinkedBlock, LinkedTransaction } from './open-traces.ts';

/** A transaction of a block that is signed or final. */
export type SeenTransaction = LinkedTransaction & {
  readonly account: AccountKey;
  readonly workchain: number;
  readonly table: Boc;
  readonly transaction: Transaction;
};

/** A block that is signed or final, with its transactions opened. */
export type SeenBlock = LinkedBlock<SeenTransaction> & {
  readonly previous: readonly BlockId[];
  /** States that the block leaves its accounts in, by their hashes, as far as its own cells show them. */
  readonly states: StatesByHash;
  /** Cells of the data of these states, as far as the block changed them. */
  readonly data: ReadonlyMap<string, number>;
  readonly table: CellTable;
};

/**
 * Opens a block's file.
 * @throws DecodeError
 */
export function openSeenBlock({ id, boc, previous }: BlockFile): SeenBlock {
  const table = parseProvedBoc(boc);
  const root = table.roots[0]!;
  const opened = readBlockTransactions(table, root).toSorted(byLt);
  const transactions = opened.map((transaction) => openTransaction(table, transaction, id.workchain));
  return { name: blockName(id), id, previous, transactions, table, ...statesAfter(table, root, opened) };
}

export function blockName({ rootHash }: BlockId): string {
  return rootHash.toString('hex');
}

function openTransaction(table: Boc, transaction: Transaction, workchain: number): SeenTransaction {
  const { inMessage, outMessages } = transaction;
  const hashOf = ({ cell }: Message): string => table.hash(cell).toString('hex');
  return {
    hash: table.hash(transaction.cell).toString('hex'),
    account: formatRawAddress({ workchain, id: transaction.account }, 'upper'),
    root: inMessage?.info.kind === 'externalIn' ? keyOf(table, inMessage) : null,
    taken: inMessage === undefined ? null : hashOf(inMessage),
    sent: outMessages.filter(({ info }) => info.kind === 'internal').map(hashOf),
    workchain,
    table,
    transaction,
  };
}

function keyOf(table: CellTable, { cell, body }: Message): string {
  return normalizedMessageHash(table, cell, digestBody(table, body)).toString('hex');
}

/** An account that the block changed is on the new side of its update; its code and data may be pruned there. */
function statesAfter(
  table: CellTable,
  root: number,
  transactions: readonly Transaction[],
): Pick<SeenBlock, 'states' | 'data'> {
  const { accounts } = readShardState(table, table.ref(readBlock(table, root).stateUpdate, 1));
  const states = new Map<string, NonNullable<ReturnType<StatesByHash['get']>>>();
  const data = new Map<string, number>();
  if (table.kind(accounts) === 'pruned') return { states, data };
  for (const last of lastOfAccounts(transactions)) {
    const found = findShardAccount(table, accounts, last.account, { skipPruned: true });
    if (found === undefined || table.kind(found.account) !== 'ordinary') continue;
    const read = readAccount(table, found.account);
    if (read === undefined) continue;
    const { balance, state } = read;
    const init = state.kind === 'active' ? state.init : undefined;
    const hashOf = (cell: number | undefined): Buffer | null => (cell === undefined ? null : table.hash(cell, 0));
    const { extra } = balance;
    const name = viewBytes(last.stateUpdate.newHash);
    if (init?.data !== undefined && table.kind(init.data) === 'ordinary') data.set(name, init.data);
    states.set(name, {
      balance: balance.grams,
      extra_currencies: extra === undefined || table.levelMask(extra) !== 0 ? null : extraCurrenciesById(table, extra),
      status: ACCOUNT_STATUS_TAGS[state.kind],
      frozen_hash: state.kind === 'frozen' ? state.stateHash : null,
      data_hash: hashOf(init?.data),
      code_hash: hashOf(init?.code),
    });
  }
  return { states, data };
}

/** The last transaction of each account. @param transactions by lt */
export function lastOfAccounts<T extends Pick<Transaction, 'account'>>(transactions: readonly T[]): readonly T[] {
  return [...new Map(transactions.map((one) => [one.account.toString('latin1'), one])).values()];
}

function byLt(one: Transaction, other: Transaction): number {
  if (one.lt !== other.lt) return one.lt < other.lt ? -1 : 1;
  return Buffer.compare(one.account, other.account);
}
