import { createHash } from 'node:crypto';

import { accessText } from '#service/pool/read-access.ts';
import { formatRawAddress } from '#service/decode/address.ts';
import { createBoundedCache } from '#service/runtime/bounded-cache.ts';
import { createTimeSlice } from '#service/runtime/time-slice.ts';
import type { Pool } from '#service/pool/pool.ts';
import { fromMemory } from '#service/pool/read-event.ts';
import { createSingleFlight } from '#service/pool/single-flight.ts';
import type { FeesRequest, SourceFees } from '#service/tvm/fees.ts';
import { estimateFees } from '#service/tvm/fees.ts';
import type { MethodTerms } from '#service/tvm/bill.ts';
import { TvmError } from '#service/tvm/errors.ts';
import type { OpenedShardAccount } from '#service/tvm/shard-account.ts';
import { encodeStackInSteps } from '#service/tvm/stack-writer.ts';
import type {
  EmulationRequest,
  EmulationResult,
  GetMethodResult,
  MethodArguments,
  MethodSubject,
  Tvm,
  TvmWorld,
} from '#service/tvm/tvm.ts';
import { createAccountReader } from '../accounts/account-reader.ts';
import type { AccountCell, AccountReaderOptions } from '../accounts/account-reader.ts';
import { viewSimulated } from '../accounts/account-view.ts';
import type { AccountView } from '../accounts/account-view.ts';
import type { AccountId } from '../accounts/accounts.ts';
import { stepInSlices } from '../accounts/paced-cells.ts';
import type { LiveAnswer, ReadContext } from '#service/contract/answer.ts';
import { createChainConfigs } from '../configuration/chain-config.ts';
import { LiveError } from '../errors.ts';
import { pinBlock } from '../pinned-block.ts';
import type { PinnedBlock } from '../pinned-block.ts';
import { readPublicLibrary } from '../configuration/public-libraries.ts';
import { createRecentBlocks } from '../blocks/recent-blocks.ts';
import type { StackEntry } from '#service/tvm/stack.ts';
import { weighStack } from './stack-weight.ts';

/** A get-method of an account and its arguments, the last one on top. */
export type MethodCall = {
  readonly account: AccountId;
  /** Signed 32 bits. */
  readonly methodId: number;
  readonly stack: readonly StackEntry[];
};

/** Get-methods of one account. */
export type MethodCalls = {
  readonly account: AccountId;
  readonly calls: readonly Pick<MethodCall, 'methodId' | 'stack'>[];
  /** Gas limit of each call. */
  readonly gasLimit: number;
  /** No further one is begun when those before have used so much. */
  readonly gasTotal: number;
};

/**
 * How get-methods ended, in the order of the calls; undefined for one whose result cannot be written or read. Those that were not begun
 * are missing.
 */
export type MethodRuns = {
  readonly account: AccountView;
  readonly runs: readonly (Pick<GetMethodResult, 'exitCode' | 'gasUsed' | 'stack'> | undefined)[];
};

/** How a get-method ended, and the account that it ran on. */
export type MethodRun = Pick<GetMethodResult, 'exitCode' | 'gasUsed' | 'stack'> & { readonly account: AccountView };

/** An external message whose fees are wanted. */
export type FeesCall = Pick<FeesRequest, 'body' | 'initCode' | 'initData' | 'ignoreSignature'> & {
  readonly account: AccountId;
};

/** A message to an account as the chain has it, or as messages before left it. `randSeed` is all zeros by default. */
export type EmulationCall = Pick<EmulationRequest, 'shardAccount' | 'message' | 'lt' | 'ignoreSignature' | 'log'> &
  Partial<Pick<EmulationRequest, 'randSeed'>>;

/**
 * The chain as of one masterchain block: accounts, and contracts that run on them. Everything that is read for it is proved to the
 * configured trust level, and noted for `answer`.
 */
export type ChainSnapshot = {
  readonly block: PinnedBlock;
  /** Rejects as `Pool.query` does. */
  readAccount(account: AccountId): Promise<AccountView>;
  /** Rejects with LiveError `bad_stack`, TvmError, and as `Pool.query` does. */
  runMethod(call: MethodCall): Promise<MethodRun>;
  /** Runs in a single visit of a TVM thread, without caching. Rejects with TvmError, and as `Pool.query` does. */
  runMethods(calls: MethodCalls): Promise<MethodRuns>;
  /** The root of names, configuration parameter 4; undefined when there is none. Rejects as `Pool.query` does. */
  readDnsRoot(): Promise<AccountId | undefined>;
  /** Rejects with TvmError, and as `Pool.query` does. */
  estimateFees(call: FeesCall): Promise<SourceFees>;
  /** Version of the chain's rules. Rejects as `Pool.query` does. */
  readVersion(): Promise<number>;
  /** Rejects as `Pool.query` does. */
  readShardAccount(account: AccountId): Promise<OpenedShardAccount>;
  /** A transaction at the time of the block. Rejects with TvmError, and as `Pool.query` does. */
  emulate(call: EmulationCall): Promise<EmulationResult>;
  /** Returns this world with further simulated accounts, which replace those of before. @param accounts by raw address, lower case */
  withAccounts(accounts: SimulatedAccounts): SimulatedSnapshot;
  /** A value made of what was read so far. */
  answer<T>(value: T): LiveAnswer<T>;
};

export type SimulatedAccounts = ReadonlyMap<string, OpenedShardAccount>;

/** Results of contracts, some of them on simulated accounts. Rejects as `ChainSnapshot` does. */
export type SimulatedSnapshot = Pick<
  ChainSnapshot,
  'readAccount' | 'runMethod' | 'runMethods' | 'readDnsRoot' | 'withAccounts'
>;

export type ChainSnapshots = {
  /** @param seqno masterchain seqno, 1..2^31-1; the served head when absent */
  open(seqno: number | undefined, context: ReadContext): Promise<ChainSnapshot>;
};

export type ChainSnapshotsOptions = AccountReaderOptions & {
  /** Gas of one get-method run. */
  readonly gasLimit?: number;
};

export type ChainSnapshotsDependencies = {
  readonly pool: Pool;
  readonly tvm: Tvm;
  /** Milliseconds of `performance.now()`. */
  readonly now: () => number;
};

/** Gas limit of a get-method, as in the hosted service (service/v2/README.md#get-methods). */
const GAS_LIMIT = 4_000_000;

/** Cache of finished runs: at some 2 KB for a usual run, the runs of the last blocks. */
const RUN_BYTES_MAX = 16 * 1024 * 1024;

/** The reference client's library's words for a stack with more entries, or deeper, than it takes. */
const STACK_REFUSAL = 'TVM stack size exceeds limit';

/** Version of the chain's rules from which contracts see every hundredth block. */
const HUNDREDS_VERSION = 9;

/**
 * Random seed of every run. A fixed seed makes a run a function of block, account and arguments, as in the reference client's library.
 * Validators choose the seed of a block, so a contract that draws from it must add entropy.
 */
const RANDOM_SEED = Buffer.alloc(32);

type World = Omit<TvmWorld, 'utime'>;

/** Takes the value of an answer and remembers what it took. */
type Note = <T>(answer: LiveAnswer<T>) => T;

/**
 * Worlds over the pool and the TVM. Identical runs at one block are done once: callers of one payer share what runs, and all share what ran.
 */
export function createChainSnapshots(
  { trust, gasLimit = GAS_LIMIT }: ChainSnapshotsOptions,
  { pool, tvm, now }: ChainSnapshotsDependencies,
): ChainSnapshots {
  const reader = createAccountReader({ trust }, { pool });
  const configs = createChainConfigs({ pool });
  const recents = createRecentBlocks({ pool });
  const flights = createSingleFlight({ now });
  const runs = createBoundedCache({ bytesMax: RUN_BYTES_MAX });

  /** Everything of the block that a contract can see. */
  async function readWorldAt(block: PinnedBlock, note: Note, work: ReadContext): Promise<World> {
    const [config, recent] = await Promise.all([configs.configAt(block, work), recents.recentAt(block, work)]);
    note(config);
    note(recent);
    const { last, lastKeyBlock } = recent.value;
    return {
      config: config.value,
      previousBlocks: config.value.version >= HUNDREDS_VERSION ? recent.value : { last, lastKeyBlock },
      randSeed: RANDOM_SEED,
      fetchLibrary: async (hash) => note(await readPublicLibrary(pool, block, hash, work)),
      signal: work.signal,
      ...(work.caller !== undefined && { caller: work.caller }),
      ...(work.threadBudget !== undefined && { budget: work.threadBudget }),
      ...(work.getMethods !== undefined && billed(work.getMethods)),
    };
  }

  function openAt(
    pinned: LiveAnswer<PinnedBlock>,
    context: ReadContext,
    simulated: SimulatedAccounts = new Map(),
  ): ChainSnapshot {
    const block = pinned.value;
    const { note, noteRun, answer } = createNotes(pinned);
    const gasMax = context.getMethods?.gas ?? gasLimit;

    const simulatedView = createSimulatedViews(block, simulated, context.signal);

    async function readAccount(account: AccountId): Promise<AccountView> {
      return simulatedView(account) ?? note(await reader.readView(account, block, context));
    }

    const readWorld = (work: ReadContext): Promise<World> => readWorldAt(block, note, work);

    async function subject(account: AccountView, signal: AbortSignal): Promise<Omit<MethodSubject, 'gasLimit'>> {
      return { ...(await readWorld({ ...context, signal })), ...subjectOf(account) };
    }

    async function run(account: AccountView, call: MethodArguments, signal: AbortSignal): Promise<GetMethodResult> {
      return tvm.runGetMethod({ ...(await subject(account, signal)), ...call, gasLimit: gasMax });
    }

    async function runMethods({ account: id, ...calls }: MethodCalls): Promise<MethodRuns> {
      const account = await readAccount(id);
      const given = await subject(account, context.signal);
      noteRun();
      const results = await tvm.runGetMethods({ ...given, ...calls, gasLimit: Math.min(calls.gasLimit, gasMax) });
      return { account, runs: results.map((result) => (result instanceof TvmError ? undefined : result)) };
    }

    async function runMethod({ account: id, methodId, stack }: MethodCall): Promise<MethodRun> {
      const written = stack.length === 0 ? undefined : await writeArguments(stack, context.signal);
      const call = { methodId, stack, written };
      const key = `${gasMax} ${runKey(block, id, call)}`;
      const account = await readAccount(id);
      // The result on a simulated account is no function of the block. It is neither shared nor cached.
      if (simulated.has(formatRawAddress(id))) return { ...(await run(account, call, context.signal)), account };
      const cached = runs.get(key);
      if (cached !== undefined) {
        context.observe?.(fromMemory);
        return { ...(cached as GetMethodResult), account };
      }
      const { value } = await flights.run(`${sharersOf(context)} ${key}`, context, async (signal) => {
        const result = await run(account, call, signal);
        runs.set(key, result, weighStack(result.stack));
        return result;
      });
      noteRun();
      return { exitCode: value.exitCode, gasUsed: value.gasUsed, stack: value.stack, account };
    }

    return {
      block,
      readAccount,
      runMethod,
      runMethods,
      readDnsRoot: async () => note(await configs.configAt(block, context)).dnsRoot,
      async estimateFees({ account: address, ...message }) {
        const [cell, world] = await Promise.all([reader.readCell(address, block, context), readWorld(context)]);
        const { account, utime }: AccountCell = note(cell);
        noteRun();
        const timeSlice = createTimeSlice(context.signal);
        const pause = (): Promise<void> | undefined => timeSlice.pause();
        return estimateFees(tvm, { ...world, ...message, address, account, utime, pause });
      },
      readVersion: async () => note(await configs.configAt(block, context)).version,
      readShardAccount: async (account) => note(await reader.readShardAccount(account, block, context)),
      async emulate(call) {
        const world = await readWorld(context);
        noteRun();
        return tvm.emulateTransaction({ ...world, ...call, utime: block.utime });
      },
      withAccounts: (accounts) => openAt(pinned, context, new Map([...simulated, ...accounts])),
      answer,
    };
  }

  return {
    open: async (seqno, context) => openAt(await pinBlock(pool, seqno, context), context),
  };
}

/** Returns views of simulated accounts; undefined for another account. Each view is made once, because the largest account takes some 200 ms. */
function createSimulatedViews(
  block: PinnedBlock,
  accounts: SimulatedAccounts,
  signal: AbortSignal,
): (account: AccountId) => Promise<AccountView> | undefined {
  const views = new Map<string, Promise<AccountView>>();
  return (account) => {
    const key = formatRawAddress(account);
    const shardAccount = accounts.get(key);
    if (shardAccount === undefined) return undefined;
    const view = views.get(key) ?? viewSimulated(account, block, { shardAccount, timeSlice: createTimeSlice(signal) });
    views.set(key, view);
    return view;
  };
}

/** Sources of answers. Results of runs here never come from a cache. */
function createNotes({ liteServers, cached: isCached }: LiveAnswer<unknown>) {
  const used = new Set(liteServers);
  let cached = isCached;
  const note: Note = (answer) => {
    for (const liteServer of answer.liteServers) used.add(liteServer);
    cached &&= answer.cached;
    return answer.value;
  };
  const noteRun = (): void => {
    cached = false;
  };
  const answer = <T>(value: T): LiveAnswer<T> => ({ value, liteServers: [...used], cached });
  return { note, noteRun, answer };
}

/** Equal for callers that may share a run: same access and same payer. A run of another payer may wait longer. */
function sharersOf({ access, getMethods, caller = '' }: ReadContext): string {
  return `${accessText(access)} ${getMethods?.payer ?? caller}`;
}

/** Converts terms to options of the TVM. */
function billed({ payer, wallMs }: MethodTerms): Pick<TvmWorld, 'payer' | 'wallMs'> {
  return { payer, ...(wallMs !== undefined && { wallMs }) };
}

/** An account as get-methods run on it. */
function subjectOf({ account, code, data, balance, extraCurrencies, shardUtime }: AccountView) {
  return { address: account, code, data, balance, extraCurrencies, utime: shardUtime };
}

/** Names a run among all runs: block, account, method, arguments. */
function runKey({ block }: PinnedBlock, account: AccountId, { methodId, written }: MethodArguments): string {
  const place = `${block.rootHash.toString('hex')} ${account.workchain}:${account.id.toString('hex')} ${methodId}`;
  return written === undefined ? place : `${place} ${createHash('sha256').update(written).digest('hex')}`;
}

/** Writes arguments once, for the key and for the TVM. Throws LiveError `bad_stack`. */
async function writeArguments(stack: readonly StackEntry[], signal: AbortSignal): Promise<Buffer> {
  try {
    return await stepInSlices(encodeStackInSteps(stack), createTimeSlice(signal));
  } catch (error) {
    if (!(error instanceof TvmError)) throw error;
    const { detail } = error.data;
    throw new LiveError(
      'bad_stack',
      error.code === 'stack_invalid' ? detail : `${STACK_REFUSAL}: ${detail}`,
      {},
      error,
    );
  }
}
