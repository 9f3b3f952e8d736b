import { StoreError } from '#service/store/errors.ts';
import {
  WHOLE_BLOCK,
  type Begun,
  type FinalLog,
  type HubConnection,
  type Position,
  type Subscription,
  type TraceSnapshot,
} from '../changes.ts';
import { StreamingError } from '../errors.ts';
import type { Distribution, Watchers } from './distribution.ts';
import type { HubMetrics } from './hub-metrics.ts';
import type { Past } from './past.ts';
import { createIndexedKeys } from './indexed-keys.ts';
import { endOf } from './positions.ts';
import { atPresent, planResume, type Resume } from './resume.ts';
import { createSkipping } from './skipping.ts';
import type { Subscriber } from './subscriber.ts';

export type HubConnectionDependencies = {
  readonly log: FinalLog;
  readonly past: Past;
  readonly watchers: Watchers;
  readonly distribution: Distribution;
  readonly metrics: HubMetrics;
  /** Current snapshot of a pending trace. */
  readonly findPending: (hash: string, signal: AbortSignal) => Promise<TraceSnapshot | undefined>;
  readonly readCursor: (cursor: string) => { readonly position: Position | null; readonly connection: number };
  readonly cursorOf: (subscriber: Subscriber, position: Position | null) => string;
  readonly livePosition: () => Position | null;
  readonly connectionBy: (number: number) => Subscriber | undefined;
  /** Runs work while no change is distributed. */
  readonly between: <T>(work: () => T) => Promise<T>;
};

/** Events of one replay. Its end has a cursor, from which the caller goes on. */
const REPLAYED_MAX = 100_000;

/** Close of a connection whose cursor another connection goes on with. */
const superseded = { code: 4001, reason: 'superseded' } as const;

/** Creates a connection at the hub. It belongs to the subscriber, and ends with it. */
export function createHubConnection(subscriber: Subscriber, dependencies: HubConnectionDependencies): HubConnection {
  const { log, past, distribution, metrics, between, livePosition, cursorOf } = dependencies;
  const keys = createIndexedKeys(subscriber, dependencies.watchers);
  /** Turn of the newest call, and of the subscription that has begun. */
  let newest = new AbortController();
  let active = newest;

  async function plan(wish: Subscription, cursor: string | undefined, signal: AbortSignal): Promise<Resume> {
    if (cursor === undefined) return atPresent;
    const { position, connection } = dependencies.readCursor(cursor);
    const resume = await planResume(position, wish, livePosition(), log);
    if (resume.isPast) await past.admit(signal);
    if (resume.resumed !== null) metrics.resumed(resume.resumed);
    const former = dependencies.connectionBy(connection);
    if (former !== undefined && former !== subscriber && former.keyId === subscriber.keyId) {
      former.end(superseded.code, superseded.reason);
    }
    return resume;
  }

  /** @throws StreamingError */
  async function tryPlan(wish: Subscription, cursor: string | undefined, signal: AbortSignal): Promise<Resume> {
    try {
      return await plan(wish, cursor, signal);
    } catch (error) {
      const isAway = error instanceof StoreError;
      if (isAway || (error instanceof StreamingError && error.code === 'replay_busy')) metrics.resumed('busy');
      throw isAway ? new StreamingError('replay_busy', 'the index cannot be read, try again') : error;
    }
  }

  /**
   * Switches to a subscription in one step: the waiting events of the former one are written, the answer follows. A replay that runs goes on
   * for the new subscription, unless that has a cursor of its own.
   */
  function begin(wish: Subscription, resume: Resume, answer: (begun: Begun) => void): Position | null {
    const present = subscriber.viewer() === undefined ? livePosition() : subscriber.progress();
    const from = resume.from ?? present;
    const isPast = resume.isPast || (resume === atPresent && subscriber.isReplaying);
    subscriber.begin(wish, from);
    subscriber.isReplaying = isPast;
    const gap =
      resume.gapFrom === null || present === null
        ? null
        : { from_mc_seqno: resume.gapFrom, to_mc_seqno: Math.max(resume.gapFrom, present.mcSeqno) };
    answer({ cursor: cursorOf(subscriber, from), resumed: resume.resumed, gap });
    return isPast ? from : null;
  }

  async function replay(wish: Subscription, from: Position, signal: AbortSignal): Promise<void> {
    const skipping = createSkipping(wish, past, signal);
    let events = 0;
    const first = from.index === WHOLE_BLOCK ? from.mcSeqno + 1 : from.mcSeqno;
    for (let mcSeqno = first; ; mcSeqno++) {
      const isLive = await between(() => {
        const end = log.newest();
        if (signal.aborted || (end !== null && end.mcSeqno >= mcSeqno)) return false;
        subscriber.isReplaying = false;
        return true;
      });
      if (isLive) return;
      const next = await skipping.next(mcSeqno, log.newest()?.mcSeqno ?? mcSeqno);
      if (next > mcSeqno) {
        mcSeqno = next - 1;
        subscriber.pass(endOf(mcSeqno));
        continue;
      }
      for (const change of await past.changesOf(mcSeqno, signal)) {
        await subscriber.room();
        signal.throwIfAborted();
        const before = subscriber.progress();
        await distribution.replay(change, subscriber, signal);
        if (subscriber.progress() !== before && ++events >= REPLAYED_MAX) return subscriber.endSlow();
      }
      signal.throwIfAborted();
      subscriber.pass(endOf(mcSeqno));
    }
  }

  /** Shows the present state of the subscribed traces. A resumed connection gets final ones from the past. */
  async function showCurrent(wish: Subscription, isResumed: boolean, signal: AbortSignal): Promise<void> {
    for (const hash of wish.types.has('trace') ? wish.traces : []) {
      await subscriber.room();
      signal.throwIfAborted();
      const pending = wish.minFinality === 'pending' ? await dependencies.findPending(hash, signal) : undefined;
      const snapshot = pending ?? (isResumed ? undefined : await past.findTrace(hash, signal));
      signal.throwIfAborted();
      if (snapshot === undefined) continue;
      // A snapshot that came during the search is newer than this one.
      const isOld = snapshot.finality !== 'finalized' && subscriber.memory.get(snapshot.key)?.shown.has('trace');
      if (isOld !== true) await distribution.showCurrent(snapshot, subscriber, signal);
    }
  }

  async function run(turn: AbortController, wish: Subscription, resume: Resume, answer: (begun: Begun) => void) {
    const { signal } = turn;
    await keys.add(wish, signal);
    const begun = await between(() => {
      if (signal.aborted || newest !== turn) return undefined;
      active.abort(replaced);
      active = turn;
      return { replayFrom: begin(wish, resume, answer) };
    });
    if (begun === undefined) return;
    await keys.settle(signal);
    await showCurrent(wish, resume.from !== undefined, signal);
    if (begun.replayFrom !== null) await replay(wish, begun.replayFrom, signal);
  }

  return {
    async subscribe(wish, cursor, answer) {
      const turn = new AbortController();
      if (!subscriber.isOpen()) return;
      const resume = await tryPlan(wish, cursor, turn.signal);
      if (!subscriber.isOpen()) return;
      newest = turn;
      try {
        await run(turn, wish, resume, answer);
      } catch (error) {
        if (!turn.signal.aborted) throw error;
      }
    },
    unsubscribe(accounts, traces) {
      const wish = subscriber.viewer()?.wish;
      if (wish === undefined) return;
      const rest = { accounts: wish.accounts.difference(accounts), traces: wish.traces.difference(traces) };
      subscriber.narrow({ ...wish, ...rest });
      keys.remove(accounts, traces);
    },
    cursor: () => cursorOf(subscriber, subscriber.written()),
    drain: subscriber.drain,
    close() {
      subscriber.close();
      for (const turn of [newest, active]) turn.abort(closed);
      keys.clear();
    },
  };
}

const replaced = new Error('the subscription was replaced');
const closed = new Error('the connection is closed');
