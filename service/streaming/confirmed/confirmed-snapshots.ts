import type { Logger } from 'pino';

import { writeBoc } from '#service/decode/boc-writer.ts';
import { createCellStore } from '#service/decode/cell-store.ts';
import { TonplaneError } from '#service/error.ts';
import { readExternalMessage, type ExternalMessage } from '#service/live/send/external-message.ts';
import type { RealActions } from '#service/pending/real-actions.ts';
import { createTimeSlice, mapInSlices, type TimeSlice } from '#service/runtime/time-slice.ts';
import type { ActionNetwork } from '#service/v3/action-details/action-derived.ts';
import { viewBytes } from '#service/v3/request/scalars.ts';
import type { ShownAction } from '#service/v3/views/action-views.ts';
import { actionsOfSimulated } from '#service/v3/views/simulated-views.ts';
import { growTree } from '#service/v3/views/trace-tree.ts';
import { openMessages, viewHead, viewTail, type TransactionView } from '#service/v3/views/transaction-views.ts';
import { CONTENT_BYTES_MAX, type StateChange, type TraceSnapshot } from '../changes.ts';
import { streamAction, streamTransaction } from '../pending/pending-snapshots.ts';
import type { OpenTrace, TracePart } from './open-traces.ts';
import { lastOfAccounts, type SeenBlock } from './seen-block.ts';

/** Snapshots of traces whose last parts are in signed blocks. */
export type ConfirmedSnapshots = {
  readonly of: (
    trace: OpenTrace<SeenBlock>,
    place: TracePlace,
    signal: AbortSignal,
  ) => Promise<TraceSnapshot | undefined>;
};

/** Masterchain around a trace. */
export type TracePlace = {
  /** Newest masterchain block: a signed block is going to be in the next one. */
  readonly newest: number;
  /** Version of the rules in force; null if unknown. */
  readonly version: number | null;
  readonly finalSeqno: (block: SeenBlock) => number | undefined;
};

export type ConfirmedSnapshotsDependencies = {
  readonly actions: RealActions;
  readonly network: ActionNetwork;
  readonly logger: Logger;
};

export function createConfirmedSnapshots(dependencies: ConfirmedSnapshotsDependencies): ConfirmedSnapshots {
  const { actions, network, logger } = dependencies;

  async function actionsOf(
    message: ExternalMessage,
    { parts, traceId }: { readonly parts: readonly TracePart<SeenBlock>[]; readonly traceId: Buffer },
    signal: AbortSignal,
  ): Promise<readonly ShownAction[]> {
    try {
      const transactions = parts.map(({ transaction }) => transaction);
      const classified = await actions.classify(message, transactions, signal);
      const end = parts.at(-1)!.transaction.transaction;
      const names = { messageHash: message.hash, key: message.normalizedHash, traceId };
      return actionsOfSimulated(classified.actions, { ...names, end, finality: 'confirmed' }, null);
    } catch (error) {
      signal.throwIfAborted();
      logger.debug({ err: error }, 'a trace of a signed block was not classified');
      return [];
    }
  }

  return {
    async of(trace, place, signal) {
      const parts = trace.parts.toSorted(byLt);
      const root = parts.find(({ transaction }) => transaction.root !== null);
      const message = root && messageOf(root);
      if (root === undefined || message === undefined) return undefined;
      const traceId = Buffer.from(root.transaction.hash, 'hex');
      const timeSlice = createTimeSlice(signal);
      const views: TransactionView[] = [];
      for (const part of parts) views.push(await viewPart(part, { traceId, place, timeSlice }));
      const shown = await actionsOf(message, { parts, traceId }, signal);
      return {
        kind: 'trace',
        key: trace.key,
        finality: 'confirmed',
        position: null,
        hashes: [...new Set([trace.key, message.hash.toString('hex'), root.transaction.hash])],
        transactions: views.map(streamTransaction).toReversed(),
        actions: shown.map((action) => streamAction(action, network)),
        tree: growTree(views, viewBytes(traceId))?.root,
        isIncomplete: trace.onWay > 0,
        traceId: null,
      };
    },
  };
}

function messageOf({ transaction: { table, transaction } }: TracePart<SeenBlock>): ExternalMessage | undefined {
  try {
    return readExternalMessage(writeBoc(table, [transaction.inMessage!.cell]));
  } catch (error) {
    if (!(error instanceof TonplaneError)) throw error;
    return undefined;
  }
}

async function viewPart(
  { transaction: seen, block }: TracePart<SeenBlock>,
  {
    traceId,
    place,
    timeSlice,
  }: { readonly traceId: Buffer; readonly place: TracePlace; readonly timeSlice: TimeSlice },
): Promise<TransactionView> {
  const { newest, version, finalSeqno } = place;
  const seqno = finalSeqno(block);
  const { table, transaction, workchain } = seen;
  const finality = seqno === undefined ? 'confirmed' : 'finalized';
  const shown = {
    table,
    transaction,
    workchain,
    hash: Buffer.from(seen.hash, 'hex'),
    shard: block.id.shard,
    seqno: block.id.seqno,
    mcSeqno: seqno ?? newest + 1,
    traceId,
    globalVersion: version,
    finality,
    emulated: false,
  } as const;
  const { taken, sent } = openMessages(shown, createCellStore(), CONTENT_BYTES_MAX);
  const tail = viewTail({ ...transaction, finality, emulated: false }, block.states);
  const out_msgs = await mapInSlices(sent, (message) => message, timeSlice);
  return { ...viewHead(shown), in_msg: taken, out_msgs, ...tail };
}

/** New states of the accounts of a signed block. */
export function statesOfBlock({ transactions, states }: SeenBlock): readonly StateChange[] {
  const seenOf = new Map(transactions.map((seen) => [seen.transaction, seen]));
  return lastOfAccounts(transactions.map(({ transaction }) => transaction)).map((last) => {
    const { account, hash } = seenOf.get(last)!;
    const { account_state_after: state } = viewTail({ ...last, finality: 'confirmed', emulated: false }, states);
    const place = {
      last_transaction_lt: last.lt.toString(),
      last_transaction_hash: viewBytes(Buffer.from(hash, 'hex')),
    };
    return { kind: 'state', account, finality: 'confirmed', position: null, state: { ...state, ...place } };
  });
}

function byLt({ transaction: one }: TracePart<SeenBlock>, { transaction: other }: TracePart<SeenBlock>): number {
  const [a, b] = [one.transaction, other.transaction];
  if (a.lt !== b.lt) return a.lt < b.lt ? -1 : 1;
  return Buffer.compare(a.account, b.account);
}
