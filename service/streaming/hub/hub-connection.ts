import { StoreError } from '#service/store/errors.ts';
import {
  WHOLE_BLOCK,
  type AccountKey,
  type Begun,
  type FinalLog,
  type HubConnection,
  type Position,
  type Subscription,
  type TraceSnapshot,
} from '../changes.ts';
import { changesFor } from '../concerned.ts';
import { indexAway, StreamingError } from '../errors.ts';
import type { Distribution, Watchers } from './distribution.ts';
import type { HubMetrics } from './hub-metrics.ts';
import type { Past } from './past.ts';
import { IndexedKeys } from './indexed-keys.ts';
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
  readonly cursorOf: (subscriber: Pick<Subscriber, 'number'>, position: Position | null) => string;
  readonly livePosition: () => Position | null;
  readonly connectionBy: (number: number) => Subscriber | undefined;
  /** Runs work while no change is distributed. */
  readonly between: <T>(work: () => T) => Promise<T>;
};

/** Events of one replay. Its end has a cursor, from which the caller goes on. */
const REPLAYED_MAX = 100_000;

/** Close of a connection whose cursor another connection goes on with. */
const superseded = { code: 4001, reason: 'superseded' } as const;

/** A connection at the hub. It belongs to the subscriber, and ends with it. Thousands of connections share the methods of a class. */
export class ConnectionAtHub implements HubConnection {
  readonly subscriber: Subscriber;
  readonly #dependencies: HubConnectionDependencies;
  readonly #keys: IndexedKeys;
  /** Turn of the newest call, and of the subscription that has begun. */
  #newest: AbortController | undefined;
  #active: AbortController | undefined;

  constructor(subscriber: Subscriber, dependencies: HubConnectionDependencies) {
    this.subscriber = subscriber;
    this.#dependencies = dependencies;
    this.#keys = new IndexedKeys(subscriber, dependencies.watchers);
  }

  async subscribe(wish: Subscription, cursor: string | undefined, answer: (begun: Begun) => void): Promise<void> {
    const turn = new AbortController();
    if (!this.subscriber.isOpen()) return;
    const resume = await this.#tryPlan(wish, cursor, turn.signal);
    if (!this.subscriber.isOpen()) return;
    this.#newest = turn;
    try {
      await this.#run(turn, wish, resume, answer);
    } catch (error) {
      if (!turn.signal.aborted) throw error;
    }
  }

  unsubscribe(accounts: ReadonlySet<AccountKey>, traces: ReadonlySet<string>): void {
    const wish = this.subscriber.viewer()?.wish;
    if (wish === undefined) return;
    const rest = { ...wish, accounts: wish.accounts.difference(accounts), traces: wish.traces.difference(traces) };
    this.subscriber.narrow(rest);
    this.#keys.narrow(wish, rest);
  }

  cursor(): string {
    return this.#dependencies.cursorOf(this.subscriber, this.subscriber.written());
  }

  drain(): void {
    this.subscriber.drain();
  }

  close(): void {
    this.subscriber.close();
    for (const turn of [this.#newest, this.#active]) turn?.abort(closed);
    this.#keys.clear();
  }

  /** @throws StreamingError */
  async #tryPlan(wish: Subscription, cursor: string | undefined, signal: AbortSignal): Promise<Resume> {
    const { metrics } = this.#dependencies;
    try {
      return await this.#plan(wish, cursor, signal);
    } catch (error) {
      const isAway = error instanceof StoreError;
      if (isAway || (error instanceof StreamingError && error.code === 'replay_busy')) metrics.resumed('busy');
      throw isAway ? indexAway() : error;
    }
  }

  async #plan(wish: Subscription, cursor: string | undefined, signal: AbortSignal): Promise<Resume> {
    if (cursor === undefined) return atPresent;
    const { subscriber } = this;
    const { past, log, metrics, livePosition, readCursor, connectionBy } = this.#dependencies;
    const { position, connection } = readCursor(cursor);
    const resume = await planResume(position, wish, livePosition(), log);
    if (resume.isPast) await past.admit(signal);
    if (resume.resumed !== null) metrics.resumed(resume.resumed);
    const former = connectionBy(connection);
    if (former !== undefined && former !== subscriber && former.keyId === subscriber.keyId) {
      former.end(superseded.code, superseded.reason);
    }
    return resume;
  }

  async #run(turn: AbortController, wish: Subscription, resume: Resume, answer: (begun: Begun) => void): Promise<void> {
    const { signal } = turn;
    await this.#keys.add(wish, signal);
    const begun = await this.#dependencies.between(() => {
      if (signal.aborted || this.#newest !== turn) return undefined;
      this.#active?.abort(replaced);
      this.#active = turn;
      return { replayFrom: this.#begin(wish, resume, answer) };
    });
    if (begun === undefined) return;
    await this.#keys.settle(signal);
    await this.#showCurrent(wish, resume.from !== undefined, signal);
    if (begun.replayFrom !== null) await this.#replay(wish, begun.replayFrom, signal);
  }

  /**
   * Switches to a subscription in one step: the waiting events of the former one are written, the answer follows. A replay that runs goes on
   * for the new subscription, unless that has a cursor of its own.
   */
  #begin(wish: Subscription, resume: Resume, answer: (begun: Begun) => void): Position | null {
    const { subscriber } = this;
    const { livePosition, cursorOf } = this.#dependencies;
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

  async #replay(wish: Subscription, from: Position, signal: AbortSignal): Promise<void> {
    const { subscriber } = this;
    const { past, log, between, distribution } = this.#dependencies;
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
      const changes = await past.changesOf(mcSeqno, signal);
      // A trace that was shown at a lower level may not touch the accounts any more.
      const concerned = subscriber.memory.isEmpty() ? changesFor(changes, wish) : changes;
      for (const change of concerned) {
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
  async #showCurrent(wish: Subscription, isResumed: boolean, signal: AbortSignal): Promise<void> {
    const { subscriber } = this;
    const { past, distribution, findPending } = this.#dependencies;
    for (const hash of wish.types.has('trace') ? wish.traces : []) {
      await subscriber.room();
      signal.throwIfAborted();
      const pending = wish.minFinality === 'pending' ? await findPending(hash, signal) : undefined;
      const snapshot = pending ?? (isResumed ? undefined : await past.findTrace(hash, signal));
      signal.throwIfAborted();
      if (snapshot === undefined) continue;
      // A snapshot that came during the search is newer than this one.
      const isOld = snapshot.finality !== 'finalized' && subscriber.memory.get(snapshot.key)?.shown.has('trace');
      if (isOld !== true) await distribution.showCurrent(snapshot, subscriber, signal);
    }
  }
}

const replaced = new Error('the subscription was replaced');
const closed = new Error('the connection is closed');
