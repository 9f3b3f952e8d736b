import { createBagReader, type BagReader } from '#service/decode/boc.ts';
import { DecodeError } from '#service/decode/errors.ts';
import { createTimeSlice, mapInSlices, type TimeSlice } from '#service/runtime/time-slice.ts';
import { hashKey } from '#service/store/hash-key.ts';
import type { FoundTransaction } from '#service/store/queries/transactions.ts';
import type { ActionNetwork } from '#service/v3/action-details/action-derived.ts';
import type { StatesByHash } from '#service/v3/views/transaction-views.ts';
import type { Change, Position, StreamTransaction } from '../changes.ts';
import { viewJettonChange, viewStateChanges } from './account-changes.ts';
import type { BlockRows } from './block-rows.ts';
import { openRow, streamTransaction, type OpenedTransaction } from './opened-transaction.ts';
import { viewTraceChange } from './trace-change.ts';

/** A block with its transactions opened. */
export type OpenedBlock = {
  readonly rows: BlockRows;
  /** Readable transactions by the key of their hash. */
  readonly opened: ReadonlyMap<string, OpenedTransaction>;
};

export type BlockChangesDependencies = {
  readonly network: ActionNetwork;
  /** States of accounts by their hashes in base64. */
  readonly states: StatesByHash;
};

/** Opens the transactions of a block. Transactions that no reader understands are left out. */
export async function openBlock(rows: BlockRows, signal: AbortSignal): Promise<OpenedBlock> {
  const readBag = createBagReader();
  const all = [...rows.earlier, ...rows.transactions];
  const opened = await mapInSlices(all, (row) => openReadable(row, readBag), createTimeSlice(signal));
  return { rows, opened: new Map(opened.flatMap((one) => (one === undefined ? [] : [[keyOf(one.row), one]]))) };
}

function openReadable(row: FoundTransaction, readBag: BagReader): OpenedTransaction | undefined {
  try {
    return openRow(row, readBag);
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    return undefined;
  }
}

/** Hashes of the states before and after all transactions and edits. */
export function statesOf({ rows, opened }: OpenedBlock): readonly Buffer[] {
  const ofTransactions = [...opened.values()].flatMap(({ tail }) => [
    tail.stateUpdate.oldHash,
    tail.stateUpdate.newHash,
  ]);
  return [...ofTransactions, ...rows.edits.map(({ hash }) => hash)];
}

/** The changes of a block, in their one order: traces by their end, then states, then jettons. */
export async function changesOfBlock(
  { rows, opened }: OpenedBlock,
  { network, states }: BlockChangesDependencies,
  signal: AbortSignal,
): Promise<readonly Change[]> {
  const slice = createTimeSlice(signal);
  const changes: Change[] = [];
  const next = (): Position => ({ mcSeqno: rows.mcSeqno, index: changes.length });
  const stream = createStream(states, slice);
  const earlierOf = Map.groupBy(rows.earlier, ({ trace_id: id }) => hashKey(id));
  const actionsOf = Map.groupBy(rows.actions, ({ trace_id: id }) => hashKey(id));
  for (const plan of rows.traces) {
    await slice.pause();
    const id = hashKey(plan.row.trace_id);
    const isCut = rows.cut.has(id);
    const stored = [...(isCut ? [] : (earlierOf.get(id) ?? [])), ...plan.fresh].toSorted(byPlace);
    const links = stored.flatMap((row) => opened.get(keyOf(row)) ?? []);
    const shown: StreamTransaction[] = [];
    for (const one of links) shown.push(await stream(one));
    const isComplete = rows.isClassified && plan.isWhole && !isCut && links.length === plan.earlier + plan.fresh.length;
    changes.push(
      viewTraceChange({ plan, links, shown, isComplete, actions: actionsOf.get(id) ?? [], position: next() }, network),
    );
  }
  for (const state of viewStateChanges(rows, opened, states)) changes.push({ ...state, position: next() });
  for (const wallet of rows.wallets.toSorted((one, other) => Buffer.compare(one.address, other.address)))
    changes.push({ ...viewJettonChange(wallet), position: next() });
  return changes;
}

function createStream(
  states: StatesByHash,
  slice: TimeSlice,
): (opened: OpenedTransaction) => Promise<StreamTransaction> {
  return async (opened) => {
    await slice.pause();
    return streamTransaction(opened, states, slice);
  };
}

export const keyOf = ({ hash }: Pick<FoundTransaction, 'hash'>): string => hashKey(hash);

function byPlace(one: FoundTransaction, other: FoundTransaction): number {
  return one.lt === other.lt ? Buffer.compare(one.account, other.account) : one.lt < other.lt ? -1 : 1;
}
