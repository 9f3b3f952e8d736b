import { randomBytes } from 'node:crypto';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';

import type { Boc } from '../decode/boc.ts';
import type { CellStore } from '../decode/cell-store.ts';
import { compileEmulator, createEmulator } from '../tvm/emulator.ts';
import { createBlockFiles } from './chain/block-files.ts';
import type { BlockTimerOptions } from './block-timer.ts';
import type { ChainBlock, GrowingChain } from './chain/chain.ts';
import { createChain } from './chain/chain.ts';
import type { AccountEdit } from './collator/state-edits.ts';
import type { Executor } from './collator/executor.ts';
import { createExecutor } from './collator/executor.ts';
import type { ExternalMessage, ExternalOutcome } from './collator/external-message.ts';
import type { AccountPlace } from './collator/missing-account.ts';
import { tryConfiguration } from './configuration-trial.ts';
import { buildFirstStates, networkKeys } from './first-states.ts';
import type { OriginReads, ForkSource, OriginalAccount } from './fork/fork.ts';
import { pointOf } from './fork/fork.ts';
import { createForkedContent } from './forked-content.ts';
import { buildGlobalConfig } from './global-config.ts';
import type { GlobalConfig } from './global-config.ts';
import type { StartTimer } from './chain/head.ts';
import { startTimer as plainTimer } from './chain/head.ts';
import type { DevchainLiteServer, DevchainServerOptions } from './lite-servers.ts';
import { startLiteServers } from './lite-servers.ts';
import type { Step } from './production/live-chain.ts';
import { createLiveChain } from './production/live-chain.ts';
import type { PersistedNetwork } from './storage/persisted-network.ts';
import { createLiveHead } from './chain/live-head.ts';
import { createMempool } from './production/mempool.ts';
import type { CheckedMessage } from './queries/message-queries.ts';
import { createMessageInbox } from './queries/message-queries.ts';
import { createMethodRunner } from './queries/method-runner.ts';
import { createQueryServerMetrics } from './metrics.ts';
import { createNetworkClock } from './network-clock.ts';
import { createNetworkMetrics } from './network-metrics.ts';
import type { Consensus, ValidatorKey } from './chain/signing.ts';
import { createSigner } from './chain/signing.ts';
import { createTimeSlice } from '../runtime/time-slice.ts';
import { hasMessagesOnTheWay } from './chain/snapshots.ts';
import type { StateRetention } from './chain/state-retention.ts';
import { DEFAULT_RETENTION } from './chain/state-retention.ts';
import { createOwnBlocks } from './own-blocks.ts';
import { createStepMaker, type ShardBlockSwitches } from './step-maker.ts';
import type { GenesisAccount } from './zerostate/zerostate.ts';

/** Private TON network: makes real blocks in this process and serves them over ADNL. */
export type PrivateNetwork = {
  /** In the order of the options. */
  readonly liteServers: readonly DevchainLiteServer[];
  readonly chain: GrowingChain;
  /** Newest masterchain block. */
  head(): ChainBlock;
  /** Calls the listener for every new masterchain block. The returned function ends that. */
  onHead(listener: (head: ChainBlock) => void): () => void;
  /** Makes a block at once. Accounts may be changed by hand before its transactions. */
  step(edits?: readonly AccountEdit[]): Promise<Step>;
  /**
   * Makes a step with changes that depend on the newest block. `edits` is called when no other block is in progress.
   * @returns the number of changed accounts
   */
  change(edits: () => readonly AccountEdit[]): Promise<number>;
  /** Shard blocks ahead of the masterchain. */
  readonly shardBlocks: ShardBlockSwitches;
  /** Makes no block by itself for some seconds. */
  delayBlocks(seconds: number): void;
  /** Seconds for which no block is made by itself, rounded up; 0 without a delay. */
  delayedSeconds(): number;
  /** Moves the network's clock on and makes a block. */
  advance(seconds: number): Promise<Step>;
  /** Sets the Unix seconds of the next block. The clock continues from there. */
  setNextUtime(utime: number): void;
  /**
   * Makes a transaction of each chain under a configuration, and stores none of them.
   * @param root in `states`
   * @throws Error when no block can be made with it
   */
  tryConfiguration(states: CellStore, root: number): void;
  /** Seconds that the network's clock is ahead of this machine's. */
  aheadSeconds(): number;
  /** Fetches an account of the forked network on first use. Makes a block when the account exists. */
  ensure(place: AccountPlace): Promise<void>;
  /** Fetches the libraries that a bag's library cells name, on first use. Makes a block when any exist. */
  ensureLibraries(bag: Boc): Promise<void>;
  /** Accounts that came over from the forked network. */
  readonly forkedAccounts: number;
  /** Returns `ForkedAccounts.originals`; empty in a network that is no fork. */
  originals(seqno: number): Promise<readonly OriginalAccount[]>;
  /** Returns the network's clock in Unix seconds, or the newest block's time when it is ahead. */
  utime(): number;
  /**
   * Takes a message from outside as a lite server does.
   * @param boc a bag of cells
   * @throws DevchainError `query_refused` in the node's words
   */
  send(boc: Buffer): void;
  /**
   * Sets the target depth of the basechain's splits. Its shards begin to split or merge after the configured delay, within the configured
   * depths.
   */
  setShardDepth(depth: number): void;
  /** Messages from outside that wait for a block. */
  readonly waiting: number;
  /** Runs for every message from outside that a block took or refused. */
  onOutcome(listener: (message: ExternalMessage, outcome: ExternalOutcome) => void): () => void;
  /** Signing keys of the masterchain. Keys may be added before a configuration names them. */
  readonly validatorKeys: ValidatorKey[];
  /** A wallet v4r2 with a fortune. */
  readonly faucet: { readonly id: Buffer; readonly seed: Buffer };
  /** The ecosystem's configuration file of this network. */
  globalConfig(): GlobalConfig;
  /** Ends the blocks, the servers and every connection. */
  close(): Promise<void>;
};

export type PrivateNetworkOptions = BlockTimerOptions & {
  /** Number of validators; default 1. */
  readonly validators?: number;
  readonly consensus?: Consensus;
  /** Signed 32 bits; default the forked network's id, or else -217. */
  readonly globalId?: number;
  /** Unix seconds of the zerostate; default now. */
  readonly genesisUtime?: number;
  /** Initial accounts of the basechain besides the faucet. */
  readonly accounts?: readonly GenesisAccount[];
  /** Most transactions in one chain's block; further messages wait. Default 1000. */
  readonly transactionsMax?: number;
  /** Number of cells of states at which the oldest states are forgotten. Default 200,000, some 30 MB. */
  readonly stateCellsMax?: number;
  /**
   * Bytes of blocks on disk at which the oldest blocks are forgotten. Default 256 MiB: some 23,000 empty masterchain blocks with their
   * basechain blocks.
   */
  readonly blockBytesMax?: number;
  /**
   * Bytes of cached original accounts of a forked network, for going back to them. Evicted originals are read again. Default 64 MiB, some
   * 30,000 accounts.
   */
  readonly originalBytesMax?: number;
  /** Least and greatest depth of the basechain's splits; default 0 and 4. */
  readonly minSplit?: number;
  readonly maxSplit?: number;
  /** Seconds from a decision to split or merge to its beginning, and its longest duration; default 100 and 100. */
  readonly splitMergeDelaySeconds?: number;
  readonly splitMergeIntervalSeconds?: number;
  /** Address of the lite servers; default 127.0.0.1. */
  readonly host?: string;
  /** Options of each lite server; default a single server on a free port. */
  readonly servers?: readonly DevchainServerOptions[];
};

export type PrivateNetworkDependencies = {
  /** Origin of a copy. Its accounts are fetched on first use. */
  readonly fork?: ForkSource;
  /** Stored network to continue. Without it the network ends with the process. The caller closes it after the network. */
  readonly stored?: PersistedNetwork;
  readonly logger: Logger;
  readonly register: Registry;
  /** Unix time in milliseconds; `Date.now` when absent. */
  readonly now?: () => number;
  readonly startTimer?: StartTimer;
  /** `node:crypto` when absent. */
  readonly random?: (bytes: number) => Buffer;
};

const DEFAULT_ORIGINAL_BYTES_MAX = 64 * 1_048_576;

const DEFAULT_TRANSACTIONS_MAX = 1000;

/**
 * Starts a network: makes the zerostates and the first blocks, and resolves when the lite servers listen.
 * @throws DevchainError `listen_failed`
 */
export async function createPrivateNetwork(
  options: PrivateNetworkOptions,
  dependencies: PrivateNetworkDependencies,
): Promise<PrivateNetwork> {
  const { logger, register, now = Date.now, startTimer = plainTimer, random = randomBytes } = dependencies;
  const { host = '127.0.0.1', servers = [{}], transactionsMax = DEFAULT_TRANSACTIONS_MAX } = options;
  const { stored, fork } = dependencies;
  const { validators = 1, consensus = 'ordinary' } = stored?.origin ?? options;
  const keys = networkKeys(validators);
  const zeroStates =
    stored?.origin?.zeroStates ??
    buildFirstStates(options, keys, Math.floor(now() / 1000), await fork?.readBeginning());
  const files = createBlockFiles();
  const chain = createChain(zeroStates, files);
  const window = retentionOf(options);
  const { executor, checker } = await createExecutors();
  const signer = createSigner(consensus, (publicKey) => privateKeyOf(keys.validators, publicKey));
  const slices = createTimeSlice(undefined);
  const head = createLiveHead(() => chain.lastSeqno);
  const listeners = new Set<(message: ExternalMessage, outcome: ExternalOutcome) => void>();
  const mempool = createMempool({
    chain,
    executor: checker,
    previousBlocks: () => live.previousBlocks(),
    aheadSeconds: () => clock.aheadSeconds(),
    onOutcome: (message, outcome) => listeners.forEach((listener) => listener(message, outcome)),
  });
  const newest = (): ChainBlock => chain.masterchain(chain.lastSeqno)!;
  const metrics = createNetworkMetrics(register, () => mempool.size);
  let asked: OriginReads = { accounts: [], absentLibraries: [] };
  if (stored?.origin === undefined) stored?.begin({ validators, consensus, zeroStates, fork: fork && pointOf(fork) });
  else asked = await stored.replay(chain, window, slices, (part) => metrics.loaded(part));
  metrics.loaded(1);
  const forked =
    fork &&
    createForkedContent(fork, {
      chain,
      head: newest,
      asked,
      stored,
      originalBytesMax: options.originalBytesMax ?? DEFAULT_ORIGINAL_BYTES_MAX,
      makeBlock: () => step(),
      logger,
    });
  const live = createLiveChain(chain, {
    executor,
    signer,
    random,
    slices,
    window,
    keep: (one, edits) => stored?.append({ ...one, brought: forked?.accounts.broughtBy(edits) ?? [] }),
    ...(forked !== undefined && { isMissing: (place) => forked.accounts.isMissing(place) }),
  });
  const clock = createNetworkClock({ now, newestUtime: () => chain.masterchain(chain.lastSeqno)?.header.utime ?? 0 });
  const { utime } = clock;
  const steps = createStepMaker(
    { transactionsMax, shardDepth: options.minSplit ?? 0 },
    { live, mempool, head, clock, metrics, forked },
  );
  const step = (edits: readonly AccountEdit[] = []): Promise<Step> => steps.make(() => edits);
  const { timer, shardBlocks } = createOwnBlocks(options, {
    steps,
    hasMessages: () => mempool.size > 0 || hasMessagesOnTheWay(chain, newest()),
    startTimer,
    now,
    logger,
  });
  const take = (message: CheckedMessage): void => {
    mempool.take(message);
    timer.messageWaits();
  };
  // The first masterchain block lists the basechain's zerostate, the second lists its first block. Accounts can be read from there on.
  while (chain.lastSeqno < 2) await step();
  const shared = {
    chain,
    head,
    logger,
    metrics: createQueryServerMetrics(register),
    startTimer,
    now,
    methods: createMethodRunner(),
    signed: live.signed,
    ...(forked !== undefined && { beforeAnswer: forked.beforeAnswer }),
  };
  const serving = await startLiteServers(host, servers, { ...shared, take: (_, message) => take(message) });
  const inbox = createMessageInbox({ nowMs: now, take: (_, message) => take(message) });
  timer.start();
  return {
    liteServers: serving.liteServers,
    chain,
    head: newest,
    onHead: (listener) => head.onMove((seqno) => listener(chain.masterchain(seqno)!)),
    step,
    async change(edits) {
      let changed = 0;
      await steps.make(() => {
        const list = edits();
        changed = list.length;
        return list;
      });
      return changed;
    },
    shardBlocks,
    delayBlocks: (seconds) => timer.delay(seconds * 1000),
    delayedSeconds: () => Math.ceil(timer.delayedMs() / 1000),
    advance(seconds) {
      clock.advance(seconds);
      return step();
    },
    setNextUtime: (wanted) => clock.setNext(wanted),
    tryConfiguration(states, root) {
      tryConfiguration(states, root, {
        chain,
        head: newest,
        executor: checker,
        previousBlocks: () => live.previousBlocks(),
        utime,
        receiver: keys.faucet.id,
      });
    },
    aheadSeconds: clock.aheadSeconds,
    ensure: async (place) => await forked?.ensure(place),
    ensureLibraries: async (bag) => await forked?.ensureLibraries(bag),
    get forkedAccounts() {
      return forked?.accounts.count ?? 0;
    },
    originals: async (seqno) => (await forked?.accounts.originals(seqno)) ?? [],
    utime: () => Math.max(utime(), newest().header.utime),
    send(body) {
      inbox.accept({ chain, tip: chain.lastSeqno, nowSeconds: Math.floor(now() / 1000) }, { body });
    },
    setShardDepth: (depth) => steps.setShardDepth(depth),
    get waiting() {
      return mempool.size;
    },
    onOutcome(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    validatorKeys: keys.validators,
    faucet: { seed: keys.faucetSeed, id: keys.faucet.id },
    globalConfig: () => globalConfigOf(chain, serving.liteServers),
    async close() {
      timer.close();
      await serving.close();
      await live.idle();
      for (const part of [executor, checker, files]) part.close();
    },
  };
}

/** Creates an executor that makes blocks, and an executor that checks, because a block may be in progress during a check. */
async function createExecutors(): Promise<{ readonly executor: Executor; readonly checker: Executor }> {
  const program = await compileEmulator();
  const [making, checking] = await Promise.all([createEmulator(program), createEmulator(program)]);
  return { executor: createExecutor(making), checker: createExecutor(checking) };
}

function retentionOf({ stateCellsMax, blockBytesMax }: PrivateNetworkOptions): StateRetention {
  return {
    cellsMax: stateCellsMax ?? DEFAULT_RETENTION.cellsMax,
    blockBytesMax: blockBytesMax ?? DEFAULT_RETENTION.blockBytesMax,
  };
}

function privateKeyOf(keys: readonly ValidatorKey[], publicKey: Buffer): ValidatorKey['privateKey'] | undefined {
  return keys.find((key) => key.publicKey.equals(publicKey))?.privateKey;
}

function globalConfigOf(chain: GrowingChain, liteServers: readonly DevchainLiteServer[]): GlobalConfig {
  const zeroState = chain.zeroStates[0]!.id;
  // A network that an earlier release made may have no key block.
  const initBlock = chain.keyBlocks[0] === undefined ? zeroState : chain.masterchainId(chain.keyBlocks[0]);
  return buildGlobalConfig({ zeroState, initBlock }, liteServers);
}
