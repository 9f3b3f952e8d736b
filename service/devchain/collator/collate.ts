import { createHash } from 'node:crypto';
import type { BlockId } from '#service/decode/block-id.ts';
import { MASTERCHAIN, blockText } from '#service/decode/block-id.ts';
import { BLOCK_FILE_OPTIONS, writeBoc } from '#service/decode/boc-writer.ts';
import type { CellStore } from '#service/decode/cell-store.ts';
import { createCellStore } from '#service/decode/cell-store.ts';
import { readAccount } from '#service/decode/tlb/account.ts';
import { findShardAccount } from '#service/decode/tlb/shard-account.ts';
import { moveCurrencies } from '#service/decode/tlb/currency-collection.ts';
import type { ShardIdent } from '#service/decode/tlb/shard-ident.ts';
import { openAccounts } from './accounts.ts';
import type { BlockParts, SpecialMessages } from './block-parts.ts';
import { storeWholeBlock } from './block-parts.ts';
import type { BlockRun } from './block-run.ts';
import { createBlockRun } from './block-run.ts';
import type { ChainConfig } from './chain-config.ts';
import { createDescriptors } from './descriptors.ts';
import type { Executor } from './executor.ts';
import type { AccountEdit } from './edits.ts';
import { applyEdits } from './edits.ts';
import type { ExternalMessage, ExternalOutcome } from './external-message.ts';
import type { MasterchainState } from './masterchain-state.ts';
import { endLtOf, openMasterchainState } from './masterchain-state.ts';
import type { BlockMoney } from './money.ts';
import { startMoney } from './money.ts';
import { listArrivals, listDelivered, neighborsOf } from './neighbors.ts';
import { openOutQueue } from './out-queue.ts';
import { openPrevious } from './previous.ts';
import type { ShardEndLt } from './processed-upto.ts';
import type { ShardTop } from './shard-list.ts';
import { newWorkchains, takeTops } from './shard-list.ts';
import { storeShardFees, totalShardFees } from '#service/decode/tlb/shard-fees.ts';
import { storeNextState } from './next-state.ts';
import type { ListedShard } from '#service/decode/tlb/shard-descr.ts';

/** The newest block of a chain, and the state after it. */
export type BlockTip = {
  readonly id: BlockId;
  readonly endLt: bigint;
  /** In the store of states. */
  readonly state: number;
};

export type CollateRequest = {
  readonly shard: ShardIdent;
  /** One, or the left and the right half after a merge. */
  readonly previous: readonly BlockTip[];
  /** The newest masterchain block: for the masterchain itself the previous one. */
  readonly masterchain: BlockTip;
  /** New shard blocks, for the masterchain. */
  readonly tops: readonly ShardTop[];
  /** Messages from outside, in the order in which they are tried. */
  readonly externals: readonly ExternalMessage[];
  /** More of them, which came when all messages of those before were delivered: the node goes on until the block's time is over. */
  readonly laterExternals?: readonly (readonly ExternalMessage[])[];
  /** Unix seconds; must be above those of the previous block and of the masterchain's. */
  readonly utime: number;
  readonly randSeed: Buffer;
  /** Public key of the validator that makes the block. */
  readonly creator: Buffer;
  /** After so many transactions new messages are queued and no more are taken from outside. */
  readonly transactionsMax: number;
  /** Accounts of this chain that are changed by hand before all else. */
  readonly edits: readonly AccountEdit[];
  /** Says that the next blocks of this shard are of its halves. */
  readonly beforeSplit?: boolean;
  readonly wantSplit?: boolean;
  readonly wantMerge?: boolean;
};

export type CollateWorld = {
  readonly states: CellStore;
  readonly executor: Executor;
  /** Reads a configuration by its root; may remember. */
  readonly configOf: (root: number) => ChainConfig;
  /** State after a masterchain block of the past. */
  readonly masterchainState: (seqno: number) => number;
  /** State after a listed block. */
  readonly stateOf: (id: BlockId) => number;
  /** What contracts see of earlier blocks, as the executor takes it. */
  readonly previousBlocks: (masterchain: BlockTip) => string;
  /** Gives way to other work. */
  readonly rest: () => Promise<void> | undefined;
};

export type Collated = {
  readonly id: BlockId;
  readonly bytes: Buffer;
  readonly state: number;
  readonly endLt: bigint;
  readonly keyBlock: boolean;
  readonly transactions: number;
  /** For the masterchain block that takes this one in. */
  readonly top: ShardTop;
  /** What became of each message from outside; those that were not tried are left out. */
  readonly externals: ReadonlyMap<ExternalMessage, ExternalOutcome>;
};

/** Blocks begin at multiples of this lt. */
const LT_ALIGNMENT = 1_000_000n;

/** Capability bits. */
const SHORT_DEQUEUE = 32n;
const MESSAGE_METADATA = 128n;

/**
 * Makes the next block of a chain as the node's collator does: ticks, fees and new currencies to their accounts, messages out of
 * queues, messages from outside, messages that these sent, tocks; then the new state, and the block with the update to it.
 * Throws DecodeError or Error when the state contradicts itself; the chain is then as it was.
 */
export async function collate(request: CollateRequest, world: CollateWorld): Promise<Collated> {
  const { shard, masterchain, utime } = request;
  const { states } = world;
  const cells = createCellStore();
  const reference = openMasterchainState(states, masterchain.state);
  const config = world.configOf(reference.config.root);
  const opened = openPrevious(states, shard, request.previous);
  const firstNew = states.size;
  const { before, gained } = applyEdits(states, opened, request.edits);
  const isMasterchain = shard.workchain === MASTERCHAIN;
  const listed: readonly ListedShard[] = isMasterchain ? listShards(request, reference, config) : reference.shards;
  const feesRoot = isMasterchain ? importFees(cells, states, request, reference, listed) : undefined;
  const lastLt = isMasterchain ? listed.reduce((lt, { endLt }) => (endLt > lt ? endLt : lt), reference.lt) : before.lt;
  const startLt = nextStart(lastLt > reference.lt ? lastLt : reference.lt);
  const money = moveMoney(cells, states, config, request, feesRoot, reference, gained);
  world.executor.open({
    states,
    config: config.root,
    libraries: reference.libraries,
    utime,
    randSeed: request.randSeed,
    previousBlocks: world.previousBlocks(masterchain),
  });
  const descriptors = createDescriptors(cells);
  const accounts = openAccounts({ states, cells, accounts: before.accounts }, world.executor);
  const queue = openOutQueue(states, cells, { root: before.queue, size: before.size });
  const run = createBlockRun(
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
    { cells, states, accounts, descriptors, queue },
  );
  const endLt: ShardEndLt = (seqno, place) => {
    if (seqno >= masterchain.id.seqno) return endLtOf({ lt: reference.lt, shards: reference.shards }, place);
    return endLtOf(openMasterchainState(states, world.masterchainState(seqno)), place);
  };
  const neighbors = neighborsOf(states, shard, before, listed, masterchain, world.stateOf);
  for (const { message, importLt } of listDelivered(states, before.queue, neighbors, endLt)) {
    run.dequeue(message, importLt);
  }
  const parts: BlockParts = { request, config, reference, before, money, startLt, firstNew, feesRoot };
  const special = runStart(run, states, parts);
  const arrivals = listArrivals(states, shard, before.processed, neighbors, endLt);
  const { outcomes, tookAll } = await runMessages(run, request, arrivals, world.rest);
  runEnd(run, states, parts);
  const finished = { accounts: accounts.finish(), descriptors: descriptors.finish(), queue, run, tookAll };
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
    creator: request.creator,
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

/** The dictionary of fees that a masterchain block takes in: of new shard blocks, and nothing of workchains that are new. */
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
  gained: bigint,
): BlockMoney {
  const toMint = config.toMint === undefined ? undefined : cells.import(states, config.toMint);
  const before = {
    validatorFees: moveCurrencies(cells, states, reference.totalValidatorFees),
    globalBalance: moveCurrencies(cells, states, reference.globalBalance),
  };
  return startMoney(cells, { ...config, toMint }, shard, totalShardFees(cells, feesRoot), before, gained);
}

function runStart(run: BlockRun, states: CellStore, parts: BlockParts): SpecialMessages {
  const { request, config, money } = parts;
  if (request.shard.workchain !== MASTERCHAIN) return { recovered: undefined, minted: undefined };
  run.tickTock('tick', turnsOf(states, parts, 'tick'));
  const { recovered, minted } = money;
  return {
    recovered: recovered.grams > 0n ? run.special(recovered, config.feeCollector!) : undefined,
    minted: minted.extra === undefined ? undefined : run.special(minted, config.minter!),
  };
}

function runEnd(run: BlockRun, states: CellStore, parts: BlockParts): void {
  run.fill();
  if (parts.request.shard.workchain === MASTERCHAIN) run.tickTock('tock', turnsOf(states, parts, 'tock'));
  while (run.deliverNew());
}

/**
 * The special accounts whose turn it is at the start or the end of a masterchain block; the contract of the configuration is one
 * whether or not the configuration lists it.
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
  run: BlockRun,
  { externals, laterExternals = [], transactionsMax }: CollateRequest,
  arrivals: ReturnType<typeof listArrivals>,
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
