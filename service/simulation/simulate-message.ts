import { formatRawAddress } from '../decode/address.ts';
import { parseBoc } from '../decode/boc.ts';
import type { Boc } from '../decode/boc.ts';
import { writeBoc } from '../decode/boc-writer.ts';
import { readMessage } from '../decode/tlb/message.ts';
import type { MessageInfo } from '../decode/tlb/message.ts';
import { readTransaction } from '../decode/tlb/transaction.ts';
import type { Transaction } from '../decode/tlb/transaction.ts';
import type { AccountId } from '../live/accounts/accounts.ts';
import { openInSlices } from '../live/accounts/paced-cells.ts';
import type { ChainSnapshot, EmulationCall, SimulatedAccounts } from '../live/contracts/chain-snapshot.ts';
import { TvmError } from '../tvm/errors.ts';
import type { EmulationResult } from '../tvm/tvm.ts';
import { createTimeSlice } from '../runtime/time-slice.ts';
import type { OpenedShardAccount } from '../tvm/shard-account.ts';
import { versionOf, type SimulatedState } from './account-state.ts';
import { createStates } from './states.ts';

/** Simulated transaction, as a bag of cells and as parsed. */
export type SimulatedTransaction = {
  readonly workchain: number;
  readonly boc: Buffer;
  readonly table: Boc;
  readonly transaction: Transaction;
};

/** Everything that a message leads to. */
export type SimulatedTrace = {
  /** Ordered by lt, then account. The first transaction belongs to the message. */
  readonly transactions: readonly SimulatedTransaction[];
  /** Accounts that have a transaction, as the last one leaves them, by `workchain:hex`. */
  readonly after: SimulatedAccounts;
  /** States before and after each of them, once each. */
  readonly states: readonly SimulatedState[];
  /** Versions (`versionOf`) of the accounts that were read from the chain. While they are unchanged, the simulation is unchanged. */
  readonly read: ReadonlyMap<string, string>;
  /** Version of the chain's rules, which defines the fields of a message. */
  readonly version: number;
  /** Messages between accounts that were not followed, because a bound was met. */
  readonly left: number;
};

/** The message would not be accepted now. */
export type Rejection = {
  readonly error: string;
  /** Exit code of the contract; undefined when the contract did not run. */
  readonly exitCode?: number;
  /** End of the log of the VM; absent unless the options ask for it. */
  readonly log?: string;
};

export type SimulatedMessage =
  | ({ readonly kind: 'trace' } & SimulatedTrace)
  | ({ readonly kind: 'rejected'; readonly read: ReadonlyMap<string, string> } & Rejection);

/** Bounds of a trace. A message that meets a bound is not followed, and `left` counts it. */
export type SimulationBounds = {
  readonly transactionsMax: number;
  /** Depth of messages. A contract that calls itself would continue for ever. */
  readonly depthMax: number;
  /** Gas of all transactions, after which no further transaction starts. Default: no bound. */
  readonly gasMax?: number;
};

export type SimulationOptions = SimulationBounds &
  Pick<EmulationCall, 'ignoreSignature' | 'randSeed'> & {
    /** Accounts in place of the chain's, by `workchain:hex`. */
    readonly overrides?: SimulatedAccounts;
    /** Ends the work between two transactions, and between cells of a large account. */
    readonly signal: AbortSignal;
    /** True to return the log of the VM when the message is rejected. */
    readonly withLog?: boolean;
    /**
     * True to reject with `tvm_timeout` when time ends a run. The trace is then a function of its bounds alone. By default the message of
     * such a run is not followed, unless it is the first.
     */
    readonly rejectsTimeouts?: boolean;
  };

/** Messages that all transactions sent, after which no further transaction starts: 16 for each of 256 transactions. A transaction sends up to 255. */
export const MESSAGES_MAX = 4096;

/** Messages after the present message whose accounts are read while it runs. A read takes longer than a run. */
const READ_AHEAD = 4;

/** Blocks start at such lts. */
const LT_STEP = 1_000_000n;

type Waiting = {
  /** Writes the message as a bag of cells. Messages of a transaction may share a large body, so each is written when its turn comes. */
  readonly write: () => Buffer;
  readonly account: AccountId;
  readonly createdLt: bigint;
  readonly depth: number;
};

/**
 * Runs a message on the accounts of a snapshot, then every message that it leads to, breadth first.
 * Each message sees the accounts as the messages before left them. All transactions have the time of the snapshot's block.
 * The message is a bag of cells that `readExternalMessage` or `readIncomingMessage` made.
 * The result depends on the snapshot, the message and the options alone, and by default on the time of the runs.
 * Rejects as `ChainSnapshot` does, and with the reason of the signal.
 */
export async function simulateMessage(
  snapshot: ChainSnapshot,
  message: Buffer,
  options: SimulationOptions,
): Promise<SimulatedMessage> {
  const root = rootOf(message, 0);
  if (root === undefined) return { kind: 'rejected', error: 'the message is to no account', read: new Map() };
  return simulate(snapshot, [root], options);
}

/**
 * Runs messages that are on their way between accounts, as `simulateMessage` does with those of its trace. A message that cannot run is counted
 * in `left`. Rejects as `simulateMessage`.
 * @param messages bags of cells, in the order in which they were sent
 */
export async function simulateTail(
  snapshot: ChainSnapshot,
  messages: readonly Buffer[],
  options: SimulationOptions,
): Promise<SimulatedTrace> {
  const trace = await simulate(
    snapshot,
    messages.flatMap((message) => rootOf(message, 1) ?? []),
    options,
  );
  if (trace.kind === 'rejected') throw new Error('a message between accounts was rejected');
  return trace;
}

async function simulate(
  snapshot: ChainSnapshot,
  roots: readonly Waiting[],
  options: SimulationOptions,
): Promise<SimulatedMessage> {
  const { transactionsMax, depthMax, gasMax = Infinity, overrides = noAccounts, signal } = options;
  const read = new Map<string, string>();
  const found = new Map<string, Promise<OpenedShardAccount>>();
  const after = new Map<string, OpenedShardAccount>();
  const transactions: SimulatedTransaction[] = [];
  const timeSlice = createTimeSlice(signal);
  const states = createStates(timeSlice);
  const begin = (account: AccountId): OpenedShardAccount | Promise<OpenedShardAccount> => {
    const key = formatRawAddress(account);
    return (
      after.get(key) ?? overrides.get(key) ?? found.getOrInsertComputed(key, () => snapshot.readShardAccount(account))
    );
  };
  const stateOf = async (account: AccountId): Promise<OpenedShardAccount> => {
    const state = begin(account);
    if (!(state instanceof Promise)) return state;
    const opened = await state;
    read.set(formatRawAddress(account), versionOf(opened));
    return opened;
  };
  const readAhead = (next: readonly Waiting[]): void => {
    for (const { account, depth } of next) {
      // A failure counts once the message has its turn.
      if (depth < depthMax) Promise.resolve(begin(account)).catch(() => undefined);
    }
  };
  // The next blocks of all shards start above the end of this masterchain block.
  let lastLt = snapshot.block.endLt;
  for (const { account } of roots.slice(0, transactionsMax)) {
    const { lt } = (await stateOf(account)).lastTransaction;
    if (lt > lastLt) lastLt = lt;
  }
  const baseLt = (lastLt / LT_STEP + 1n) * LT_STEP;
  const waiting: Waiting[] = [...roots];
  let left = 0;
  let gasLeft = gasMax;
  let messagesLeft = MESSAGES_MAX;
  const isSpent = (): boolean => gasLeft <= 0 || messagesLeft <= 0;
  for (const [at, { write, account, createdLt, depth }] of waiting.entries()) {
    if (transactions.length >= transactionsMax || depth >= depthMax || (depth > 0 && isSpent())) {
      left++;
      continue;
    }
    await timeSlice.pause();
    readAhead(waiting.slice(at + 1, at + 1 + READ_AHEAD));
    const before = await stateOf(account);
    const lt = createdLt >= baseLt ? createdLt + 1n : baseLt;
    const call = { shardAccount: before, message: write(), lt, ...termsOf(options) };
    const [result] = await Promise.all([emulate(snapshot, call, { depth, options }), states.read()]);
    if (result === undefined) {
      left++;
      continue;
    }
    if (result.kind === 'rejected') {
      if (depth === 0) return { ...(await explain(snapshot, call, { result, options })), kind: 'rejected', read };
      left++;
      continue;
    }
    const opened = await openInSlices(result.shardAccount, timeSlice);
    after.set(formatRawAddress(account), opened);
    const table = parseBoc(result.transaction);
    const transaction = readTransaction(table, table.roots[0]!);
    transactions.push({ workchain: account.workchain, boc: result.transaction, table, transaction });
    const { oldHash, newHash } = transaction.stateUpdate;
    states.add(oldHash, before);
    states.add(newHash, opened);
    gasLeft -= gasOf(transaction);
    messagesLeft -= transaction.outMessages.length;
    waiting.push(...sentBy(table, transaction, depth + 1));
  }
  await states.read();
  transactions.sort((a, b) => compareLts(a.transaction, b.transaction));
  const version = await snapshot.readVersion();
  return { kind: 'trace', transactions, after, states: states.all(), read, version, left };
}

const noAccounts: SimulatedAccounts = new Map();

function termsOf({
  ignoreSignature,
  randSeed,
}: SimulationOptions): Pick<EmulationCall, 'ignoreSignature' | 'randSeed'> {
  return { ...(ignoreSignature !== undefined && { ignoreSignature }), ...(randSeed !== undefined && { randSeed }) };
}

/** Runs a message. Returns undefined for a message below the first that needs too many libraries, or whose time ends unless that rejects. */
async function emulate(
  snapshot: ChainSnapshot,
  call: EmulationCall,
  { depth, options }: { readonly depth: number; readonly options: SimulationOptions },
): Promise<EmulationResult | undefined> {
  try {
    return await snapshot.emulate(call);
  } catch (error) {
    if (depth > 0 && error instanceof TvmError && isSkipped(error, options)) return undefined;
    throw error;
  }
}

/** True for a failure that the contract of a message chooses. */
function isSkipped({ code }: TvmError, { rejectsTimeouts = false }: SimulationOptions): boolean {
  return code === 'tvm_library_unavailable' || (code === 'tvm_timeout' && !rejectsTimeouts);
}

/** A message that is accepted needs no log, and a log slows a run. A rejected message therefore runs twice. */
async function explain(
  snapshot: ChainSnapshot,
  call: EmulationCall,
  {
    result,
    options,
  }: { readonly result: Extract<EmulationResult, { kind: 'rejected' }>; readonly options: SimulationOptions },
): Promise<Rejection> {
  const logged = options.withLog === true ? await snapshot.emulate({ ...call, log: true }) : result;
  const { error, exitCode } = result;
  return {
    error,
    ...(exitCode !== undefined && { exitCode }),
    ...(logged.log !== undefined && { log: logged.log }),
  };
}

function gasOf({ descr }: Transaction): number {
  const compute = 'compute' in descr ? descr.compute : undefined;
  return compute !== undefined && 'gasUsed' in compute ? compute.gasUsed : 0;
}

function* sentBy(table: Boc, { outMessages }: Transaction, depth: number): Generator<Waiting> {
  for (const { cell, info } of outMessages) {
    if (info.kind !== 'internal') continue;
    const account = destinationOf(info);
    if (account === undefined) continue;
    yield { write: () => writeBoc(table, [cell]), account, createdLt: info.createdLt, depth };
  }
}

/** A message to begin with; undefined for a message to no account. */
function rootOf(message: Buffer, depth: number): Waiting | undefined {
  const table = parseBoc(message);
  const { info } = readMessage(table, table.roots[0]!);
  const account = destinationOf(info);
  if (account === undefined) return undefined;
  return { write: () => message, account, createdLt: info.kind === 'internal' ? info.createdLt : 0n, depth };
}

/** Undefined for a log, and for an address with another length than accounts have. */
function destinationOf(info: MessageInfo): AccountId | undefined {
  if (info.kind === 'externalOut' || info.destination.variable) return undefined;
  const { workchain, id } = info.destination;
  return { workchain, id };
}

function compareLts(a: Transaction, b: Transaction): number {
  if (a.lt !== b.lt) return a.lt < b.lt ? -1 : 1;
  return Buffer.compare(a.account, b.account);
}
