import { formatRawAddress } from '#service/decode/address.ts';
import type { BlockId } from '#service/decode/block-id.ts';
import { parseProvedBoc, type Boc } from '#service/decode/boc.ts';
import type { CellTable } from '#service/decode/cell-table.ts';
import { DecodeError } from '#service/decode/errors.ts';
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
  /** States of its accounts before and after the block, by their hashes, as far as its own cells show them. */
  readonly states: StatesByHash;
  /** Cells of the data of the states after the block, as far as the block changed them. */
  readonly data: ReadonlyMap<string, number>;
  readonly table: CellTable;
};

/**
 * Opens a block's file.
 * @throws DecodeError
 */
export function openSeenBlock({ id, boc, previous }: Pick<BlockFile, 'id' | 'boc' | 'previous'>): SeenBlock {
  const table = parseProvedBoc(boc);
  const root = table.roots[0]!;
  const opened = readBlockTransactions(table, root).toSorted(byLt);
  const transactions = opened.map((transaction) => openTransaction(table, transaction, id.workchain));
  return {
    name: blockName(id),
    id,
    previous,
    transactions,
    table,
    ...statesAround(table, root, { transactions: opened, previous }),
  };
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

type States = Map<string, NonNullable<ReturnType<StatesByHash['get']>>>;

type Opened = Pick<SeenBlock, 'previous'> & { readonly transactions: readonly Transaction[] };

/** An account that the block changed is on both sides of its update; its code and data may be pruned there. */
function statesAround(
  table: CellTable,
  root: number,
  { transactions, previous }: Opened,
): Pick<SeenBlock, 'states' | 'data'> {
  const { stateUpdate } = readBlock(table, root);
  const states: States = new Map();
  const data = new Map<string, number>();
  // After a merge the old side has two states.
  if (previous.length === 1) {
    const first = lastOfAccounts(transactions.toReversed());
    readStates(table, table.ref(stateUpdate, 0), first, ({ stateUpdate: { oldHash } }, read) =>
      states.set(viewBytes(oldHash), viewStored(table, read)),
    );
  }
  readStates(table, table.ref(stateUpdate, 1), lastOfAccounts(transactions), ({ stateUpdate: { newHash } }, read) => {
    const name = viewBytes(newHash);
    states.set(name, viewStored(table, read));
    const cell = initOf(read)?.data;
    if (cell !== undefined && table.kind(cell) === 'ordinary') data.set(name, cell);
  });
  return { states, data };
}

type Stored = NonNullable<ReturnType<typeof readAccount>>;

/** Finds the accounts of transactions on one side of the update of a block. The old side may be pruned as a whole. */
function readStates(
  table: CellTable,
  side: number,
  transactions: readonly Transaction[],
  onRead: (of: Transaction, read: Stored) => void,
): void {
  if (table.kind(side) === 'pruned') return;
  const { accounts } = readShardState(table, side);
  if (table.kind(accounts) === 'pruned') return;
  for (const one of transactions) {
    const read = readStored(table, accounts, one);
    if (read !== undefined) onRead(one, read);
  }
}

/** Undefined also for an account of which a part is pruned: a block does not read all cells of its old side. */
function readStored(table: CellTable, accounts: number, { account }: Transaction): Stored | undefined {
  try {
    const found = findShardAccount(table, accounts, account, { skipPruned: true });
    if (found === undefined || table.kind(found.account) !== 'ordinary') return undefined;
    return readAccount(table, found.account);
  } catch (error) {
    if (error instanceof DecodeError && error.code === 'pruned_branch') return undefined;
    throw error;
  }
}

function initOf({ state }: Stored) {
  return state.kind === 'active' ? state.init : undefined;
}

function viewStored(table: CellTable, read: Stored): NonNullable<ReturnType<StatesByHash['get']>> {
  const { balance, state } = read;
  const init = initOf(read);
  const hashOf = (cell: number | undefined): Buffer | null => (cell === undefined ? null : table.hash(cell, 0));
  const { extra } = balance;
  return {
    balance: balance.grams,
    extra_currencies: extra === undefined || table.levelMask(extra) !== 0 ? null : extraCurrenciesById(table, extra),
    status: ACCOUNT_STATUS_TAGS[state.kind],
    frozen_hash: state.kind === 'frozen' ? state.stateHash : null,
    data_hash: hashOf(init?.data),
    code_hash: hashOf(init?.code),
  };
}

/** The last transaction of each account. @param transactions by lt */
export function lastOfAccounts<T extends Pick<Transaction, 'account'>>(transactions: readonly T[]): readonly T[] {
  return [...new Map(transactions.map((one) => [one.account.toString('latin1'), one])).values()];
}

function byLt(one: Transaction, other: Transaction): number {
  if (one.lt !== other.lt) return one.lt < other.lt ? -1 : 1;
  return Buffer.compare(one.account, other.account);
}
