import { formatRawAddress } from '../decode/address.ts';
import { parseBoc } from '../decode/boc.ts';
import type { Boc } from '../decode/boc.ts';
import { writeBoc } from '../decode/boc-writer.ts';
import { CellSlice } from '../decode/cell-slice.ts';
import { readMessage } from '../decode/tlb/message.ts';
import type { Message } from '../decode/tlb/message.ts';
import { readTransaction } from '../decode/tlb/transaction.ts';
import type { Transaction } from '../decode/tlb/transaction.ts';
import type { AccountId } from '../live/accounts/accounts.ts';
import type { ChainSnapshot } from '../live/contracts/chain-snapshot.ts';
import { noState, readState } from './account-state.ts';
import type { PendingState } from './account-state.ts';

/** Simulated transaction, as a bag of cells and as parsed. */
export type SimulatedTransaction = {
  readonly workchain: number;
  readonly boc: Buffer;
  readonly table: Boc;
  readonly transaction: Transaction;
};

/** Everything that a message from outside leads to. */
export type SimulatedTrace = {
  /** Ordered by lt, then account. The first transaction belongs to the message. */
  readonly transactions: readonly SimulatedTransaction[];
  /** Accounts that have a transaction, as the last one leaves them: BoCs of `ShardAccount` by `workchain:hex`. */
  readonly after: ReadonlyMap<string, Buffer>;
  /** States before and after each of them, once each. */
  readonly states: readonly PendingState[];
  /** Accounts that were read, as they are in the chain. While they are unchanged, the simulation is unchanged. */
  readonly read: ReadonlyMap<string, Buffer>;
  /** Version of the chain's rules, which defines the fields of a message. */
  readonly version: number;
  /** Messages between accounts that were not followed, because there are too many of them. */
  readonly left: number;
};

export type EmulatedTrace =
  | ({ readonly kind: 'foreseen' } & SimulatedTrace)
  /** The message would not be accepted now. */
  | { readonly kind: 'rejected'; readonly error: string; readonly read: ReadonlyMap<string, Buffer> };

/** Transactions of one trace: ten times a usual exchange of tokens. */
const TRANSACTIONS_MAX = 128;

/** Depth of messages. A contract that calls itself would continue for ever. */
const DEPTH_MAX = 32;

/** Blocks start at such lts. */
const LT_STEP = 1_000_000n;

type Waiting = {
  readonly message: Buffer;
  readonly account: AccountId;
  readonly createdLt: bigint;
  readonly depth: number;
};

/**
 * Simulates a message from outside on the accounts of the world, then every message that it leads to, breadth first.
 * Each message sees the accounts as the messages before left them (service/v3/README.md#pending).
 * @param message a bag of cells that `readExternalMessage` made
 * Rejects as `ChainSnapshot` does.
 */
export async function emulateTrace(world: ChainSnapshot, message: Buffer): Promise<EmulatedTrace> {
  const read = new Map<string, Buffer>();
  const after = new Map<string, Buffer>();
  const transactions: SimulatedTransaction[] = [];
  const states = new Map<string, PendingState>();
  const stateOf = async (account: AccountId): Promise<Buffer> => {
    const key = formatRawAddress(account);
    const known = after.get(key) ?? read.get(key);
    if (known !== undefined) return known;
    const found = await world.readShardAccount(account);
    read.set(key, found);
    return found;
  };
  const root = destinationOf(parseBoc(message));
  if (root === undefined) return { kind: 'rejected', error: 'the message is to no account', read };
  const baseLt = (lastLt(await stateOf(root)) / LT_STEP + 1n) * LT_STEP;
  const waiting: Waiting[] = [{ message, account: root, createdLt: 0n, depth: 0 }];
  let left = 0;
  for (const { message: one, account, createdLt, depth } of waiting) {
    if (transactions.length >= TRANSACTIONS_MAX || depth >= DEPTH_MAX) {
      left++;
      continue;
    }
    const before = await stateOf(account);
    const lt = createdLt >= baseLt ? createdLt + 1n : baseLt;
    const result = await world.emulate({ shardAccount: before, message: one, lt });
    if (result.kind === 'rejected') {
      if (depth === 0) return { kind: 'rejected', error: result.error, read };
      left++;
      continue;
    }
    after.set(formatRawAddress(account), result.shardAccount);
    const table = parseBoc(result.transaction);
    const transaction = readTransaction(table, table.roots[0]!);
    transactions.push({ workchain: account.workchain, boc: result.transaction, table, transaction });
    keepState(states, transaction.stateUpdate.oldHash, before);
    keepState(states, transaction.stateUpdate.newHash, result.shardAccount);
    waiting.push(...sentBy(table, transaction, depth + 1));
  }
  transactions.sort((a, b) => compareLts(a.transaction, b.transaction));
  const version = await world.readVersion();
  return { kind: 'foreseen', transactions, after, states: [...states.values()], read, version, left };
}

function keepState(states: Map<string, PendingState>, hash: Buffer, shardAccount: Buffer): void {
  const key = hash.toString('hex');
  if (states.has(key)) return;
  const table = parseBoc(shardAccount);
  const account = new CellSlice(table, table.roots[0]!).ref();
  states.set(key, readState(table, account) ?? noState(hash));
}

function* sentBy(table: Boc, { outMessages }: Transaction, depth: number): Generator<Waiting> {
  for (const { cell, info } of outMessages) {
    if (info.kind !== 'internal' || info.destination.variable) continue;
    const { workchain, id } = info.destination;
    const message = writeBoc(table, [cell]);
    yield { message, account: { workchain, id }, createdLt: info.createdLt, depth };
  }
}

/** Destination of a message from outside; undefined for an address with another length than accounts have. */
function destinationOf(table: Boc): AccountId | undefined {
  const { info }: Message = readMessage(table, table.roots[0]!);
  if (info.kind !== 'externalIn' || info.destination.variable) return undefined;
  return { workchain: info.destination.workchain, id: info.destination.id };
}

/** `account_descr$_ account:^Account last_trans_hash:bits256 last_trans_lt:uint64`. */
function lastLt(shardAccount: Buffer): bigint {
  const table = parseBoc(shardAccount);
  const slice = new CellSlice(table, table.roots[0]!);
  slice.skip(256);
  return slice.uint64();
}

function compareLts(a: Transaction, b: Transaction): number {
  if (a.lt !== b.lt) return a.lt < b.lt ? -1 : 1;
  return Buffer.compare(a.account, b.account);
}
