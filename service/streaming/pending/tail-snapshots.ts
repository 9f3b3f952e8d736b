import { writeBoc } from '#service/decode/boc-writer.ts';
import { createCellStore } from '#service/decode/cell-store.ts';
import { readExternalMessage } from '#service/live/send/external-message.ts';
import type { Tails } from '#service/pending/tails.ts';
import { createTimeSlice, mapInSlices } from '#service/runtime/time-slice.ts';
import { readTraces } from '#service/store/queries/final-blocks.ts';
import type { StoreReader } from '#service/store/queries/reader.ts';
import { findTransactionsOfTraces } from '#service/store/queries/traces.ts';
import type { FoundTransaction } from '#service/store/queries/transactions.ts';
import type { ActionNetwork } from '#service/v3/action-details/action-derived.ts';
import { openTransaction, readStates } from '#service/v3/rendering/assemble-transaction.ts';
import { viewBytes } from '#service/v3/request/scalars.ts';
import { actionsOfSimulated, viewSimulated } from '#service/v3/views/simulated-views.ts';
import { growTree } from '#service/v3/views/trace-tree.ts';
import type { ShownTransaction } from '#service/v3/views/transaction-views.ts';
import { CONTENT_BYTES_MAX, type StreamTransaction, type TraceSnapshot } from '../changes.ts';
import { nameParts, streamTransaction as streamReal, type OpenedTransaction } from '../final/opened-transaction.ts';
import { streamAction, streamTransaction } from './pending-snapshots.ts';

/** A final transaction of the trace, opened once. */
type Begun = { readonly named: OpenedTransaction; readonly shown: ShownTransaction };

export type TailSnapshotsDependencies = {
  readonly tails: Tails;
  readonly reader: StoreReader;
  readonly network: ActionNetwork;
};

/**
 * Makes the snapshot of a trace after a change that left it open: its final transactions, and the simulated rest.
 * Undefined when the index already has more of the trace, or no message of it is on its way.
 * Rejects as the index, and as lite servers.
 */
export function createTailSnapshots({
  tails,
  reader,
  network,
}: TailSnapshotsDependencies): (change: TraceSnapshot, signal: AbortSignal) => Promise<TraceSnapshot | undefined> {
  async function readBegun({ hashes, position }: TraceSnapshot, signal: AbortSignal): Promise<readonly Begun[]> {
    const [row] = await readTraces(reader, [Buffer.from(hashes.at(-1)!, 'hex')]);
    const rows = row === undefined ? [] : await findTransactionsOfTraces(reader, [row]);
    const isNewer = rows.some(({ mc_seqno: mcSeqno }) => mcSeqno > position!.mcSeqno);
    return isNewer ? [] : mapInSlices(rows, openBegun, createTimeSlice(signal));
  }

  async function viewReal(begun: readonly OpenedTransaction[], signal: AbortSignal): Promise<StreamTransaction[]> {
    const hashes = begun.flatMap(({ tail }) => [tail.stateUpdate.oldHash, tail.stateUpdate.newHash]);
    const states = await readStates(reader, hashes);
    const slice = createTimeSlice(signal);
    const shown: StreamTransaction[] = [];
    for (const one of begun) shown.push(await streamReal(one, states, slice));
    return shown;
  }

  return async (change, signal) => {
    const opened = await readBegun(change, signal);
    const [root] = opened;
    if (root === undefined) return undefined;
    const begun = opened.map(({ named }) => named);
    const transactions = opened.map(({ shown }) => shown);
    const { table, transaction } = root.shown;
    const message = readExternalMessage(writeBoc(table, [transaction.inMessage!.cell]));
    const tail = await tails.simulate({ message, transactions, mcSeqno: change.position!.mcSeqno }, signal);
    if (tail === undefined) return undefined;
    const traceId = root.named.row.trace_id;
    const names = { messageHash: message.hash, key: message.normalizedHash, traceId };
    const simulated = await viewSimulated(
      { ...tail, ...names },
      { timeSlice: createTimeSlice(signal), store: createCellStore(), contentsMax: CONTENT_BYTES_MAX },
    );
    const end = (tail.transactions.at(-1) ?? transactions.at(-1)!).transaction;
    const actions = actionsOfSimulated(tail.actions, { ...names, end }, null);
    const shown = [...(await viewReal(begun, signal)), ...simulated.map(streamTransaction)];
    return {
      kind: 'trace',
      key: change.key,
      finality: 'pending',
      position: null,
      hashes: change.hashes,
      transactions: shown.toReversed(),
      actions: actions.map((action) => streamAction(action, network)),
      tree: growTree([...begun, ...simulated], viewBytes(traceId))?.root,
      isIncomplete: tail.left > 0,
      traceId: null,
    };
  };
}

function openBegun(row: FoundTransaction): Begun {
  const shown = openTransaction(row);
  return { named: nameParts(row, shown), shown };
}
