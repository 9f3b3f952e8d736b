import { parseBoc } from '#service/decode/boc.ts';
import { CellSlice } from '#service/decode/cell-slice.ts';
import type { CellStore } from '#service/decode/cell-store.ts';
import { readAccount } from '#service/decode/tlb/account.ts';
import type { NewAccountBlock } from '#service/decode/tlb/account-blocks.ts';
import { storeHashUpdate } from '#service/decode/tlb/hash-update.ts';
import type { ShardAccount, ShardAccountChange } from '#service/decode/tlb/shard-account.ts';
import { findShardAccount } from '#service/decode/tlb/shard-account.ts';
import type { Transaction } from '#service/decode/tlb/transaction.ts';
import { readTransaction } from '#service/decode/tlb/transaction.ts';
import { NO_TRANSACTION, writeShardAccount } from '#service/tvm/shard-account.ts';
import type { Executor, Outcome, Work } from './executor.ts';
import { importBoc } from './executor.ts';
import { librariesOf, type LibraryChange } from './public-libraries.ts';

/** The accounts of a chain while a block of it is made. */
export type BlockAccounts = {
  /** Makes a transaction. Its cells are added to the block's store. */
  run(id: Buffer, message: Work['message'], lt: bigint): Execution;
  /** Nanotons of an account after its transactions so far. */
  balanceOf(id: Buffer): bigint;
  /** Account ids with transactions, and what became of them. */
  finish(): FinishedAccounts;
};

export type Execution =
  | {
      readonly kind: 'done';
      readonly transaction: Transaction;
      /** Above the lt of the transaction and of its messages. */
      readonly endLt: bigint;
    }
  | Extract<Outcome, { kind: 'rejected' }>;

export type FinishedAccounts = {
  readonly blocks: readonly NewAccountBlock[];
  /** Changes for the state's dictionary. Accounts are in the store of states. */
  readonly changes: readonly ShardAccountChange[];
  /** Accounts of which libraries may have changed: roots of their dictionaries before and after, in the store of states. */
  readonly libraries: readonly LibraryChange[];
};

type OpenAccount = {
  readonly id: Buffer;
  readonly before: ShardAccount | undefined;
  /** `ShardAccount` after the last transaction, as the executor takes it. */
  text: string;
  readonly transactions: Transaction[];
};

/** An account that does not exist: `account_none$0`. */
function storeNoAccount(store: CellStore): number {
  return store.add({ data: Buffer.alloc(1), bitLength: 1, refs: [] });
}

/**
 * @param accounts cell of `ShardAccounts` in `states`
 * @param cells the block's store
 * @param requireKnown throws for an account that a fork has not requested yet
 */
export function openAccounts(
  { states, cells, accounts }: { readonly states: CellStore; readonly cells: CellStore; readonly accounts: number },
  executor: Executor,
  requireKnown: (id: Buffer) => void = () => {},
): BlockAccounts {
  const opened = new Map<string, OpenAccount>();

  function open(id: Buffer): OpenAccount {
    const key = id.toString('latin1');
    const known = opened.get(key);
    if (known !== undefined) return known;
    const before = findShardAccount(states, accounts, id);
    if (before === undefined) requireKnown(id);
    const boc = before
      ? writeShardAccount(
          { table: states, cell: before.account },
          { hash: before.lastTransactionHash, lt: before.lastTransactionLt },
        )
      : writeShardAccount(undefined, NO_TRANSACTION);
    const account = { id, before, text: boc.toString('base64'), transactions: [] };
    opened.set(key, account);
    return account;
  }

  function finishOne(account: OpenAccount): {
    block: NewAccountBlock;
    change: ShardAccountChange;
    libraries: LibraryChange;
  } {
    const { id, before, text, transactions } = account;
    // The state contains the account below the emulator's `ShardAccount` cell, but not that cell itself.
    const boc = parseBoc(Buffer.from(text, 'base64'));
    const slice = new CellSlice(boc, boc.roots[0]!);
    const after = states.import(boc, slice.ref());
    const [lastTransactionHash, lastTransactionLt] = [slice.hash(), slice.uint64()];
    const [oldCell, isThere] = [before?.account ?? storeNoAccount(states), readAccount(states, after) !== undefined];
    const stateUpdate = storeHashUpdate(cells, { oldHash: states.hash(oldCell), newHash: states.hash(after) });
    const listed = transactions.map(({ lt, cell, totalFees }) => ({ lt, cell, totalFees }));
    return {
      block: { account: id, transactions: listed, stateUpdate },
      change: { id, account: isThere ? { account: after, lastTransactionHash, lastTransactionLt } : undefined },
      libraries: { id, before: librariesOf(states, before?.account), after: librariesOf(states, after) },
    };
  }

  return {
    run(id, message, lt) {
      const account = open(id);
      const outcome = executor.run({ account: account.text, message, lt });
      if (outcome.kind === 'rejected') return outcome;
      const transaction = readTransaction(cells, importBoc(cells, outcome.transaction));
      account.text = outcome.account;
      account.transactions.push(transaction);
      return { kind: 'done', transaction, endLt: transaction.lt + BigInt(transaction.outMessageCount) + 1n };
    },
    balanceOf(id) {
      const boc = parseBoc(Buffer.from(open(id).text, 'base64'));
      return readAccount(boc, boc.ref(boc.roots[0]!, 0))?.balance.grams ?? 0n;
    },
    finish() {
      const used = [...opened.values()].filter(({ transactions }) => transactions.length > 0).map(finishOne);
      return {
        blocks: used.map(({ block }) => block),
        changes: used.map(({ change }) => change),
        libraries: used.map(({ libraries }) => libraries).filter(({ before, after }) => before !== after),
      };
    },
  };
}
