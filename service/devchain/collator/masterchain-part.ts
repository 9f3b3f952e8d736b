import { CellSlice } from '#service/decode/cell-slice.ts';
import type { CellStore } from '#service/decode/cell-store.ts';
import { readAccount } from '#service/decode/tlb/account.ts';
import type { ConfigParams } from '#service/decode/tlb/config-params.ts';
import type { CurrencyCollection } from '#service/decode/tlb/currency-collection.ts';
import { addCurrencies } from '#service/decode/tlb/currency-collection.ts';
import type { ExtBlockRef } from '#service/decode/tlb/ext-block-ref.ts';
import {
  storeMasterchainStateDetails,
  storeMasterchainStateExtra,
} from '#service/decode/tlb/masterchain-state-extra.ts';
import { addOldMasterchainBlock } from '#service/decode/tlb/old-masterchain-blocks.ts';
import { findShardAccount } from '#service/decode/tlb/shard-account.ts';
import type { ListedShard } from '#service/decode/tlb/shard-descr.ts';
import { storeShardHashes } from '#service/decode/tlb/shard-descr.ts';
import { FULL_SHARD, MASTERCHAIN } from '#service/decode/block-id.ts';
import { validatorSetHash } from '#service/decode/validator-session.ts';
import type { ChainConfig } from './chain-config.ts';
import { readChainConfig } from './chain-config.ts';
import { updateCreatorStats } from './creator-counts.ts';
import type { MasterchainState } from './masterchain-state.ts';
import { sessionOf } from './sessions.ts';
import { planShards } from './shard-list.ts';

/** Part of the state that only a masterchain block changes. */
export type MasterchainPart = {
  readonly keyBlock: boolean;
  readonly config: ConfigParams;
  /** Root of the list of shards. */
  readonly shardHashes: number | undefined;
  /** Cell of `McStateExtra`. */
  readonly custom: number;
};

export type MasterchainPartOptions = {
  readonly before: MasterchainState;
  readonly config: ChainConfig;
  readonly previous: ExtBlockRef;
  /** Shards with their new blocks, not yet planned. */
  readonly shards: readonly ListedShard[];
  /** Cell of `ShardAccounts` after the block. */
  readonly accounts: number;
  readonly utime: number;
  /** Field `CollateRequest.keyBlock`. */
  readonly keyBlock: boolean;
  readonly creator: Buffer;
  readonly shardCreators: readonly Buffer[];
  /** Currencies that the block and the shard blocks created and minted. */
  readonly created: CurrencyCollection;
};

/** Capability bit: states count the blocks of each validator. */
const CREATE_STATS = 2n;

/** Makes the masterchain's part of the state after a block. */
export function makeMasterchainPart(states: CellStore, options: MasterchainPartOptions): MasterchainPart {
  const { before, previous, utime } = options;
  const root = configOfContract(states, options.accounts, before.config.address) ?? before.config.root;
  const keyBlock = options.keyBlock || root !== before.config.root;
  const config = { address: before.config.address, root };
  const now = keyBlock ? readChainConfig(states, root) : options.config;
  const isNext = (seconds: number): boolean =>
    keyBlock || Math.floor(utime / seconds) > Math.floor(before.utime / seconds);
  const newShardSessions = isNext(now.catchain.shardLifetimeSeconds);
  const newSession = isNext(now.catchain.masterchainLifetimeSeconds);
  const shards = planShards(options.shards, now, { utime, newSessions: newShardSessions });
  const catchainSeqno = before.catchainSeqno + (newSession ? 1 : 0);
  const masterchain = { workchain: MASTERCHAIN, shard: FULL_SHARD };
  const { validators } = sessionOf(now, masterchain, catchainSeqno);
  const withStats = (now.capabilities & CREATE_STATS) !== 0n;
  const details = storeMasterchainStateDetails(states, {
    flags: withStats ? 1 : 0,
    // The hash here is computed as if for session 0. Headers have a hash of their own session.
    validatorListHashShort: validatorSetHash(0, validators),
    catchainSeqno,
    nextCatchainUpdated: newSession && newShardSessions,
    prevBlocks: addOldMasterchainBlock(states, before.prevBlocks, { ...previous, keyBlock: before.afterKeyBlock }),
    afterKeyBlock: keyBlock,
    lastKeyBlock: before.afterKeyBlock ? previous : before.lastKeyBlock,
    blockCreateStats: withStats
      ? { root: updateCreatorStats(states, before.blockCreateStats?.root, options), extended: false }
      : undefined,
  });
  const shardHashes = storeShardHashes(states, shards);
  const globalBalance = addCurrencies(states, before.globalBalance, options.created);
  return {
    keyBlock,
    config,
    shardHashes,
    custom: storeMasterchainStateExtra(states, { shardHashes, config, details, globalBalance }),
  };
}

/** Returns the configuration in the contract: the first reference of its data. */
function configOfContract(states: CellStore, accounts: number, address: Buffer): number | undefined {
  const found = findShardAccount(states, accounts, address);
  const state = found && readAccount(states, found.account)?.state;
  if (state?.kind !== 'active' || state.init.data === undefined) return undefined;
  const slice = new CellSlice(states, state.init.data);
  return slice.remainingRefs === 0 ? undefined : slice.ref();
}
