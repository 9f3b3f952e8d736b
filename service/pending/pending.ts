import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import type { Detector } from '../interfaces/detector.ts';
import type { AccountId } from '../live/accounts/accounts.ts';
import type { ReadContext } from '../contract/answer.ts';
import type { ChainSnapshots } from '../live/contracts/chain-snapshot.ts';
import type { ExternalMessage } from '../live/send/external-message.ts';
import { createPendingMetrics } from './metrics.ts';
import type { GoneReason } from './metrics.ts';
import { createLocalTraces } from './local-traces.ts';
import { createNews, type News } from './news.ts';
import type { PendingTrace } from './pending-trace.ts';
import { createRunQueue } from './run-queue.ts';
import { createSearch } from './search.ts';
import type { PendingLink } from './shared-traces.ts';
import { createSharing } from './sharing.ts';
import { createSimulation } from './simulation.ts';
import { isOverdue, KEPT_MS, SKEW_SECONDS, WATCHED_MAX, watchedFrom } from './watch-list.ts';
import type { Watched, WatchList } from './watch-list.ts';

export type { PendingTrace } from './pending-trace.ts';
export type { PendingListener, PendingNews } from './news.ts';

/** Filter of traces: by any of the accounts, or by any of the hashes. */
export type PendingFilter = {
  readonly accounts?: readonly AccountId[];
  /** Accounts of actions. They may have no transaction. */
  readonly actionAccounts?: readonly AccountId[];
  /** Hashes of a message from outside, as sent or normalised, or of a simulated first transaction. */
  readonly hashes?: readonly Buffer[];
  /**
   * Wanted part of a trace until the real actions are indexed. `transactions` (the default) are the transactions that the index
   * lacks, perhaps none. For `actions` all are there, and those that the index has are marked.
   */
  readonly wanted?: 'transactions' | 'actions';
};

/** Messages sent through the service with their simulation, until the real transactions are indexed (service/v3/README.md#pending). */
export type Pending = {
  /** Watches a message that a lite server has taken: it is run ahead of the chain at once. Never throws. */
  note(message: ExternalMessage, sender: Pick<ReadContext, 'access'>): void;
  /** Oldest first, without those whose real one is there to be read instead. Rejects as the index does. */
  find(filter: PendingFilter): Promise<readonly PendingTrace[]>;
  /** Calls the listener with traces that appear, change and go, on any pod. Returns a function that ends it. */
  readonly listen: News['listen'];
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

/** Interval of hearing other pods. */
const HEAR_EVERY_MS = 100;

/** Other spellings of a message that are found by their hashes. */
const SPELLINGS_MAX = 16;

/** Traces run at a time, so that those who ask now have the TVM's other threads. */
const RUNS_AT_ONCE = 2;

/** Watches sent messages. Refreshes them in intervals (`everyMs`) until it is closed. */
export function createPending(options: PendingOptions, dependencies: PendingDependencies): Pending {
  const { index, head, unixMs, logger } = dependencies;
  const watchList: WatchList = new Map();
  const own = createLocalTraces();
  const metrics = createPendingMetrics(dependencies.register, () => watchList.size);
  const ending = new AbortController();
  const running = new Set<Promise<void>>();
  const { scope, everyMs = EVERY_MS } = options;
  const sharing = createSharing({ scope, link: dependencies.link }, { watchList, own, unixMs, metrics, logger });
  const { signal } = ending;
  const news = createNews({ everyMs: everyMs === 0 ? 0 : HEAR_EVERY_MS }, { sharing, logger });
  const simulation = createSimulation({ ...dependencies, watchList, own, sharing, news, signal, metrics });
  const find = createSearch({ own, sharing, index, unixMs });
  const runs = createRunQueue(
    { runsMax: RUNS_AT_ONCE },
    {
      run(key) {
        const watched = watchList.get(key);
        return watched && track(simulation.run(key, watched));
      },
    },
  );
  let looking: Promise<void> | undefined;
  let closed = false;

  function track(work: Promise<void>): Promise<void> {
    const tracked = work.finally(() => running.delete(tracked));
    running.add(tracked);
    return tracked;
  }

  async function drop(key: string, reason: GoneReason): Promise<void> {
    const one = watchList.get(key);
    if (one === undefined) return;
    watchList.delete(key);
    metrics.gone(reason);
    const trace = own.get(key);
    own.drop(key);
    if (trace !== undefined) await sharing.drop(trace);
    // Another pod takes over a message with a lease if this pod is killed. So the news come before the end of the lease.
    await news.report({ kind: 'gone', key, reason, isTaken: one.isTaken });
    await sharing.forget(key);
  }

  /** The same message again, spelt in another way. */
  function spell(key: string, { message, spellings }: Watched, hash: Buffer): void {
    const text = hash.toString('hex');
    if (hash.equals(message.hash) || spellings.includes(text) || spellings.length >= SPELLINGS_MAX) return;
    spellings.push(text);
    if (own.get(key) !== undefined) void track(simulation.alias(text, key));
  }

  /** Drops messages that the index has, or has passed without taking. */
  async function settleIndexed(): Promise<void> {
    try {
      // The seqno first: what is indexed up to it is in the answer that comes after.
      const seqno = await index.lastSeqno();
      const sent = [...watchList.values()];
      const taken = await index.findTaken(
        sent.map(({ message, sinceUtime }) => ({ key: message.normalizedHash, sinceUtime })),
      );
      for (const [key, one] of watchList) {
        const indexed = taken.get(key);
        one.isTaken = indexed !== undefined;
        if (indexed?.isClassified === true) await drop(key, 'indexed');
        else if (!one.isTaken && isPassed(one.refusedAt, seqno)) await drop(key, 'conflict');
        else if (!one.isTaken && isPassed(one.overdueAt, seqno)) await drop(key, 'expired');
      }
    } catch (error) {
      logger.debug({ err: error }, 'the index did not say what is in it');
    }
  }

  /** Refreshes all except the runs, which take as long as lite servers do. Leases are renewed and old messages expire in parallel. */
  async function refreshList(): Promise<void> {
    const newest = head();
    for (const [key, one] of watchList) {
      if (unixMs() - one.sentUnixMs >= KEPT_MS) await drop(key, 'expired');
      else if (newest !== undefined && isOverdue(one, { unixMs: unixMs(), utime: newest.utime })) {
        one.overdueAt ??= newest.block.seqno;
      }
    }
    await sharing.renew();
    if (watchList.size === 0) return;
    await settleIndexed();
    const seqno = head()?.block.seqno;
    for (const [key, one] of watchList) if (one.seqno !== seqno && !one.isTaken) runs.add(key);
    runs.start();
  }

  async function refreshListOnce(): Promise<void> {
    if (closed) return;
    looking ??= refreshList().finally(() => (looking = undefined));
    await looking;
  }

  const ticker = everyMs === 0 ? undefined : setInterval(() => void refreshListOnce(), everyMs);

  return {
    note(message, { access }) {
      const key = message.normalizedHash.toString('hex');
      if (closed) return;
      const known = watchList.get(key);
      if (known !== undefined) {
        spell(key, known, message.hash);
        return;
      }
      const [oldest] = watchList.keys();
      if (watchList.size >= WATCHED_MAX && oldest !== undefined) void track(drop(oldest, 'displaced'));
      const sender = access === undefined ? {} : { access };
      const sinceUtime = Math.max((head()?.utime ?? 0) - SKEW_SECONDS, 0);
      const one = watchedFrom({ message, sender, sentUnixMs: unixMs(), sinceUtime });
      watchList.set(key, one);
      void track(sharing.announce(key, one));
      runs.add(key);
      runs.start();
    },
    find,
    listen: news.listen,
    async refresh() {
      if (closed) return;
      await refreshListOnce();
      await news.hear();
      const round = [...watchList.keys()];
      await Promise.all(running);
      while (round.some(runs.isUnfinished)) await Promise.race(running);
    },
    setLink: sharing.setLink,
    async close() {
      closed = true;
      runs.close();
      news.close();
      ending.abort();
      clearInterval(ticker);
      await looking;
      while (running.size > 0) await Promise.all(running);
      await sharing.close();
      watchList.clear();
    },
  };
}

/** Reports whether the index has passed a head. */
function isPassed(head: number | undefined, indexedSeqno: number): boolean {
  return head !== undefined && head <= indexedSeqno;
}
