import { createHash } from 'node:crypto';
import type { BlockId } from '#service/decode/block-id.ts';
import { MASTERCHAIN } from '#service/decode/block-id.ts';
import { BLOCK_FILE_OPTIONS, writeBoc } from '#service/decode/boc-writer.ts';
import type { CellStore } from '#service/decode/cell-store.ts';
import { readAccount } from '#service/decode/tlb/account.ts';
import { findShardAccount } from '#service/decode/tlb/shard-account.ts';
import { moveCurrencies } from '#service/decode/tlb/currency-collection.ts';
import type { CellAt } from '#service/decode/tlb/message-cells.ts';
import type { ShardIdent } from '#service/decode/tlb/shard-ident.ts';
import type { BlockParts, SpecialMessages } from './block-parts.ts';
import { storeWholeBlock } from './block-parts.ts';
import type { BlockExecution } from './block-execution.ts';
import type { ChainConfig } from './chain-config.ts';
import { NO_TURNS, chooseTurns } from './deferral.ts';
import type { Executor } from './executor.ts';
import type { AccountEdit } from './state-edits.ts';
import type { AccountPlace } from './missing-account.ts';
import type { ExternalMessage, ExternalOutcome } from './external-message.ts';
import type { Arrival } from './neighbors.ts';
import { prepareBlock } from './prepare-block.ts';
import type { ShardTop } from './shard-list.ts';
import { storeNextState } from './next-state.ts';

/** The newest block of a chain, and the state after it. */
export type BlockTip = {
  readonly id: BlockId;
  readonly endLt: bigint;
  /** In the store of states. */
  readonly state: number;
};

export type CollateRequest = {
  readonly shard: ShardIdent;
  /** Previous blocks: a single block, or the left and the right half after a merge. */
  readonly previous: readonly BlockTip[];
  /** The newest masterchain block; for the masterchain itself the previous block. */
  readonly masterchain: BlockTip;
  /** New shard blocks, for the masterchain. */
  readonly tops: readonly ShardTop[];
  /** Messages from outside, in the order in which they are tried. */
  readonly externals: readonly ExternalMessage[];
  /**
   * Later batches, each received after all messages of the batches before were delivered. The node continues until the block's time is
   * over.
   */
  readonly laterExternals?: readonly (readonly ExternalMessage[])[];
  /** Unix seconds. Must be later than the previous block and the masterchain block. */
  readonly utime: number;
  readonly randSeed: Buffer;
  /** Public key of the validator that makes the block. */
  readonly creator: Buffer;
  /**
   * Number of transactions after which new messages are queued and no external messages are taken. With 0 no queue is read, as by a node
   * without time at the start.
   */
  readonly transactionsMax: number;
  /** Accounts of this chain that are changed by hand before all else. */
  readonly edits: readonly AccountEdit[];
  /**
   * Libraries that become public by hand, first of all. The masterchain block has them in its state, and the shard blocks that it includes
   * run with them.
   */
  readonly libraries?: readonly CellAt[];
  /** Makes a masterchain block a key block even when its configuration is unchanged. */
  readonly keyBlock?: boolean;
  /** States that the next blocks of this shard are of its halves. */
  readonly beforeSplit?: boolean;
  readonly wantSplit?: boolean;
  readonly wantMerge?: boolean;
};

export type CollateWorld = {
  readonly states: CellStore;
  readonly executor: Executor;
  /** Reads a configuration by its root; may cache. */
  readonly configOf: (root: number) => ChainConfig;
  /** State after a masterchain block of the past. */
  readonly masterchainState: (seqno: number) => number;
  /** State after a listed block. */
  readonly stateOf: (id: BlockId) => number;
  /**
   * True for an account that a forked network may have and that this network has not requested yet. The block then throws `MissingAccount`.
   */
  readonly isMissing?: (place: AccountPlace) => boolean;
  /** Returns the contracts' view of earlier blocks, in the executor's form. */
  readonly previousBlocks: (masterchain: BlockTip) => string;
  /** Yields to other work. */
  readonly rest: () => Promise<void> | undefined;
};

export type Collated = {
  readonly id: BlockId;
  readonly bytes: Buffer;
  readonly state: number;
  readonly endLt: bigint;
  readonly keyBlock: boolean;
  readonly transactions: number;
  /** Shard top for the masterchain block that includes this block. */
  readonly top: ShardTop;
  /** Outcome of each tried external message; untried messages are absent. */
  readonly externals: ReadonlyMap<ExternalMessage, ExternalOutcome>;
};

/**
 * Makes the next block of a chain in the same order as the node's collator.
 * 1. Deferred messages whose turn it is.
 * 2. Ticks.
 * 3. Fees and new currencies to their accounts.
 * 4. Messages from queues.
 * 5. External messages.
 * 6. Messages that these sent.
 * 7. Tocks.
 * 8. The new state, and the block with its update.
 *
 * Throws DecodeError or Error when the state contradicts itself. The chain is then unchanged.
 */
export async function collate(request: CollateRequest, world: CollateWorld): Promise<Collated> {
  const { shard, utime } = request;
  const { states } = world;
  const { cells, parts, listed, arrivals, accounts, descriptors, queue, dispatch, run } = prepareBlock(request, world);
  const { startLt, money } = parts;
  const turns = request.transactionsMax === 0 ? NO_TURNS : chooseTurns(dispatch, queue.size);
  turns.messages.forEach((message) => run.emit(message));
  const special = runStart(run, states, parts);
  const { outcomes, tookAll } = await runMessages(run, request, arrivals, world.rest);
  runEnd(run, states, parts);
  const finished = {
    accounts: accounts.finish(),
    descriptors: descriptors.finish(),
    queue,
    dispatch,
    run,
    tookAll,
    isLimited: turns.isLimited,
  };
  const next = storeNextState({ states, cells }, parts, finished, listed);
  await world.rest();
  const { root, header } = storeWholeBlock({ states, cells }, parts, finished, next, special);
  await world.rest();
  const bytes = writeBoc(cells, [root], BLOCK_FILE_OPTIONS);
  const fileHash = createHash('sha256').update(bytes).digest();
  const id: BlockId = { ...shard, seqno: header.seqno, rootHash: cells.hash(root), fileHash };
  const { wantSplit, wantMerge, beforeSplit, minRefMasterchainSeqno } = header;
  const flags = { wantSplit, wantMerge, beforeSplit, minRefMasterchainSeqno };
  const top = {
    ...flags,
    block: id,
    startLt,
    endLt: run.endLt,
    utime,
    creators: [request.creator],
    minted: money.edited.grams,
  };
  const funds = {
    feesCollected: moveCurrencies(states, cells, next.feesCollected),
    fundsCreated: moveCurrencies(states, cells, money.created),
  };
  return {
    id,
    bytes,
    state: next.state,
    endLt: run.endLt,
    keyBlock: header.keyBlock,
    transactions: run.transactions,
    top: { ...top, ...funds },
    externals: outcomes,
  };
}

function runStart(run: BlockExecution, states: CellStore, parts: BlockParts): SpecialMessages {
  const { request, config, money } = parts;
  if (request.shard.workchain !== MASTERCHAIN) return { recovered: undefined, minted: undefined };
  run.tickTock('tick', turnsOf(states, parts, 'tick'));
  const { recovered, minted } = money;
  return {
    recovered: recovered.grams > 0n ? run.special(recovered, config.feeCollector!) : undefined,
    minted: minted.extra === undefined ? undefined : run.special(minted, config.minter!),
  };
}

function runEnd(run: BlockExecution, states: CellStore, parts: BlockParts): void {
  run.fill();
  if (parts.request.shard.workchain === MASTERCHAIN) run.tickTock('tock', turnsOf(states, parts, 'tock'));
  while (run.deliverNew());
}

/**
 * Returns the special accounts with a turn at the start or the end of a masterchain block. The config contract is always special, listed or
 * not.
 */
function turnsOf(states: CellStore, { before, config, reference }: BlockParts, kind: 'tick' | 'tock'): Buffer[] {
  const { specials } = config;
  const { address } = reference.config;
  const all = specials.some((id) => id.equals(address)) ? specials : [...specials, address];
  return all.filter((id) => {
    const found = findShardAccount(states, before.accounts, id);
    const state = found && readAccount(states, found.account)?.state;
    return state?.kind === 'active' && state.init.special?.[kind] === true;
  });
}

async function runMessages(
  run: BlockExecution,
  { externals, laterExternals = [], transactionsMax }: CollateRequest,
  arrivals: readonly Arrival[],
  rest: CollateWorld['rest'],
): Promise<{ outcomes: Map<ExternalMessage, ExternalOutcome>; tookAll: boolean }> {
  const outcomes = new Map<ExternalMessage, ExternalOutcome>();
  let taken = 0;
  for (const arrival of arrivals) {
    if (run.transactions >= transactionsMax) break;
    run.arrive(arrival);
    taken++;
    await rest();
  }
  const tookAll = taken === arrivals.length;
  if (!tookAll) return { outcomes, tookAll };
  for (const wave of [externals, ...laterExternals]) {
    for (const message of wave) {
      if (run.transactions >= transactionsMax) break;
      outcomes.set(message, run.external(message));
      await rest();
    }
    while (run.transactions < transactionsMax && run.deliverNew()) await rest();
  }
  return { outcomes, tookAll };
}
