import type { BlockId } from '#service/decode/block-id.ts';
import type { CellTable } from '#service/decode/cell-table.ts';
import { readAccount } from '#service/decode/tlb/account.ts';
import type { AccountState } from '#service/decode/tlb/account.ts';
import { listExtraCurrencies } from '#service/decode/tlb/currency-collection.ts';
import type { TimeSlice } from '#service/runtime/time-slice.ts';
import type { OpenedShardAccount } from '#service/tvm/shard-account.ts';
import type { AccountId, LiveAccount } from './accounts.ts';
import type { PinnedBlock } from '../pinned-block.ts';
import { hashInSlices, writePlainInSlices } from './paced-cells.ts';

/** An account's cell and last transaction, and the shard block that holds it. */
export type FoundAccount = {
  /** Undefined when the masterchain block has no shard of the account's workchain. */
  readonly shard: { readonly block: BlockId; readonly utime: number } | undefined;
  /** Undefined when the state does not hold the account. */
  readonly entry:
    | {
        readonly table: CellTable;
        /** Cell of `Account`. */
        readonly cell: number;
        readonly lastTransactionHash: Buffer;
        readonly lastTransactionLt: bigint;
      }
    | undefined;
};

/** Live account without `suspended`, which the configuration decides. */
export type AccountView = Omit<LiveAccount, 'suspended'> & {
  /** Hashes of the root cells of code and data; null without them. */
  readonly codeHash: Buffer | null;
  readonly dataHash: Buffer | null;
};

const noTransaction = { lt: 0n, hash: Buffer.alloc(32) };

const noState = { balance: 0n, extraCurrencies: [], stateHash: null };

/**
 * Account as callers see it. An account that the state lacks is uninitialized and empty.
 * In a workchain without shards this holds as of the masterchain block.
 * Rejects with DecodeError when the account's cells are no `Account`, and as `write` does.
 */
export async function viewAccount(
  account: AccountId,
  pinned: PinnedBlock,
  { shard, entry }: FoundAccount,
  write: WriteBag,
): Promise<AccountView> {
  const place = {
    account,
    masterchainBlock: pinned.block,
    shardBlock: shard?.block ?? pinned.block,
    shardUtime: shard?.utime ?? pinned.utime,
  };
  const state = entry && readAccount(entry.table, entry.cell);
  const lastTransaction = entry ? { lt: entry.lastTransactionLt, hash: entry.lastTransactionHash } : noTransaction;
  if (entry === undefined || state === undefined) {
    return { ...place, ...noContract, ...noState, lastTransaction };
  }
  return {
    ...place,
    ...(await viewState(state.state, entry.table, write)),
    balance: state.balance.grams,
    extraCurrencies: listExtraCurrencies(entry.table, state.balance.extra),
    stateHash: entry.table.hash(entry.cell, 0),
    lastTransaction,
  };
}

/**
 * An account as a run of the TVM left it.
 * Rejects with DecodeError, and when the time slice ends.
 */
export async function viewSimulated(
  account: AccountId,
  pinned: PinnedBlock,
  { shardAccount, timeSlice }: { readonly shardAccount: OpenedShardAccount; readonly timeSlice: TimeSlice },
): Promise<AccountView> {
  const { table, account: cell, lastTransaction } = shardAccount;
  await hashInSlices(table, timeSlice);
  const entry = { table, cell, lastTransactionHash: lastTransaction.hash, lastTransactionLt: lastTransaction.lt };
  // No caller sees these bags, so the order of their cells is free.
  const write: WriteBag = (root) => writePlainInSlices(table, root.cell, timeSlice);
  return viewAccount(account, pinned, { shard: undefined, entry }, write);
}

type StateView = Pick<AccountView, 'state' | 'code' | 'data' | 'codeHash' | 'dataHash' | 'frozenHash'>;

/** Writes a bag of a cell and all cells below it. */
type WriteBag = (root: { readonly table: CellTable; readonly cell: number }) => Buffer | Promise<Buffer>;

const noCells = { code: null, data: null, codeHash: null, dataHash: null };

const noContract: StateView = { state: 'uninitialized', ...noCells, frozenHash: null };

async function viewState(state: AccountState, table: CellTable, write: WriteBag): Promise<StateView> {
  if (state.kind === 'frozen') return { state: 'frozen', ...noCells, frozenHash: state.stateHash };
  if (state.kind !== 'active') return noContract;
  const { code, data } = state.init;
  return {
    state: 'active',
    code: code === undefined ? null : await write({ table, cell: code }),
    data: data === undefined ? null : await write({ table, cell: data }),
    codeHash: code === undefined ? null : table.hash(code),
    dataHash: data === undefined ? null : table.hash(data),
    frozenHash: null,
  };
}
