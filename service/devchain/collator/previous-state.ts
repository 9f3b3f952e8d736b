import { CellSlice } from '#service/decode/cell-slice.ts';
import type { CellStore } from '#service/decode/cell-store.ts';
import { readOutMsgQueueInfo } from '#service/decode/tlb/out-msg-queue-info.ts';
import { listProcessedUpto } from '#service/decode/tlb/processed-info.ts';
import type { ShardIdent } from '#service/decode/tlb/shard-ident.ts';
import type { ShardState, ShardStateDetails } from '#service/decode/tlb/shard-state.ts';
import { readShardState, readShardStateDetails } from '#service/decode/tlb/shard-state.ts';
import type { Processed } from './processed-upto.ts';

/** A queue and what its owner has taken of others'. */
export type QueueBefore = {
  /** Root of the queue, in the store of states. */
  readonly queue: number | undefined;
  readonly size: bigint;
  readonly processed: Processed;
};

/** State of a chain before a block. */
export type PreviousState = ShardState &
  ShardStateDetails &
  QueueBefore & {
    /** The cell that the block's state update starts from. */
    readonly root: number;
    /** Root of `HashmapAug 256 ShardAccount DepthBalanceInfo`. */
    readonly accountsRoot: number | undefined;
    /** Root of the dispatch queue. */
    readonly dispatch: number | undefined;
    /** The other half's part of the queue, right after a split. */
    readonly sibling: QueueBefore | undefined;
  };

/** Opens a state. */
export function openPreviousState(states: CellStore, root: number): PreviousState {
  const state = readShardState(states, root);
  const { queue, size, processed, dispatch } = readOutMsgQueueInfo(states, state.outMsgQueueInfo);
  const owner: ShardIdent = { workchain: state.workchain, shard: state.shard };
  return {
    ...state,
    ...readShardStateDetails(states, state.details),
    root,
    accountsRoot: new CellSlice(states, state.accounts).maybeRef(),
    queue,
    size: size ?? 0n,
    dispatch,
    processed: { owner, list: listProcessedUpto(states, processed) },
    sibling: undefined,
  };
}
