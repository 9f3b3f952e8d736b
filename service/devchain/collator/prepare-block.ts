import { MASTERCHAIN, blockText } from '#service/decode/block-id.ts';
import type { CellStore } from '#service/decode/cell-store.ts';
import { createCellStore } from '#service/decode/cell-store.ts';
import { moveCurrencies } from '#service/decode/tlb/currency-collection.ts';
import type { ListedShard } from '#service/decode/tlb/shard-descr.ts';
import { storeShardFees, totalShardFees } from '#service/decode/tlb/shard-fees.ts';
import type { BlockAccounts } from './accounts.ts';
import { openAccounts } from './accounts.ts';
import type { BlockParts } from './block-parts.ts';
import type { BlockExecution } from './block-execution.ts';
import { createBlockExecution } from './block-execution.ts';
import type { ChainConfig } from './chain-config.ts';
import type { CollateRequest, CollateWorld } from './collate.ts';
import { createDeferral } from './deferral.ts';
import type { Descriptors } from './descriptors.ts';
import { createDescriptors } from './descriptors.ts';
import type { DispatchQueue } from './dispatch-queue.ts';
import { openDispatchQueue } from './dispatch-queue.ts';
import type { Gained } from './state-edits.ts';
import { applyEdits } from './state-edits.ts';
import { MissingAccount } from './missing-account.ts';
import type { MasterchainState } from './masterchain-state.ts';
import { endLtOf, openMasterchainState } from './masterchain-state.ts';
import type { BlockValueFlow } from './value-flow.ts';
import { startValueFlow } from './value-flow.ts';
import type { Arrival } from './neighbors.ts';
import { listArrivals, listDelivered, neighborsOf } from './neighbors.ts';
import type { OutQueue } from './out-queue.ts';
import { openOutQueue } from './out-queue.ts';
import { openPrevious } from './merged-previous-state.ts';
import { addPublicLibraries } from './public-libraries.ts';
import type { ShardEndLt } from './processed-upto.ts';
import { newWorkchains, takeTops } from './shard-list.ts';

/** A block whose transactions are about to be made. */
export type PreparedBlock = {
  /** The block's own store. */
  readonly cells: CellStore;
  readonly parts: BlockParts;
  /**
   * Shards that a masterchain block lists, before it makes plans for them. For a shard block, the listed shards of its masterchain block.
   */
  readonly listed: readonly ListedShard[];
  /** Messages in queues that are for this chain. */
  readonly arrivals: readonly Arrival[];
  readonly accounts: BlockAccounts;
  readonly descriptors: Descriptors;
  readonly queue: OutQueue;
  readonly dispatch: DispatchQueue;
  readonly run: BlockExecution;
};

/** Blocks begin at multiples of this lt. */
const LT_ALIGNMENT = 1_000_000n;

/** Capability bits. */
const SHORT_DEQUEUE = 32n;
const MESSAGE_METADATA = 128n;
const DEFER_MESSAGES = 256n;

/**
 * Opens the previous state and includes shard blocks. Computes times and money. Removes messages from the queue that other shards have
 * taken.
 */
export function prepareBlock(request: CollateRequest, world: CollateWorld): PreparedBlock {
  const { shard, masterchain, utime } = request;
  const { states } = world;
  const cells = createCellStore();
  const reference = openMasterchainState(states, masterchain.state);
  const config = world.configOf(reference.config.root);
  const opened = openPrevious(states, shard, request.previous);
  const firstNew = states.size;
  const { before: edited, gained } = applyEdits(states, opened, request.edits);
  const isMasterchain = shard.workchain === MASTERCHAIN;
  const withAdded = (root: number | undefined) => addPublicLibraries(states, root, request.libraries ?? []);
  const before = isMasterchain ? { ...edited, libraries: withAdded(edited.libraries) } : edited;
  const listed: readonly ListedShard[] = isMasterchain ? listShards(request, reference, config) : reference.shards;
  const feesRoot = isMasterchain ? importFees(cells, states, request, reference, listed) : undefined;
  const lastLt = isMasterchain ? listed.reduce((lt, { endLt }) => (endLt > lt ? endLt : lt), reference.lt) : before.lt;
  const startLt = nextStart(lastLt > reference.lt ? lastLt : reference.lt);
  const money = moveMoney(cells, states, config, request, feesRoot, reference, gained);
  world.executor.open({
    states,
    config: config.root,
    libraries: withAdded(reference.libraries),
    utime,
    randSeed: request.randSeed,
    previousBlocks: world.previousBlocks(masterchain),
  });
  const descriptors = createDescriptors(cells);
  const accounts = openAccounts({ states, cells, accounts: before.accounts }, world.executor, (id) => {
    const place = { workchain: shard.workchain, id };
    if (world.isMissing?.(place) === true) throw new MissingAccount(place);
  });
  const queue = openOutQueue(states, cells, { root: before.queue, size: before.size });
  const dispatch = openDispatchQueue(states, cells, before.dispatch);
  const deferral = createDeferral(dispatch, {
    enabled: (config.capabilities & DEFER_MESSAGES) !== 0n,
    startLt,
    specials: isMasterchain ? config.specials : [],
  });
  const run = createBlockExecution(
    {
      shard,
      startLt,
      firstEndLt: startLt + 1n,
      utime,
      withMetadata: (config.capabilities & MESSAGE_METADATA) !== 0n,
      shortDequeue: (config.capabilities & SHORT_DEQUEUE) !== 0n,
      blackhole: config.burned.blackhole,
      nextFraction: config.nextFraction,
    },
    { cells, states, accounts, descriptors, queue, dispatch, deferral },
  );
  const endLt: ShardEndLt = (seqno, place) => {
    if (seqno >= masterchain.id.seqno) return endLtOf({ lt: reference.lt, shards: reference.shards }, place);
    return endLtOf(openMasterchainState(states, world.masterchainState(seqno)), place);
  };
  const neighbors = neighborsOf(states, shard, before, listed, masterchain, world.stateOf);
  if (request.transactionsMax > 0) {
    for (const { message, importLt } of listDelivered(states, before.queue, neighbors, endLt)) {
      run.dequeue(message, importLt);
    }
  }
  const parts: BlockParts = { request, config, reference, before, money, startLt, firstNew, feesRoot };
  const arrivals = listArrivals(states, shard, before.processed, neighbors, endLt);
  return { cells, parts, listed, arrivals, accounts, descriptors, queue, dispatch, run };
}

function nextStart(lt: bigint): bigint {
  if (lt !== 0n && lt % LT_ALIGNMENT === 0n) return lt;
  return (lt / LT_ALIGNMENT + 1n) * LT_ALIGNMENT;
}

/** The shards that a masterchain block lists, before it makes plans for them. */
function listShards({ masterchain, tops, utime }: CollateRequest, reference: MasterchainState, config: ChainConfig) {
  const seqno = masterchain.id.seqno + 1;
  const all = [...reference.shards, ...newWorkchains(reference.shards, config, seqno, utime)];
  for (const { block } of tops) {
    if (!all.some(({ block: old }) => old.workchain === block.workchain)) {
      throw new Error(`the masterchain does not know the workchain of block ${blockText(block)}`);
    }
  }
  return takeTops(all, tops, seqno);
}

/** Returns the dictionary of fees that a masterchain block imports from new shard blocks. New workchains have no fees. */
function importFees(
  cells: CellStore,
  states: CellStore,
  { tops }: CollateRequest,
  reference: MasterchainState,
  listed: readonly ListedShard[],
): number | undefined {
  const isNew = (workchain: number): boolean => !reference.shards.some(({ block }) => block.workchain === workchain);
  const entries = listed
    .filter(({ block }) => isNew(block.workchain) || tops.some((top) => top.block === block))
    .map(({ block, feesCollected, fundsCreated }) => ({
      workchain: block.workchain,
      shard: block.shard,
      fees: moveCurrencies(cells, states, feesCollected),
      create: moveCurrencies(cells, states, fundsCreated),
    }));
  return storeShardFees(cells, entries);
}

function moveMoney(
  cells: CellStore,
  states: CellStore,
  config: ChainConfig,
  { shard }: CollateRequest,
  feesRoot: number | undefined,
  reference: MasterchainState,
  gained: Gained,
): BlockValueFlow {
  const toMint = config.toMint === undefined ? undefined : cells.import(states, config.toMint);
  const before = {
    validatorFees: moveCurrencies(cells, states, reference.totalValidatorFees),
    globalBalance: moveCurrencies(cells, states, reference.globalBalance),
  };
  const moved = {
    added: moveCurrencies(cells, states, gained.added),
    lost: moveCurrencies(cells, states, gained.lost),
  };
  return startValueFlow(cells, { ...config, toMint }, shard, totalShardFees(cells, feesRoot), before, moved);
}
