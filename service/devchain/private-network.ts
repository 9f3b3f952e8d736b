import { createHash, randomBytes } from 'node:crypto';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';

import { BitWriter } from '../decode/bit-writer.ts';
import type { Boc } from '../decode/boc.ts';
import { parseBoc } from '../decode/boc.ts';
import { writeBocText } from '../decode/boc-writer.ts';
import type { CellStore } from '../decode/cell-store.ts';
import { CellSlice } from '../decode/cell-slice.ts';
import { createCellStore } from '../decode/cell-store.ts';
import { findConfigParam } from '../decode/tlb/config-params.ts';
import { writeStandardAddress } from '../decode/tlb/message-address.ts';
import type { CellAt } from '../decode/tlb/message-cells.ts';
import { compileEmulator, createEmulator } from '../tvm/emulator.ts';
import { writeShardAccount } from '../tvm/shard-account.ts';
import { createBlockFiles } from './chain/block-files.ts';
import type { ChainBlock, GrowingChain } from './chain/chain.ts';
import { createChain } from './chain/chain.ts';
import type { AccountEdit } from './collator/state-edits.ts';
import { readChainConfig } from './collator/chain-config.ts';
import { createExecutor } from './collator/executor.ts';
import type { ExternalMessage, ExternalOutcome } from './collator/external-message.ts';
import type { AccountPlace } from './collator/missing-account.ts';
import { MissingAccount } from './collator/missing-account.ts';
import type { OriginReads, ForkGenesis, ForkSource, OriginalAccount } from './fork/fork.ts';
import { accountAskedFor, bagSentBy, createForkedAccounts, pointOf } from './fork/fork.ts';
import { createForkedLibraries } from './fork/forked-libraries.ts';
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
import { createNetworkMetrics } from './network-metrics.ts';
import type { Consensus, ValidatorKey } from './chain/signing.ts';
import { createSigner, describeValidator, validatorKey } from './chain/signing.ts';
import { createTimeSlice } from '../runtime/time-slice.ts';
import { accountAt, hasMessagesOnTheWay } from './chain/snapshots.ts';
import { DEFAULT_RETENTION } from './chain/state-retention.ts';
import { CONFIG_ID } from './zerostate/genesis-config.ts';
import { genesisWallet } from './zerostate/wallet.ts';
import { buildZeroStates } from './zerostate/zerostate.ts';
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

export type PrivateNetworkOptions = {
  /** Seconds between masterchain blocks. Without it blocks are made on demand only. */
  readonly blockSeconds?: number;
  /** A block as soon as a message from outside waits. */
  readonly blockPerMessage?: boolean;
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
  readonly kept?: PersistedNetwork;
  readonly logger: Logger;
  readonly register: Registry;
  /** Unix time in milliseconds; `Date.now` when absent. */
  readonly now?: () => number;
  readonly startTimer?: StartTimer;
  /** `node:crypto` when absent. */
  readonly random?: (bytes: number) => Buffer;
};

/** Keys of a private network are public, because it is only for tests. */
function seedOf(name: string): Buffer {
  return createHash('sha256').update(`tonplane private network: ${name}`).digest();
}

/** Nanotons of the faucet: mainnet's initial supply. */
const FAUCET_BALANCE = 5_000_000_000_000_000_000n;

const DEFAULT_ORIGINAL_BYTES_MAX = 64 * 1_048_576;
/** Global id of a network that specifies none. */
export const DEFAULT_GLOBAL_ID = -217;
const DEFAULT_TRANSACTIONS_MAX = 1000;
const VALIDATOR_WEIGHT = 1n << 40n;

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
  const { kept, fork } = dependencies;
  const { validators = 1, consensus = 'ordinary' } = kept?.origin ?? options;
  const validatorKeys = Array.from({ length: validators }, (_, index) => validatorKey(seedOf(`validator ${index}`)));
  const faucet = { seed: seedOf('faucet') };
  const wallet = genesisWallet(validatorKey(faucet.seed).publicKey, FAUCET_BALANCE);
  const zeroStates =
    kept?.origin?.zeroStates ??
    startStates(options, validatorKeys, wallet, Math.floor(now() / 1000), await fork?.readBeginning());
  const files = createBlockFiles();
  const chain = createChain(zeroStates, files);
  const { cellsMax, blockBytesMax } = DEFAULT_RETENTION;
  const window = {
    cellsMax: options.stateCellsMax ?? cellsMax,
    blockBytesMax: options.blockBytesMax ?? blockBytesMax,
  };
  const program = await compileEmulator();
  const [executor, checker] = (await Promise.all([createEmulator(program), createEmulator(program)])).map(
    createExecutor,
  );
  const signer = createSigner(
    consensus,
    (key) => validatorKeys.find(({ publicKey }) => publicKey.equals(key))?.privateKey,
  );
  const slices = createTimeSlice(undefined);
  const head = createLiveHead(() => chain.lastSeqno);
  const listeners = new Set<(message: ExternalMessage, outcome: ExternalOutcome) => void>();
  const mempool = createMempool({
    chain,
    executor: checker!,
    previousBlocks: () => live.previousBlocks(),
    aheadSeconds: () => aheadSeconds(),
    onOutcome: (message, outcome) => listeners.forEach((listener) => listener(message, outcome)),
  });
  const newest = (): ChainBlock => chain.masterchain(chain.lastSeqno)!;
  const metrics = createNetworkMetrics(register, () => mempool.size);
  let asked: OriginReads = { accounts: [], absentLibraries: [] };
  if (kept?.origin === undefined) kept?.begin({ validators, consensus, zeroStates, fork: fork && pointOf(fork) });
  else asked = await kept.replay(chain, window, slices, (part) => metrics.loaded(part));
  metrics.loaded(1);
  const libraries =
    fork &&
    createForkedLibraries(fork, {
      chain,
      head: newest,
      absent: asked.absentLibraries,
      keepAbsent: (hash) => kept?.appendAbsentLibrary(hash),
      logger,
    });
  const forked =
    fork &&
    createForkedAccounts(fork, {
      chain,
      head: newest,
      asked: asked.accounts,
      keepAbsent: (place) => kept?.appendAbsent(place),
      originalBytesMax: options.originalBytesMax ?? DEFAULT_ORIGINAL_BYTES_MAX,
      fetchLibraries: async (bag) => await libraries?.fetch(bag),
    });
  const live = createLiveChain(chain, {
    executor: executor!,
    signer,
    random,
    slices,
    window,
    keep: (one, edits) => kept?.append({ ...one, brought: forked?.broughtBy(edits) ?? [] }),
    ...(forked !== undefined && { isMissing: (place) => forked.isMissing(place) }),
  });
  let shardDepth = options.minSplit ?? 0;
  /** A stored network's time may be ahead of the clock. */
  let skippedSeconds = Math.max(0, (chain.masterchain(chain.lastSeqno)?.header.utime ?? 0) - Math.floor(now() / 1000));
  let cancelTimer: (() => void) | undefined;
  let closed = false;

  const utime = (): number => Math.floor(now() / 1000) + skippedSeconds;

  const aheadSeconds = (): number => Math.max(0, Math.max(utime(), newest().header.utime) - Math.floor(now() / 1000));

  /** Time of the next block, where a developer named it. */
  let nextUtime: number | undefined;

  /** Time of a block that is made now. */
  function blockUtime(): number {
    if (nextUtime === undefined) return utime();
    skippedSeconds = Math.max(0, nextUtime - Math.floor(now() / 1000));
    return nextUtime;
  }

  async function makeBlock(edits: () => readonly AccountEdit[]): Promise<Step> {
    const stopTimer = metrics.time();
    const made = await tryStep(edits);
    stopTimer(made);
    mempool.settle(made.externals);
    head.moved();
    return made;
  }

  /** Repeats the step until all needed accounts are available. A fork reports missing accounts one by one. */
  async function tryStep(edits: () => readonly AccountEdit[]): Promise<Step> {
    for (;;) {
      let brought: readonly AccountEdit[] = [];
      let published: readonly CellAt[] = [];
      try {
        const made = await live.step({
          utime: blockUtime(),
          externals: () => mempool.list(),
          transactionsMax,
          shardDepth,
          edits: () => [...(brought = forked?.edits() ?? []), ...edits()],
          libraries: () => (published = libraries?.waiting() ?? []),
        });
        nextUtime = undefined;
        forked?.settle(brought, made.block.id.seqno);
        libraries?.settle(published);
        return made;
      } catch (error) {
        if (!(error instanceof MissingAccount) || forked === undefined) throw error;
        await forked.fetch(error.place);
      }
    }
  }

  const ensure = async (place: AccountPlace): Promise<void> => await forked?.ensure(place, step);

  async function ensureLibraries(bag: Boc): Promise<void> {
    await libraries?.fetch(bag);
    if (libraries !== undefined && libraries.waiting().length > 0) await step();
  }

  const step = (edits: readonly AccountEdit[] = []): Promise<Step> => makeBlock(() => edits);

  function later(delayMs: number): void {
    cancelTimer?.();
    cancelTimer = closed ? undefined : startTimer(() => void tick(), delayMs);
  }

  async function tick(): Promise<void> {
    const startedMs = now();
    try {
      await step();
    } catch (error) {
      logger.error({ err: error }, 'a block of the private network cannot be made');
    }
    if (options.blockSeconds !== undefined) {
      later(Math.max(0, options.blockSeconds * 1000 - (now() - startedMs)));
    } else if (options.blockPerMessage === true && (mempool.size > 0 || hasMessagesOnTheWay(chain, newest()))) later(0);
  }

  const take = (message: CheckedMessage): void => {
    mempool.take(message);
    if (options.blockPerMessage === true) later(0);
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
    ...(forked !== undefined && {
      async beforeAnswer(request: Buffer): Promise<void> {
        const place = accountAskedFor(request);
        if (place !== undefined) await ensure(place);
        const bag = bagSentBy(request);
        if (bag !== undefined) await ensureLibraries(bag);
      },
    }),
  };
  const serving = await startLiteServers(host, servers, { ...shared, take: (_, message) => take(message) });
  const inbox = createMessageInbox({ nowMs: now, take: (_, message) => take(message) });
  if (options.blockSeconds !== undefined) later(options.blockSeconds * 1000);
  return {
    liteServers: serving.liteServers,
    chain,
    head: newest,
    onHead: (listener) => head.onMove((seqno) => listener(chain.masterchain(seqno)!)),
    step,
    async change(edits) {
      let changed = 0;
      await makeBlock(() => {
        const list = edits();
        changed = list.length;
        return list;
      });
      return changed;
    },
    advance(seconds) {
      skippedSeconds += seconds;
      return step();
    },
    setNextUtime(wanted) {
      nextUtime = wanted;
    },
    tryConfiguration(states, root) {
      readChainConfig(states, root);
      const world = { states, config: root, libraries: undefined, utime: utime(), randSeed: Buffer.alloc(32) };
      checker!.open({ ...world, previousBlocks: live.previousBlocks() });
      const lt = newest().header.endLt;
      const trials = [
        { workchain: 0, id: wallet.id, message: { boc: trialMessage(wallet.id) } },
        { workchain: -1, id: CONFIG_ID, message: 'tock' as const },
      ];
      for (const { message, ...place } of trials) {
        const found = accountAt(chain, newest(), place)!;
        const last = { hash: found.lastTransactionHash, lt: found.lastTransactionLt };
        const account = writeShardAccount({ table: chain.states, cell: found.account }, last);
        const outcome = checker!.run({ account: account.toString('base64'), message, lt });
        if (outcome.kind === 'rejected') throw new Error(outcome.error);
      }
    },
    aheadSeconds,
    ensure,
    ensureLibraries,
    get forkedAccounts() {
      return forked?.count ?? 0;
    },
    originals: async (seqno) => (await forked?.originals(seqno)) ?? [],
    utime: () => Math.max(utime(), newest().header.utime),
    send(body) {
      inbox.accept({ chain, tip: chain.lastSeqno, nowSeconds: Math.floor(now() / 1000) }, { body });
    },
    setShardDepth(depth) {
      shardDepth = depth;
    },
    get waiting() {
      return mempool.size;
    },
    onOutcome(listener) {
      listeners.add(listener);
      return () => {
        listeners.delete(listener);
      };
    },
    validatorKeys,
    faucet: { ...faucet, id: wallet.id },
    globalConfig() {
      const zeroState = chain.zeroStates[0]!.id;
      // A network that an earlier release made may have no key block.
      const initBlock = chain.keyBlocks[0] === undefined ? zeroState : chain.masterchainId(chain.keyBlocks[0]);
      return buildGlobalConfig({ zeroState, initBlock }, serving.liteServers);
    },
    async close() {
      closed = true;
      cancelTimer?.();
      await serving.close();
      await live.idle();
      executor!.close();
      checker!.close();
      files.close();
    },
  };
}

/** Returns a message with one TON to an account of the basechain. */
function trialMessage(id: Buffer): string {
  const store = createCellStore();
  const place = { workchain: 0, id };
  // `int_msg_info$0`, not to be bounced, from the receiver itself, without a body.
  const message = writeStandardAddress(writeStandardAddress(new BitWriter().uint(0b0100, 4), place), place);
  message.coins(1_000_000_000n).bit(false).coins(0n).coins(0n).int(1n, 64).uint(1, 32).uint(0, 2);
  return writeBocText(store, [message.finish(store)]);
}

function startStates(
  options: PrivateNetworkOptions,
  keys: readonly ValidatorKey[],
  wallet: GenesisAccount,
  nowSeconds: number,
  fork: ForkGenesis | undefined,
): Parameters<typeof createChain>[0] {
  const { masterchain, basechain } = buildZeroStates({
    globalId: options.globalId ?? (fork && globalIdOf(fork)) ?? DEFAULT_GLOBAL_ID,
    utime: Math.max(options.genesisUtime ?? nowSeconds, fork?.utime ?? 0),
    ...(fork !== undefined && { lt: fork.endLt, base: fork.config }),
    validators: keys.map((key) => describeValidator(key, VALIDATOR_WEIGHT)),
    accounts: [wallet, ...(options.accounts ?? [])],
    minSplit: options.minSplit ?? 0,
    maxSplit: options.maxSplit ?? 4,
    splitMergeDelaySeconds: options.splitMergeDelaySeconds ?? 100,
    splitMergeIntervalSeconds: options.splitMergeIntervalSeconds ?? 100,
  });
  return [masterchain, basechain];
}

/** Returns parameter 19 of a configuration; undefined when absent. */
function globalIdOf({ config }: ForkGenesis): number | undefined {
  const table = parseBoc(config);
  const cell = findConfigParam(table, table.roots[0]!, 19);
  return cell === undefined ? undefined : new CellSlice(table, cell).int(32);
}
