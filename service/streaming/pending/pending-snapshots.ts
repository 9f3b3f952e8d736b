import type { Logger } from 'pino';

import type { Pending, PendingTrace } from '#service/pending/pending.ts';
import type { ActionNetwork } from '#service/v3/action-details/action-derived.ts';
import { addressesOf } from '#service/v3/rendering/assemble-transaction.ts';
import { isVisible } from '#service/v3/request/action-versions.ts';
import { viewBytes } from '#service/v3/request/scalars.ts';
import {
  accountsAlone,
  addressesOfActions,
  viewAction,
  type ActionView,
  type ShownAction,
} from '#service/v3/views/action-views.ts';
import { actionsOfPending, viewPending } from '#service/v3/views/pending-views.ts';
import { growTree } from '#service/v3/views/trace-tree.ts';
import type { TransactionView } from '#service/v3/views/transaction-views.ts';
import { CONTENT_BYTES_MAX, type StreamAction, type StreamTransaction, type TraceSnapshot } from '../changes.ts';

/** Snapshots of pending traces. Their objects are those of `pendingTraces` and `pendingActions`. */
export type PendingSnapshots = {
  readonly of: (trace: PendingTrace, signal: AbortSignal) => Promise<TraceSnapshot>;
  /** Snapshot of the trace that a hash in hex names; undefined also when the index cannot be asked. */
  readonly find: (hash: string, signal: AbortSignal) => Promise<TraceSnapshot | undefined>;
};

export type PendingSnapshotsDependencies = {
  readonly pending: Pick<Pending, 'find'>;
  readonly network: ActionNetwork;
  readonly logger: Logger;
};

export function createPendingSnapshots({ pending, network, logger }: PendingSnapshotsDependencies): PendingSnapshots {
  async function of(trace: PendingTrace, signal: AbortSignal): Promise<TraceSnapshot> {
    const [viewed] = await viewPending([trace], { signal, contentsMax: CONTENT_BYTES_MAX });
    const { transactions } = viewed!;
    const actions = actionsOfPending(trace, null);
    return {
      kind: 'trace',
      key: trace.key.toString('hex'),
      finality: 'pending',
      position: null,
      hashes: hashesOf(trace),
      transactions: transactions.map(streamTransaction).toReversed(),
      actions: actions.map((shown) => streamAction(shown, network)),
      tree: growTree(transactions, viewBytes(trace.rootHash))?.root,
      isIncomplete: trace.left > 0,
      traceId: null,
    };
  }

  return {
    of,
    async find(hash, signal) {
      try {
        const [trace] = await pending.find({ hashes: [Buffer.from(hash, 'hex')], wanted: 'actions' });
        return trace && (await of(trace, signal));
      } catch (error) {
        signal.throwIfAborted();
        logger.debug({ err: error }, 'a pending trace was not shown');
        return undefined;
      }
    },
  };
}

/** Hashes in hex that name a pending trace. */
export function hashesOf({ key, messageHash, rootHash }: PendingTrace): readonly string[] {
  return [...new Set([key, messageHash, rootHash].map((hash) => hash.toString('hex')))];
}

/** A transaction of an event, by its view. */
export function streamTransaction(view: TransactionView): StreamTransaction {
  const named = [...addressesOf([view])].filter((address) => address !== null);
  return { account: view.account, hash: view.hash, view, named };
}

/** An action of an event. Its view is made when it is first read. */
export function streamAction(shown: ShownAction, network: ActionNetwork): StreamAction {
  let view: ActionView | undefined;
  const made = (): ActionView => (view ??= viewAction(shown, network, accountsAlone));
  return {
    type: shown.type,
    ancestorTypes: shown.ancestorTypes,
    accounts: shown.accounts,
    viewFor: (supported) => (isVisible(shown, supported) ? made() : null),
    get named() {
      return [...new Set(addressesOfActions([shown], [made()]))];
    },
  };
}
