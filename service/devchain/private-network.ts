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
import { createBlockFiles } from './block-files.ts';
import type { ChainBlock, GrowingChain } from './chain.ts';
import { createChain } from './chain.ts';
import type { AccountEdit } from './collator/edits.ts';
import { readChainConfig } from './collator/chain-config.ts';
import { createExecutor } from './collator/executor.ts';
import type { ExternalMessage, ExternalOutcome } from './collator/external-message.ts';
import type { AccountPlace } from './collator/missing-account.ts';
import { MissingAccount } from './collator/missing-account.ts';
import type { AskedOfOrigin, ForkBeginning, ForkSource, OriginalAccount } from './fork.ts';
import { accountAskedFor, bagSentBy, createForkedAccounts, pointOf } from './fork.ts';
import { createForkedLibraries } from './forked-libraries.ts';
import { buildGlobalConfig } from './global-config.ts';
import type { GlobalConfig } from './global-config.ts';
import type { StartTimer } from './head.ts';
import { startTimer as plainTimer } from './head.ts';
import type { DevchainLiteServer, DevchainServerOptions } from './lite-servers.ts';
import { startLiteServers } from './lite-servers.ts';
import type { Step } from './live-chain.ts';
import { createLiveChain } from './live-chain.ts';
import type { KeptNetwork } from './kept-network.ts';
import { createLiveHead } from './live-head.ts';
import { createMempool } from './mempool.ts';
import type { CheckedMessage } from './message-queries.ts';
import { createMessageInbox } from './message-queries.ts';
import { createMethodRunner } from './method-runner.ts';
import { createQueryServerMetrics } from './metrics.ts';
import { createNetworkMetrics } from './network-metrics.ts';
import type { Consensus, ValidatorKey } from './signing.ts';
import { createSigner, describeValidator, validatorKey } from './signing.ts';
import { createSlices } from './slices.ts';
import { accountAt, hasMessagesOnTheWay } from './snapshots.ts';
import { DEFAULT_WINDOW } from './state-window.ts';
import { CONFIG_ID } from './zerostate/genesis-config.ts';
import { genesisWallet } from './zerostate/wallet.ts';
import { buildZeroStates } from './zerostate/zerostate.ts';
import type { GenesisAccount } from './zerostate/zerostate.ts';

/** A TON network of one's own: makes real blocks in this process and serves them over ADNL. */
export type PrivateNetwork = {
  /** In the order of the options. */
  readonly liteServers: readonly DevchainLiteServer[];
  readonly chain: GrowingChain;
  /** Newest masterchain block. */
  head(): ChainBlock;
  /** Runs on every new masterchain block; returns what ends that. */
  onHead(listener: (head: ChainBlock) => void): () => void;
  /** Makes a block at once, before whose transactions accounts may be changed by hand. */
  step(edits?: readonly AccountEdit[]): Promise<Step>;
  /**
   * As `step`, with changes that depend on the newest block: they are asked for when no other block is under way.
   * @returns how many accounts were changed
   */
  change(edits: () => readonly AccountEdit[]): Promise<number>;
  /** Moves the network's clock on and makes a block. */
  advance(seconds: number): Promise<Step>;
  /** Unix seconds of the next block; the clock goes on from there. */
  setNextUtime(utime: number): void;
  /**
   * Makes a transaction of each chain under a configuration, and keeps none of them.
   * @param root in `states`
   * @throws Error when no block can be made with it
   */
  tryConfiguration(states: CellStore, root: number): void;
  /** Seconds that the network's clock is ahead of this machine's. */
  aheadSeconds(): number;
  /** Brings an account over from the forked network, unless that was done; makes a block when there is one. */
  ensure(place: AccountPlace): Promise<void>;
  /** Brings the libraries over that a bag's library cells name, unless that was done; makes a block when there are any. */
  ensureLibraries(bag: Boc): Promise<void>;
  /** Accounts that came over from the forked network. */
  readonly forkedAccounts: number;
  /** As `ForkedAccounts.originals`; none in a network that is no fork. */
  originals(seqno: number): Promise<readonly OriginalAccount[]>;
  /** The network's clock, in Unix seconds; that of the newest block when it is ahead. */
  utime(): number;
  /**
   * Takes a message from outside as a lite server does.
   * @param boc a bag of cells
   * @throws DevchainError `query_refused` in the node's words
   */
  send(boc: Buffer): void;
  /**
   * Says how deep the basechain should be split. Its shards begin to split or merge when the configured delay is over, and at
   * most to the configured depths.
   */
  setShardDepth(depth: number): void;
  /** Messages from outside that wait for a block. */
  readonly waiting: number;
  /** Runs for every message from outside that a block took or refused. */
  onOutcome(listener: (message: ExternalMessage, outcome: ExternalOutcome) => void): () => void;
  /** Keys by which the masterchain is signed; more may be added before a configuration names them. */
  readonly validatorKeys: ValidatorKey[];
  /** A wallet v4r2 with a fortune. */
  readonly faucet: { readonly id: Buffer; readonly seed: Buffer };
  /** The ecosystem's configuration file of this network. */
  globalConfig(): GlobalConfig;
  /** Ends the blocks, the servers and every connection. */
  close(): Promise<void>;
};

export type PrivateNetworkOptions = {
  /** Time between masterchain blocks; without it there are blocks on demand only. */
  readonly blockSeconds?: number;
  /** A block as soon as a message from outside waits. */
  readonly blockPerMessage?: boolean;
  /** How many validators; default 1. */
  readonly validators?: number;
  readonly consensus?: Consensus;
  /** Signed 32 bits; default that of the forked network, or else -217. */
  readonly globalId?: number;
  /** Unix seconds of the zerostate; default now. */
  readonly genesisUtime?: number;
  /** Accounts of the basechain beside the faucet that there are from the start. */
  readonly accounts?: readonly GenesisAccount[];
  /** Transactions of one chain's block; messages that come to more wait. Default 1000. */
  readonly transactionsMax?: number;
  /** Cells of states at which the oldest states are forgotten; default 200,000, some 30 MB. */
  readonly stateCellsMax?: number;
  /** Bytes of blocks on disk at which the oldest blocks are forgotten; default 256 MiB, some 23,000 empty masterchain blocks with those of the basechain. */
  readonly blockBytesMax?: number;
  /** Bytes of a forked network's accounts that are held as they came over, to go back to them; others are read again. Default 64 MiB, some 30,000 accounts. */
  readonly originalBytesMax?: number;
  /** How deep the basechain is split at least and at most; default 0 and 4. */
  readonly minSplit?: number;
  readonly maxSplit?: number;
  /** From a decision to split or merge to its beginning, and how long it may take; default 100 and 100. */
  readonly splitMergeDelaySeconds?: number;
  readonly splitMergeIntervalSeconds?: number;
  /** Address of the lite servers; default 127.0.0.1. */
  readonly host?: string;
  /** One for each lite server; default one on a free port. */
  readonly servers?: readonly DevchainServerOptions[];
};

export type PrivateNetworkDependencies = {
  /** Another network that this one begins as a copy of; its accounts come over when they are asked for. */
  readonly fork?: ForkSource;
  /** Where the network goes on from and is kept; without it the network ends with the process. The caller closes it after the network. */
  readonly kept?: KeptNetwork;
  readonly logger: Logger;
  readonly register: Registry;
  /** Unix time in milliseconds; `Date.now` when absent. */
  readonly now?: () => number;
  readonly startTimer?: StartTimer;
  /** `node:crypto` when absent. */
  readonly random?: (bytes: number) => Buffer;
};

/** Keys of a network of this kind are known to all: it is a toy. */
function seedOf(name: string): Buffer {
  return createHash('sha256').update(`tonplane private network: ${name}`).digest();
}

/** Nanotons that the faucet has: as many as mainnet began with. */
const FAUCET_BALANCE = 5_000_000_000_000_000_000n;

const DEFAULT_ORIGINAL_BYTES_MAX = 64 * 1_048_576;
/** Global id of a network that names none. */
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
  const { cellsMax, blockBytesMax } = DEFAULT_WINDOW;
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
  const slices = createSlices(() => performance.now());
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
  let asked: AskedOfOrigin = { accounts: [], absentLibraries: [] };
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
  /** A kept network may have been moved on in time. */
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

  /** Until all accounts that the blocks need are there: those of a fork are told one by one. */
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
  // The first masterchain block lists the basechain's zerostate, the second one its first block: accounts can be read from there on.
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
      // A network that an earlier release made may have none.
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

/** A message of one TON to an account of the basechain. */
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
  fork: ForkBeginning | undefined,
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

/** Parameter 19 of a configuration; undefined where it has none. */
function globalIdOf({ config }: ForkBeginning): number | undefined {
  const table = parseBoc(config);
  const cell = findConfigParam(table, table.roots[0]!, 19);
  return cell === undefined ? undefined : new CellSlice(table, cell).int(32);
}
