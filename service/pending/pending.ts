import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import type { Detector } from '../interfaces/detector.ts';
import type { AccountId } from '../live/accounts/accounts.ts';
import type { ReadContext } from '../live/answer.ts';
import type { ChainSnapshot, ChainSnapshots } from '../live/contracts/chain-snapshot.ts';
import { readExternalMessage } from '../live/send/external-message.ts';
import type { ExternalMessage } from '../live/send/external-message.ts';
import { emulateTrace } from './emulation.ts';
import type { SimulatedTrace } from './emulation.ts';
import { classifySimulated } from './simulated-actions.ts';
import { createPendingMetrics } from './metrics.ts';
import type { GoneReason } from './metrics.ts';
import { createLocalTraces } from './local-traces.ts';
import { placeOf, pendingTraceOf, withoutTransactions } from './pending-trace.ts';
import type { PendingTrace } from './pending-trace.ts';
import { createSharedMessages } from './shared-messages.ts';
import type { SharedMessages } from './shared-messages.ts';
import { createSharedTraces } from './shared-traces.ts';
import type { PendingLink, SharedTraces } from './shared-traces.ts';
import { createTypedKeys } from './typed-keys.ts';
import { createWatchLeases, LEASE_MS } from './watch-leases.ts';
import type { WatchLeases } from './watch-leases.ts';

export type { PendingState } from './account-state.ts';
export type { PendingTrace } from './pending-trace.ts';

/** Filter of traces: by any of the accounts, or by any of the hashes. */
export type PendingFilter = {
  readonly accounts?: readonly AccountId[];
  /** Accounts of actions. They may have no transaction. */
  readonly actionAccounts?: readonly AccountId[];
  /** Hashes of a message from outside, as sent or normalised, or of a simulated first transaction. */
  readonly hashes?: readonly Buffer[];
  /**
   * Wanted part of a trace that the index has begun. `transactions` (the default) are the transactions that the index lacks.
   * For `actions` the trace is unchanged until the real actions are indexed.
   */
  readonly wanted?: 'transactions' | 'actions';
};

/** Messages sent through the service with their simulation, until the real transactions are indexed (service/v3/README.md#pending). */
export type Pending = {
  /** Watches a message that a lite server has taken: it is run ahead of the chain at once. Never throws. */
  note(message: ExternalMessage, sender: Pick<ReadContext, 'access'>): void;
  /** Oldest first, without those whose real one is there to be read instead. Rejects as the index does. */
  find(filter: PendingFilter): Promise<readonly PendingTrace[]>;
  /**
   * Simulates watched messages again if the chain changed their accounts. Drops indexed, contradicted and expired messages.
   * Takes over messages of pods that no longer run. It also runs periodically (`everyMs`).
   * Resolves when every message watched at the call is up to date. Never rejects.
   */
  refresh(): Promise<void>;
  /** Continues over another Redis, or the same Redis with another password. */
  setLink(next: PendingLink): void;
  /** Resolves when no run is in progress and no message is watched. */
  close(): Promise<void>;
};

/** How much of a real trace is there to be read. */
export type IndexedTrace = {
  /** All of its transactions, and its actions. */
  readonly isClassified: boolean;
  /** `workchain:hex` of each transaction that is there; undefined when there are all. */
  readonly accounts: readonly string[] | undefined;
};

/** Identity of a sent message: its key, and the earliest time at which a block may have taken it. */
export type SentKey = Pick<PendingTrace, 'key' | 'sinceUtime'>;

/** Index that replaces pending traces. */
export type PendingIndex = {
  /** Indexed messages among the sent ones, by key in hex. */
  findTaken(sent: readonly SentKey[]): Promise<ReadonlyMap<string, IndexedTrace>>;
  /** Newest masterchain seqno that is indexed; 0 for none. */
  lastSeqno(): Promise<number>;
};

export type PendingOptions = {
  /** Names the API and its network in a Redis that several share. */
  readonly scope: string;
  /** Interval of refreshing watched messages; 0: only when `refresh` is called. */
  readonly everyMs?: number;
};

export type PendingDependencies = {
  readonly worlds: Pick<ChainSnapshots, 'open'>;
  readonly index: PendingIndex;
  readonly detector: Detector;
  /** The Redis that pods share; without it each has its own. Closed by `close`. */
  readonly link?: PendingLink | undefined;
  /** Served head; undefined before the first block. */
  readonly head: () => { readonly block: { readonly seqno: number }; readonly utime: number } | undefined;
  /** Milliseconds of `performance.now()`. */
  readonly now: () => number;
  readonly unixMs: () => number;
  readonly logger: Logger;
  readonly register: Registry;
};

/** Interval of checking heads: twice in a block of the fastest networks. */
const EVERY_MS = 500;

/** A message that no block takes within this time expires. Wallet orders are valid for one to five minutes. */
export const KEPT_MS = 300_000;

/** Clock difference of validators in seconds. A shard's block may seem older than the head that was served before it. */
const SKEW_SECONDS = 5;

/** Other spellings of a message that are found by their hashes. */
const SPELLINGS_MAX = 16;

/** Messages watched by one process; each holds some 30 KB and is run once for each change of its accounts. */
const WATCHED_MAX = 256;

/** Traces run at a time, so that those who ask now have the TVM's other threads. */
const RUNS_AT_ONCE = 2;

/** A run that takes longer is given up until the next block. */
const RUN_MS = 5_000;

/** Traces of one answer. */
const FOUND_MAX = 100;

/** Interval in which pods renew their leases and look for expired leases. */
const HOLD_EVERY_MS = LEASE_MS / 5;

/** Traces taken over in one refresh. Another pod replaces a pod with a full watch list in half a minute. */
const TAKEN_AT_ONCE = 16;

/** Name under which the pool and the TVM give turns. */
const CALLER = 'pending traces';

/** State that pods share. */
type Shared = SharedTraces & { readonly messages: SharedMessages; readonly leases: WatchLeases };

type Watched = {
  readonly message: ExternalMessage;
  readonly sender: Pick<ReadContext, 'access'>;
  readonly sentUnixMs: number;
  readonly sinceUtime: number;
  /** Hashes of other messages that differ only in parts that the sender may choose freely, in hex. */
  readonly spellings: string[];
  /** Head that it was run at last. */
  seqno: number;
  /** Accounts as they were then; undefined while it is to be run again whether they change or not. */
  read: ReadonlyMap<string, Buffer> | undefined;
  /** The index has begun with it: it will not be run again. */
  isTaken: boolean;
  /** Never simulated, and refused at a head. That head may be older than the head of the lite server that accepted the message. */
  isDoubtful: boolean;
  /** First head at which the message would be refused: a block has it already, or never will. */
  refusedAt: number | undefined;
};

function watchedFrom(sent: Pick<Watched, 'message' | 'sender' | 'sentUnixMs' | 'sinceUtime'>): Watched {
  return { ...sent, spellings: [], seqno: 0, read: undefined, isTaken: false, isDoubtful: false, refusedAt: undefined };
}

export function createPending(options: PendingOptions, dependencies: PendingDependencies): Pending {
  const { worlds, index, detector, head, now, unixMs, logger } = dependencies;
  const watched = new Map<string, Watched>();
  const own = createLocalTraces();
  let { link } = dependencies;
  let shared = link && shareOver(link);
  const metrics = createPendingMetrics(dependencies.register, () => watched.size);
  const ending = new AbortController();
  const running = new Set<Promise<void>>();
  /** Keys of what is to be run, and of what runs. */
  const due = new Set<string>();
  const inWork = new Set<string>();
  let looking: Promise<void> | undefined;
  let heldUnixMs = 0;
  let closed = false;

  function shareOver(line: PendingLink): Shared {
    const sharing = { scope: options.scope, keptMs: KEPT_MS };
    const keys = createTypedKeys(line, () => metrics.malformed());
    return {
      ...createSharedTraces(sharing, keys),
      messages: createSharedMessages(sharing, keys),
      leases: createWatchLeases(sharing, keys),
    };
  }

  function track(work: Promise<void>): Promise<void> {
    const tracked = work.finally(() => running.delete(tracked));
    running.add(tracked);
    return tracked;
  }

  /** Starts as many runs as may be at a time; each starts the next when it is over. */
  function pump(): void {
    for (const key of due) {
      if (inWork.size >= RUNS_AT_ONCE || closed) return;
      if (inWork.has(key)) continue;
      due.delete(key);
      const one = watched.get(key);
      if (one === undefined) continue;
      inWork.add(key);
      void track(run(key, one)).finally(() => {
        inWork.delete(key);
        pump();
      });
    }
  }

  async function letGo(key: string, reason: GoneReason): Promise<void> {
    if (!watched.delete(key)) return;
    metrics.gone(reason);
    const trace = own.get(key);
    own.drop(key);
    if (trace !== undefined) await shared?.drop(trace);
    await shared?.messages.drop(key);
    await shared?.leases.drop([key]);
  }

  /** Runs a message where the head is newer than its last run and an account of it has changed. */
  async function run(key: string, one: Watched): Promise<void> {
    const context: ReadContext = {
      deadlineMs: now() + RUN_MS,
      signal: AbortSignal.any([ending.signal, AbortSignal.timeout(RUN_MS)]),
      caller: CALLER,
      ...one.sender,
    };
    try {
      const world = await worlds.open(undefined, context);
      const { seqno } = world.block.block;
      if (seqno === one.seqno || (one.read !== undefined && (await isSame(world, one.read)))) {
        one.seqno = seqno;
        return;
      }
      const trace = await emulateTrace(world, one.message.boc);
      one.seqno = seqno;
      one.read = trace.read;
      metrics.emulated(trace.kind);
      if (trace.kind === 'rejected') refuse(key, one, seqno);
      else await keep(key, one, trace, world);
    } catch (error) {
      metrics.emulated('failed');
      logger.debug({ err: error, key }, 'a sent message was not run ahead');
    }
  }

  function refuse(key: string, one: Watched, seqno: number): void {
    if (one.isDoubtful || own.get(key) !== undefined) {
      one.refusedAt ??= seqno;
      return;
    }
    one.isDoubtful = true;
    // Not only accounts make a contract refuse, the time does too.
    one.read = undefined;
  }

  async function keep(key: string, one: Watched, foreseen: SimulatedTrace, world: ChainSnapshot): Promise<void> {
    const classified = await classifySimulated(one.message, foreseen, { world, detector }).catch((error: unknown) => {
      one.read = undefined;
      logger.debug({ err: error, key }, 'a foreseen trace was not classified');
      return undefined;
    });
    const isGone = (): boolean => watched.get(key) !== one;
    if (isGone()) return;
    one.isDoubtful = false;
    one.refusedAt = undefined;
    const before = own.get(key);
    const trace = pendingTraceOf(one, foreseen, classified);
    own.put(trace);
    await shared?.put(trace, before);
    for (const spelling of one.spellings) await alias(spelling, key);
    // The message was dropped during the write.
    if (isGone() && own.get(key) === undefined) await shared?.drop(trace);
  }

  async function alias(hash: string, key: string): Promise<void> {
    own.alias(hash, key);
    await shared?.alias(hash, key);
  }

  /** The same message again, spelt in another way. */
  function spell(key: string, { message, spellings }: Watched, hash: Buffer): void {
    const text = hash.toString('hex');
    if (hash.equals(message.hash) || spellings.includes(text) || spellings.length >= SPELLINGS_MAX) return;
    spellings.push(text);
    if (own.get(key) !== undefined) void track(alias(text, key));
  }

  /** From now on another pod simulates the message if this process ends. */
  async function announce(sharing: Shared, key: string, one: Watched): Promise<void> {
    await sharing.messages.put(key, { ...one, message: one.message.boc });
    await sharing.leases.hold([key], unixMs());
  }

  /** Redis was away when they were sent, has lost them, or is another one. */
  async function shareAgain(sharing: Shared): Promise<void> {
    for (const [key, one] of watched) {
      await sharing.messages.put(key, { ...one, message: one.message.boc });
      const trace = own.get(key);
      if (trace !== undefined) await sharing.put(trace, undefined);
    }
  }

  /** Pods with wrong clocks or broken connections may watch the same trace for a while. Their simulations are equal. */
  async function holdAndTakeOver(sharing: Shared): Promise<void> {
    if (Math.abs(unixMs() - heldUnixMs) < HOLD_EVERY_MS) return;
    heldUnixMs = unixMs();
    const { leases } = sharing;
    if ((await leases.hold([...watched.keys()], unixMs())) > 0) await shareAgain(sharing);
    const room = Math.min(TAKEN_AT_ONCE, WATCHED_MAX - watched.size);
    if (room <= 0) return;
    for (const key of await leases.takeOver(room, unixMs())) {
      if (watched.has(key)) continue;
      const trace = await sharing.get(key);
      const sent = trace ?? (await sharing.messages.get(key));
      if (sent === undefined || unixMs() - sent.sentUnixMs >= KEPT_MS) {
        if (trace !== undefined) await sharing.drop(trace);
        await sharing.messages.drop(key);
        await leases.drop([key]);
        continue;
      }
      if (trace !== undefined) own.put(trace);
      const { sentUnixMs, sinceUtime } = sent;
      const message = readExternalMessage(sent.message);
      watched.set(key, watchedFrom({ message, sender: {}, sentUnixMs, sinceUtime }));
      metrics.takenOver();
      logger.info({ key }, 'a sent message is taken over');
    }
  }

  /** Refreshes all except the runs, which take as long as lite servers do. Leases are renewed and old messages expire in parallel. */
  async function lookAgain(): Promise<void> {
    for (const [key, { sentUnixMs }] of watched) {
      if (unixMs() - sentUnixMs >= KEPT_MS) await letGo(key, 'expired');
    }
    if (shared !== undefined) await holdAndTakeOver(shared);
    if (watched.size === 0) return;
    await settleIndexed();
    const seqno = head()?.block.seqno;
    for (const [key, one] of watched) if (one.seqno !== seqno && !one.isTaken) due.add(key);
    pump();
  }

  async function refreshAll(): Promise<void> {
    await look();
    const round = [...watched.keys()];
    await Promise.all(running);
    while (round.some((key) => inWork.has(key) || (due.has(key) && !closed))) await Promise.race(running);
  }

  /** Drops messages that the index has, or has passed without taking. */
  async function settleIndexed(): Promise<void> {
    try {
      // The seqno first: what is indexed up to it is in the answer that comes after.
      const seqno = await index.lastSeqno();
      const sent = [...watched.values()];
      const taken = await index.findTaken(
        sent.map(({ message, sinceUtime }) => ({ key: message.normalizedHash, sinceUtime })),
      );
      for (const [key, one] of watched) {
        const indexed = taken.get(key);
        one.isTaken = indexed !== undefined;
        if (indexed?.isClassified === true) await letGo(key, 'indexed');
        else if (!one.isTaken && one.refusedAt !== undefined && one.refusedAt <= seqno) await letGo(key, 'conflict');
      }
    } catch (error) {
      logger.debug({ err: error }, 'the index did not say what is in it');
    }
  }

  async function keysOf({ accounts = [], actionAccounts = [], hashes = [] }: PendingFilter): Promise<Set<string>> {
    const places = [
      ...accounts.map((account) => placeOf('trace', account)),
      ...actionAccounts.map((account) => placeOf('action', account)),
    ];
    const ofPlaces = await inTurns(places, async (place) => [
      ...own.keysOf(place),
      ...((await shared?.keysOf(place)) ?? []),
    ]);
    const ofHashes = await inTurns(hashes, async (hash) => {
      const text = hash.toString('hex');
      return own.keyBy(text) ?? (await shared?.keyBy(text)) ?? text;
    });
    return new Set([...ofPlaces.flat(), ...ofHashes]);
  }

  async function read(key: string): Promise<PendingTrace | undefined> {
    const trace = own.get(key) ?? (await shared?.get(key));
    return trace !== undefined && unixMs() - trace.sentUnixMs < KEPT_MS ? trace : undefined;
  }

  /** The last of some keys that there are traces of, as many as an answer may have. */
  async function readLast(keys: readonly string[]): Promise<readonly PendingTrace[]> {
    const traces: PendingTrace[] = [];
    for (let end = keys.length; end > 0 && traces.length < FOUND_MAX; end -= FOUND_MAX) {
      const found = await Promise.all(keys.slice(Math.max(end - FOUND_MAX, 0), end).map(read));
      traces.unshift(...found.filter((trace) => trace !== undefined));
    }
    return traces.slice(-FOUND_MAX);
  }

  async function look(): Promise<void> {
    if (closed) return;
    looking ??= lookAgain().finally(() => (looking = undefined));
    await looking;
  }

  const everyMs = options.everyMs ?? EVERY_MS;
  const ticker = everyMs === 0 ? undefined : setInterval(() => void look(), everyMs);

  return {
    note(message, { access }) {
      const key = message.normalizedHash.toString('hex');
      if (closed) return;
      const known = watched.get(key);
      if (known !== undefined) {
        spell(key, known, message.hash);
        return;
      }
      const [oldest] = watched.keys();
      if (watched.size >= WATCHED_MAX && oldest !== undefined) void track(letGo(oldest, 'displaced'));
      const sender = access === undefined ? {} : { access };
      const sinceUtime = Math.max((head()?.utime ?? 0) - SKEW_SECONDS, 0);
      const one = watchedFrom({ message, sender, sentUnixMs: unixMs(), sinceUtime });
      watched.set(key, one);
      if (shared !== undefined) void track(announce(shared, key, one));
      due.add(key);
      pump();
    },

    async find(filter) {
      const traces = await readLast([...(await keysOf(filter))]);
      if (traces.length === 0) return [];
      const taken = await index.findTaken(traces);
      return traces
        .map((trace) => withoutIndexed(trace, taken.get(trace.key.toString('hex')), filter.wanted))
        .filter((trace) => trace !== undefined)
        .toSorted((a, b) => a.sentUnixMs - b.sentUnixMs);
    },

    async refresh() {
      if (!closed) await refreshAll();
    },

    setLink(next) {
      link?.close();
      link = next;
      shared = shareOver(next);
      heldUnixMs = 0;
    },

    async close() {
      closed = true;
      ending.abort();
      clearInterval(ticker);
      await looking;
      while (running.size > 0) await Promise.all(running);
      await shared?.leases.leave([...watched.keys()]);
      watched.clear();
      link?.close();
    },
  };
}

/** Asks for each of a list, not for more of it at a time than an answer may have. */
async function inTurns<T, R>(list: readonly T[], ask: (one: T) => Promise<R>): Promise<R[]> {
  const answers: R[] = [];
  for (let at = 0; at < list.length; at += FOUND_MAX) {
    answers.push(...(await Promise.all(list.slice(at, at + FOUND_MAX).map(ask))));
  }
  return answers;
}

async function isSame(world: ChainSnapshot, read: ReadonlyMap<string, Buffer>): Promise<boolean> {
  const accounts = [...read].map(async ([text, before]) => {
    const [workchain = '', id = ''] = text.split(':');
    const account = { workchain: Number(workchain), id: Buffer.from(id, 'hex') };
    return before.equals(await world.readShardAccount(account));
  });
  return (await Promise.all(accounts)).every(Boolean);
}

/** Part of the trace that the index lacks; undefined when the index has all of it. */
function withoutIndexed(
  trace: PendingTrace,
  indexed: IndexedTrace | undefined,
  wanted: PendingFilter['wanted'],
): PendingTrace | undefined {
  if (indexed === undefined) return trace;
  if (wanted === 'actions') return indexed.isClassified ? undefined : trace;
  return indexed.accounts && withoutTransactions(trace, indexed.accounts);
}
