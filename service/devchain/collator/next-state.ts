import { MASTERCHAIN } from '#service/decode/block-id.ts';
import type { CellStore } from '#service/decode/cell-store.ts';
import { storeAccountBlocks } from '#service/decode/tlb/account-blocks.ts';
import type { CurrencyCollection } from '#service/decode/tlb/currency-collection.ts';
import {
  NO_CURRENCIES,
  addCurrencies,
  moveCurrencies,
  onlyGrams,
  subtractCurrencies,
} from '#service/decode/tlb/currency-collection.ts';
import { storeOutMsgQueueInfo } from '#service/decode/tlb/out-msg-queue-info.ts';
import { storeProcessedInfo } from '#service/decode/tlb/processed-info.ts';
import { updateShardAccounts } from '#service/decode/tlb/shard-account.ts';
import type { ListedShard } from '#service/decode/tlb/shard-descr.ts';
import { totalShardFees } from '#service/decode/tlb/shard-fees.ts';
import { storeShardState, storeShardStateDetails } from '#service/decode/tlb/shard-state.ts';
import type { BlockLoad } from './block-load.ts';
import { isHeavy, isLight } from './block-load.ts';
import type { BlockParts, FinishedRun } from './block-parts.ts';
import { referTo } from './block-parts.ts';
import { storeCurrencyDictionary, totalOf } from './descriptors.ts';
import { storeShardAccounts } from './state-edits.ts';
import type { MasterchainPart } from './masterchain-part.ts';
import { makeMasterchainPart } from './masterchain-part.ts';
import { burnedPart } from './value-flow.ts';
import { addProcessed, leastSeqno } from './processed-upto.ts';
import { updatePublicLibraries } from './public-libraries.ts';
import { NO_SEQNO } from './shard-list.ts';

/** State after a block, and the block's facts about it. */
export type NextState = {
  /** In the store of states. */
  readonly state: number;
  readonly seqno: number;
  readonly minRefMasterchainSeqno: number;
  /** In the store of states. */
  readonly totalBalance: CurrencyCollection;
  /** In the block's store, as the next two. */
  readonly feesCollected: CurrencyCollection;
  readonly burned: CurrencyCollection;
  /** Cell of `ShardAccountBlocks`. */
  readonly accountBlocks: number;
  readonly masterchain: MasterchainPart | undefined;
  /** Root of the list of shards, in the store of states. */
  readonly shardHashes: number | undefined;
};

/** Capability bit: states have the lengths of their queues. */
const STORE_QUEUE_SIZE = 64n;

/** Average size of a cell in a block's file. */
const CELL_BYTES = 50;

/** Makes the state after a block. */
export function storeNextState(
  { states, cells }: { readonly states: CellStore; readonly cells: CellStore },
  parts: BlockParts,
  finished: FinishedRun,
  listed: readonly ListedShard[],
): NextState {
  const { request, before, config, money } = parts;
  const { shard, previous, masterchain, utime } = request;
  const isMasterchain = shard.workchain === MASTERCHAIN;
  const seqno = Math.max(...previous.map(({ id }) => id.seqno)) + 1;
  const blocksRoot = storeAccountBlocks(cells, finished.accounts.blocks);
  const fees = feesOf(cells, parts, finished, totalOf(cells, blocksRoot));
  const { accounts, totalBalance } = storeAccounts(states, parts, finished);
  const referenceSeqno = isMasterchain ? seqno : masterchain.id.seqno;
  const { processedRoot, leastProcessed } = storeProcessed(states, parts, finished, referenceSeqno);
  const part = isMasterchain
    ? makeMasterchainPart(states, {
        before: parts.reference,
        config,
        previous: referTo(previous[0]!),
        shards: listed,
        accounts,
        utime,
        keyBlock: request.keyBlock ?? false,
        creator: request.creator,
        shardCreators: request.tops.flatMap(({ creators }) => creators),
        created: moveCurrencies(states, cells, createdOf(cells, parts)),
      })
    : undefined;
  const leastListed = listed.reduce((least, one) => Math.min(least, one.minRefMasterchainSeqno), NO_SEQNO);
  const minRefMasterchainSeqno = Math.min(referenceSeqno, leastProcessed, isMasterchain ? leastListed : NO_SEQNO);
  const withSize = (config.capabilities & STORE_QUEUE_SIZE) !== 0n;
  const validatorFees = addCurrencies(states, before.totalValidatorFees, moveCurrencies(states, cells, fees.collected));
  const limits = isMasterchain ? config.limits.masterchain : config.limits.shards;
  const load = loadOf(cells, parts, finished);
  const state = storeShardState(states, {
    globalId: before.globalId,
    ...shard,
    seqno,
    vertSeqno: before.vertSeqno,
    utime,
    lt: finished.run.endLt,
    minRefMasterchainSeqno,
    outMsgQueueInfo: storeOutMsgQueueInfo(states, {
      queue: finished.queue.finish(),
      processed: processedRoot,
      dispatch: finished.dispatch.finish(),
      size: withSize ? finished.queue.size : undefined,
    }),
    beforeSplit: request.beforeSplit === true,
    accounts,
    details: storeShardStateDetails(states, {
      overloadHistory: shift(before.overloadHistory, finished.isLimited || isHeavy(limits, load)),
      underloadHistory: shift(
        before.underloadHistory,
        !finished.isLimited && isLight(limits, load, finished.queue.size),
      ),
      totalBalance,
      totalValidatorFees: subtractCurrencies(states, validatorFees, moveCurrencies(states, cells, money.recovered)),
      libraries: isMasterchain
        ? updatePublicLibraries(states, before.libraries, finished.accounts.libraries)
        : before.libraries,
      masterRef: isMasterchain ? undefined : referTo(masterchain),
    }),
    custom: part?.custom,
  });
  return {
    state,
    seqno,
    minRefMasterchainSeqno,
    totalBalance,
    feesCollected: fees.collected,
    burned: fees.burned,
    accountBlocks: storeCurrencyDictionary(cells, blocksRoot),
    masterchain: part,
    shardHashes: part?.shardHashes,
  };
}

function shift(history: bigint, set: boolean): bigint {
  return BigInt.asUintN(64, (history << 1n) | (set ? 1n : 0n));
}

/** The block is not written yet: its cells so far are some nine tenths of it. */
function loadOf(cells: CellStore, { startLt }: BlockParts, { run }: FinishedRun): BlockLoad {
  return { bytes: cells.size * CELL_BYTES, gas: run.gas, ltDelta: Number(run.endLt - startLt) };
}

/** Returns currencies that a masterchain block and its included shard blocks created and minted. */
function createdOf(cells: CellStore, { request, money, feesRoot }: BlockParts): CurrencyCollection {
  const own = addCurrencies(cells, money.created, addCurrencies(cells, money.minted, money.edited));
  const shards = request.tops.reduce((sum, { minted }) => sum + minted, 0n);
  return addCurrencies(cells, addCurrencies(cells, own, onlyGrams(shards)), totalShardFees(cells, feesRoot).create);
}

/** All fees of the block, without the part of them that is burned. */
function feesOf(
  cells: CellStore,
  { request, config, money }: BlockParts,
  { descriptors, run }: FinishedRun,
  transactionFees: CurrencyCollection,
): { readonly collected: CurrencyCollection; readonly burned: CurrencyCollection } {
  const fresh = addCurrencies(cells, transactionFees, onlyGrams(descriptors.imported.feesCollected));
  const isMasterchain = request.shard.workchain === MASTERCHAIN;
  const burnedNow = isMasterchain ? burnedPart(config, fresh) : NO_CURRENCIES;
  const collected = subtractCurrencies(cells, addCurrencies(cells, money.feesCollected, fresh), burnedNow);
  const burned = addCurrencies(cells, addCurrencies(cells, money.burned, burnedNow), onlyGrams(run.burned));
  return { collected, burned };
}

function storeAccounts(
  states: CellStore,
  { before }: BlockParts,
  { accounts }: FinishedRun,
): { readonly accounts: number; readonly totalBalance: CurrencyCollection } {
  const root = updateShardAccounts(states, before.accountsRoot, accounts.changes);
  const { cell, balance } = storeShardAccounts(states, root);
  return { accounts: cell, totalBalance: balance };
}

/** Stands behind every message of its lt. */
const LAST_HASH = Buffer.alloc(32, 0xff);

/** Stores how far the shard has taken messages: to the last delivered message, or all messages. */
function storeProcessed(
  states: CellStore,
  { before, reference }: BlockParts,
  { run, tookAll }: FinishedRun,
  masterchainSeqno: number,
): { readonly processedRoot: number | undefined; readonly leastProcessed: number } {
  let { processed } = before;
  if (run.lastDelivered !== undefined) {
    processed = addProcessed(processed, { masterchainSeqno, ...run.lastDelivered });
  } else if (tookAll && reference.lt > 0n) {
    processed = addProcessed(processed, { masterchainSeqno, lt: reference.lt - 1n, hash: LAST_HASH });
  }
  return {
    processedRoot: storeProcessedInfo(states, processed.list),
    leastProcessed: leastSeqno(processed, NO_SEQNO),
  };
}
