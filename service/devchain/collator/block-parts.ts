import { MASTERCHAIN } from '#service/decode/block-id.ts';
import type { CellStore } from '#service/decode/cell-store.ts';
import { shardsIntersect } from '#service/decode/shard.ts';
import { addStateUpdate } from '#service/decode/merkle-builder.ts';
import { storeBlock } from '#service/decode/tlb/block.ts';
import { storeBlockExtra } from '#service/decode/tlb/block-extra.ts';
import type { BlockInfo } from '#service/decode/tlb/block-info.ts';
import { storeBlockInfo, storeBlockRef, storePreviousBlocks } from '#service/decode/tlb/block-info.ts';
import type { CurrencyCollection } from '#service/decode/tlb/currency-collection.ts';
import { addCurrencies, moveCurrencies } from '#service/decode/tlb/currency-collection.ts';
import type { ExtBlockRef } from '#service/decode/tlb/ext-block-ref.ts';
import {
  storeMasterchainBlockDetails,
  storeMasterchainBlockExtra,
} from '#service/decode/tlb/masterchain-block-extra.ts';
import { readMasterchainStateExtra } from '#service/decode/tlb/masterchain-state-extra.ts';
import { readShardState } from '#service/decode/tlb/shard-state.ts';
import type { ValueFlow } from '#service/decode/tlb/value-flow.ts';
import { storeValueFlow } from '#service/decode/tlb/value-flow.ts';
import type { FinishedAccounts } from './accounts.ts';
import type { PreviousState } from './previous-state.ts';
import type { BlockExecution } from './block-execution.ts';
import type { ChainConfig } from './chain-config.ts';
import type { BlockTip, CollateRequest } from './collate.ts';
import type { FinishedDescriptors } from './descriptors.ts';
import { waysToEdited } from './state-edits.ts';
import type { DispatchQueue } from './dispatch-queue.ts';
import type { MasterchainState } from './masterchain-state.ts';
import type { BlockValueFlow } from './value-flow.ts';
import { isBalanced } from './value-flow.ts';
import type { NextState } from './next-state.ts';
import type { OutQueue } from './out-queue.ts';
import { sessionOf } from './sessions.ts';

/** Parts of a block before its transactions. */
export type BlockParts = {
  readonly request: CollateRequest;
  readonly config: ChainConfig;
  /** The newest masterchain state. */
  readonly reference: MasterchainState;
  readonly before: PreviousState;
  readonly money: BlockValueFlow;
  readonly startLt: bigint;
  /** Cells of the store of states from here on are new. */
  readonly firstNew: number;
  /** Root of the imported fees, in the block's store. */
  readonly feesRoot: number | undefined;
};

/** Results of a block's transactions. */
export type FinishedRun = {
  readonly accounts: FinishedAccounts;
  readonly descriptors: FinishedDescriptors;
  readonly queue: OutQueue;
  readonly dispatch: DispatchQueue;
  readonly run: BlockExecution;
  /** True when all queues are empty of messages for this shard. */
  readonly tookAll: boolean;
  /** More messages wait in the dispatch queue than a block takes. */
  readonly isLimited: boolean;
};

/** Cells of the `InMsg` that brought fees and new currencies to their accounts. */
export type SpecialMessages = { readonly recovered: number | undefined; readonly minted: number | undefined };

/** Software version and capabilities in the blocks of this chain, whatever the configuration enables. */
const SOFTWARE = { version: 15, capabilities: 1006n };

/** Capability bit: headers name the software that made them. */
const REPORT_VERSION = 8n;

/** Puts the block together. Throws when its money does not add up. */
export function storeWholeBlock(
  stores: { readonly states: CellStore; readonly cells: CellStore },
  parts: BlockParts,
  finished: FinishedRun,
  next: NextState,
  special: SpecialMessages,
): { readonly root: number; readonly header: BlockInfo } {
  const { states, cells } = stores;
  const { request, before, reference } = parts;
  const header = headerOf(cells, parts, finished, next);
  const flow = flowOf(states, cells, parts, finished, next);
  if (!isBalanced(cells, flow)) throw new Error('the money of the block does not add up');
  const custom =
    next.masterchain === undefined
      ? undefined
      : storeMasterchainBlockExtra(cells, {
          keyBlock: next.masterchain.keyBlock,
          shardHashes: next.shardHashes === undefined ? undefined : cells.import(states, next.shardHashes),
          shardFees: parts.feesRoot,
          details: storeMasterchainBlockDetails(cells, {
            prevBlockSignatures: undefined,
            recoverCreateMsg: special.recovered,
            mintMsg: special.minted,
          }),
          config: next.masterchain.keyBlock
            ? { ...next.masterchain.config, root: cells.import(states, next.masterchain.config.root) }
            : undefined,
        });
  const { inMsgDescr, outMsgDescr } = finished.descriptors;
  const { accountBlocks } = next;
  const { randSeed, creator: createdBy } = request;
  const root = storeBlock(cells, {
    globalId: reference.globalId,
    info: storeBlockInfo(cells, header),
    valueFlow: storeValueFlow(cells, flow),
    stateUpdate: addStateUpdate(cells, states, before.root, next.state, parts.firstNew, {
      anew: rewritten(states, next.state),
      ways: waysToEdited(
        states,
        request.previous.map(({ state }) => state),
        request.edits,
      ),
    }),
    extra: storeBlockExtra(cells, { inMsgDescr, outMsgDescr, accountBlocks, randSeed, createdBy, custom }),
  });
  return { root, header };
}

/** Cells of a state that every block writes, whether they changed or not. */
function rewritten(states: CellStore, root: number): ReadonlySet<number> {
  const { outMsgQueueInfo, accounts, details, custom } = readShardState(states, root);
  const inner = custom === undefined ? [] : [custom, readMasterchainStateExtra(states, custom).details];
  return new Set([outMsgQueueInfo, accounts, details, ...inner]);
}

function flowOf(
  states: CellStore,
  cells: CellStore,
  { before, money }: BlockParts,
  { descriptors }: FinishedRun,
  next: NextState,
): ValueFlow {
  const { grams, extra } = next.burned;
  const burned: CurrencyCollection | undefined = grams === 0n && extra === undefined ? undefined : next.burned;
  return {
    fromPrevBlock: moveCurrencies(cells, states, before.totalBalance),
    toNextBlock: moveCurrencies(cells, states, next.totalBalance),
    imported: descriptors.imported.valueImported,
    exported: descriptors.exported,
    feesCollected: next.feesCollected,
    burned,
    feesImported: money.feesImported,
    recovered: money.recovered,
    created: money.created,
    minted: addCurrencies(cells, money.minted, money.edited),
  };
}

function headerOf(cells: CellStore, parts: BlockParts, { run }: FinishedRun, next: NextState): BlockInfo {
  const { request, config, reference, before, startLt } = parts;
  const { shard, previous, masterchain, utime } = request;
  const notMaster = shard.workchain !== MASTERCHAIN;
  const { listHash, catchainSeqno } = sessionOf(config, shard, catchainSeqnoOf(parts));
  return {
    version: 0,
    notMaster,
    afterMerge: previous.length === 2,
    beforeSplit: request.beforeSplit === true,
    afterSplit: previous.length === 1 && previous[0]!.id.shard !== shard.shard,
    wantSplit: request.wantSplit === true,
    wantMerge: request.wantMerge === true,
    keyBlock: next.masterchain?.keyBlock === true,
    vertSeqnoIncrement: false,
    flags: (config.capabilities & REPORT_VERSION) === 0n ? 0 : 1,
    seqno: next.seqno,
    vertSeqno: before.vertSeqno,
    ...shard,
    utime,
    startLt,
    endLt: run.endLt,
    validatorListHashShort: listHash,
    catchainSeqno,
    minRefMasterchainSeqno: next.minRefMasterchainSeqno,
    prevKeyBlockSeqno: reference.afterKeyBlock ? masterchain.id.seqno : (reference.lastKeyBlock?.seqno ?? 0),
    software: (config.capabilities & REPORT_VERSION) === 0n ? undefined : SOFTWARE,
    masterRef: notMaster ? storeBlockRef(cells, referTo(masterchain)) : undefined,
    prevRef: storePreviousBlocks(cells, previous.map(referTo)),
    prevVertRef: undefined,
  };
}

/** Session that makes the block: from the masterchain's state, or from the list of shards. */
function catchainSeqnoOf({ request, reference }: BlockParts): number {
  const { shard } = request;
  if (shard.workchain === MASTERCHAIN) return reference.catchainSeqno;
  const listed = reference.shards.filter(
    ({ block }) => block.workchain === shard.workchain && shardsIntersect(block.shard, shard.shard),
  );
  const seqnos = listed.map(({ nextCatchainSeqno }) => nextCatchainSeqno);
  // An unlisted merge has both halves listed.
  return Math.max(...seqnos) + (listed.length > 1 ? 1 : 0);
}

/** Returns the reference to a block for other blocks and states. */
export function referTo({ id, endLt }: BlockTip): ExtBlockRef {
  return { endLt, seqno: id.seqno, rootHash: id.rootHash, fileHash: id.fileHash };
}
