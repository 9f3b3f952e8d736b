import type { StreamSettings } from '#service/config/streaming.ts';
import { pause } from '#service/runtime/retry.ts';
import { StoreError } from '#service/store/errors.ts';
import {
  WHOLE_BLOCK,
  type AccountKey,
  type Begun,
  type Change,
  type FinalLog,
  type HubConnection,
  type Position,
  type SnapshotName,
  type Subscription,
  type TraceSnapshot,
} from '../changes.ts';
import { closings } from '../closing.ts';
import { changesFor } from '../concerned.ts';
import { indexAway, StreamingError } from '../errors.ts';
import type { Cursor } from '../request/cursor.ts';
import type { Distribution, Watchers } from './distribution.ts';
import { isOpenPart } from './ended-traces.ts';
import type { Feed } from './feed.ts';
import type { FinalStates } from './final-states.ts';
import type { Formers } from './formers.ts';
import type { HubMetrics } from './hub-metrics.ts';
import type { LevelsLog } from './levels-log.ts';
import { LevelsReplay } from './levels-replay.ts';
import type { Past } from './past.ts';
import { IndexedKeys } from './indexed-keys.ts';
import { endOf, isAfter, markOf, positionOf, steps } from './positions.ts';
import type { PresentTrace, PresentTraces } from './present-traces.ts';
import { atPresent, planResume, type LevelsStart, type Resume } from './resume.ts';
import { createSkipping } from './skipping.ts';
import { levelOf } from './snapshot-names.ts';
import type { Place, Subscriber } from './subscriber.ts';
import { rankOf } from './trace-views.ts';

export type HubConnectionDependencies = {
  /** Bound of one replay. The close at its end has a cursor, from which the caller goes on. */
  readonly settings: () => Pick<StreamSettings, 'replay'>;
  readonly log: FinalLog;
  readonly past: Past;
  readonly watchers: Watchers;
  readonly distribution: Distribution;
  readonly metrics: HubMetrics;
  readonly present: PresentTraces;
  readonly readCursor: (cursor: string) => Cursor;
  readonly cursorOf: (subscriber: Subscriber, place: Place) => string;
  readonly livePosition: () => Position | null;
  readonly levels: LevelsLog;
  readonly connectionBy: (number: number) => Subscriber | undefined;
  readonly formers: Formers;
  readonly feed: Feed;
  readonly endsFrom: () => Position | null;
  readonly states: Pick<FinalStates, 'isLate'>;
  /** Runs work while no change is distributed. */
  readonly between: <T>(work: () => T) => Promise<T>;
};

/** Milliseconds between two looks whether this process is as far as a cursor. */
const CATCH_UP_MS = 50;

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
  }

  /** Ends the work for its transport, which is gone. */
  stop(): void {
    for (const turn of [this.#newest, this.#active]) turn?.abort(closed);
  }

  /** Ends what it watches. */
  forget(): void {
    this.subscriber.forget();
    this.#keys.clear();
  }

  /** @throws StreamingError */
  async #tryPlan(wish: Subscription, cursor: string | undefined, signal: AbortSignal): Promise<Resume> {
    const { metrics } = this.#dependencies;
    try {
      return await this.#plan(wish, cursor, signal);
    } catch (error) {
      this.subscriber.upcoming = undefined;
      await this.#keys.giveUp(wish, signal);
      const isAway = error instanceof StoreError;
      if (isAway || (error instanceof StreamingError && error.code === 'replay_busy')) metrics.resumed('busy');
      throw isAway ? indexAway() : error;
    }
  }

  async #plan(wish: Subscription, cursor: string | undefined, signal: AbortSignal): Promise<Resume> {
    if (cursor === undefined) return atPresent;
    const { subscriber } = this;
    const { past, log, metrics, livePosition, readCursor, connectionBy } = this.#dependencies;
    const read = readCursor(cursor);
    const levels = await this.#levelsFrom(read, wish, signal);
    const resume = await planResume(read.position, wish, livePosition(), {
      log,
      levels,
      wasBelow: read.levels !== undefined,
    });
    if (resume.isPast) await past.admit(signal);
    if (resume.resumed !== null) metrics.resumed(resume.resumed);
    const former = connectionBy(read.connection);
    if (former !== undefined && former !== subscriber && former.keyId === subscriber.keyId) {
      former.end(closings.superseded.code, closings.superseded.reason);
    }
    return resume;
  }

  /** Place in the log of levels from which all that follows is there; undefined otherwise. */
  async #levelsFrom(
    { connection, levels: place }: Cursor,
    wish: Subscription,
    signal: AbortSignal,
  ): Promise<LevelsStart | undefined> {
    const { levels, formers, feed } = this.#dependencies;
    const { subscriber } = this;
    if (place === undefined || wish.minFinality === 'finalized') return undefined;
    // The connection may have been shown a final part that is on its way to the log.
    await feed.partsShared();
    const own = formers.own(connection, place, subscriber.keyId, wish);
    if (own !== undefined) return { ...place, ...own };
    // This process watches before another one answers, so no moment is left out.
    await this.#keys.add(wish, signal);
    subscriber.upcoming = wish;
    const since = await feed.findFormer({ connection, place, keyId: subscriber.keyId, wish }, signal);
    if (since === undefined || !levels.reaches(place, false)) return undefined;
    return { ...place, since, shownFrom: wish.minFinality };
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
    const show = (): Promise<void> => this.#showPresent(wish, resume.from !== undefined, signal);
    // The log of levels has earlier snapshots than the present one.
    const isLater = resume.levels !== undefined || resume.isAhead === true;
    if (!isLater) await show();
    if (begun.replayFrom !== null) await this.#replay(wish, begun.replayFrom, signal);
    if (isLater) await show();
  }

  /**
   * Switches to a subscription in one step: the waiting events of the former one are written, the answer follows. A replay that runs goes on
   * for the new subscription, unless that has a cursor of its own.
   */
  #begin(wish: Subscription, planned: Resume, answer: (begun: Begun) => void): Position | null {
    const { subscriber } = this;
    const { livePosition, levels, cursorOf } = this.#dependencies;
    // The log may have changed, or lost records, since the plan.
    const isGone = planned.levels !== undefined && !levels.reaches(planned.levels, false);
    const resume: Resume = isGone ? { ...planned, resumed: 'finalized', levels: undefined } : planned;
    // Live events follow a gap, whatever a former replay has not read yet.
    if (resume.gapFrom !== null) subscriber.isReplaying = false;
    const present = subscriber.viewer() === undefined ? livePosition() : subscriber.progress();
    const from = resume.from ?? present;
    const isPast = resume.isPast || (resume === atPresent && subscriber.isReplaying);
    const goesOn = resume === atPresent && subscriber.isReplayingLevels;
    const isReplayingLevels = resume.levels !== undefined || resume.isAhead === true || goesOn;
    const mark = resume.levels?.mark ?? (isReplayingLevels ? subscriber.progressMark() : levels.mark());
    if (resume.levels !== undefined) {
      // The replay restores what the former connection was shown up to the cursor.
      subscriber.memory.clear();
      subscriber.since = resume.levels.since;
      subscriber.shownFrom = resume.levels.shownFrom;
    }
    subscriber.begin(wish, { position: from, mark });
    subscriber.isReplaying = isPast;
    subscriber.isReplayingLevels = isReplayingLevels;
    const gap =
      resume.gapFrom === null || present === null
        ? null
        : { from_mc_seqno: resume.gapFrom, to_mc_seqno: Math.max(resume.gapFrom, present.mcSeqno) };
    answer({ cursor: cursorOf(subscriber, { position: from, mark }), resumed: resume.resumed, gap });
    return isPast ? from : null;
  }

  async #replay(wish: Subscription, from: Position, signal: AbortSignal): Promise<void> {
    const { subscriber } = this;
    const { past, log, between, distribution, feed, settings } = this.#dependencies;
    const records = subscriber.isReplayingLevels ? new LevelsReplay(subscriber, wish, this.#dependencies) : undefined;
    if (records !== undefined) await this.#catchUp(from, signal);
    const watched = records?.watched() ?? wish;
    const skipping = createSkipping(watched, past, signal);
    let events = 0;
    const first = from.index === WHOLE_BLOCK ? from.mcSeqno + 1 : from.mcSeqno;
    for (let mcSeqno = first; ;) {
      const next = await between(() => this.#nextOf(mcSeqno, records, signal));
      if (next === 'live') return;
      if (next === 'records') {
        // The pod that made a record may be ahead of this one.
        await records?.give(() => true, signal);
        continue;
      }
      const touched = await skipping.next(mcSeqno, log.newest()?.mcSeqno ?? mcSeqno);
      if (touched > mcSeqno) {
        mcSeqno = touched;
        subscriber.pass(endOf(mcSeqno - 1));
        continue;
      }
      const changes = await past.changesOf(mcSeqno, signal);
      records?.noteEnds(changes);
      // A trace that was shown at a lower level may not touch the accounts any more.
      const isAll = records === undefined && !subscriber.memory.isEmpty();
      const concerned = isAll ? changes : changesFor(changes, watched);
      for (const change of concerned) {
        await records?.give((behind) => isBefore(behind, change), signal);
        await subscriber.room();
        signal.throwIfAborted();
        // Another pod may not have given this part to a connection yet.
        if (wish.minFinality !== 'finalized' && isOpenPart(change)) {
          feed.sharePart(change);
          this.#recallParts(change);
        }
        const before = subscriber.progress();
        await distribution.replay({ change, record: null }, subscriber, signal);
        if (subscriber.progress() !== before && ++events >= settings().replay.events) return subscriber.endSlow();
      }
      signal.throwIfAborted();
      subscriber.pass(endOf(mcSeqno));
      mcSeqno++;
    }
  }

  /** Records of the parts of a trace may be before the subscription. No lower level follows them after a resume either. */
  #recallParts({ key }: TraceSnapshot): void {
    const records = this.#dependencies.levels.concerning({ accounts: new Set(), traces: new Set([key]) }, 0);
    const first = records.find(({ head }) => head.position !== null);
    if (first !== undefined) this.subscriber.recall(markOf(first.number, steps.before));
  }

  /** Waits until this process is as far as a cursor. Final changes up to the cursor say which traces are over. */
  async #catchUp(from: Position, signal: AbortSignal): Promise<void> {
    for (;;) {
      if (!isAfter(from, this.#dependencies.livePosition() ?? endOf(0))) return;
      await pause(CATCH_UP_MS, signal);
    }
  }

  /** Finds what follows in a replay before a block. Without more the connection is live from the same moment on. */
  #nextOf(mcSeqno: number, records: LevelsReplay | undefined, { aborted }: AbortSignal): 'block' | 'records' | 'live' {
    const end = this.#dependencies.log.newest();
    if (aborted || (end !== null && end.mcSeqno >= mcSeqno)) return 'block';
    if (records?.hasNext() === true) return 'records';
    this.subscriber.isReplaying = false;
    this.subscriber.isReplayingLevels = false;
    return 'live';
  }

  /** Shows the present state of the subscribed traces. A resumed connection gets final ones from the past. */
  async #showPresent(wish: Subscription, isResumed: boolean, signal: AbortSignal): Promise<void> {
    for (const hash of wish.types.has('trace') ? wish.traces : []) {
      await this.subscriber.room();
      signal.throwIfAborted();
      const { present, levels } = this.#dependencies;
      const since = { epoch: levels.epoch(), number: levels.newest() };
      const found = await present.find(hash, wish.minFinality, isResumed, signal);
      signal.throwIfAborted();
      if (found === undefined) continue;
      await this.#showTrace(hash, found, signal);
      await this.#withdrawLate(found.snapshot, since);
    }
  }

  /** Withdraws a snapshot again if its withdrawal came into the log between the search and the snapshot. */
  async #withdrawLate({ key, finality }: TraceSnapshot, { epoch, number }: Pick<SnapshotName, 'epoch' | 'number'>) {
    const { levels, feed } = this.#dependencies;
    const shown = levels.snapshotOf(key, finality)?.number ?? 0;
    if (shown <= number || levels.epoch() !== epoch) return;
    for (const record of levels.concerning({ accounts: new Set(), traces: new Set([key]) }, number)) {
      if (record.head.kind !== 'invalidation' || record.number > shown) continue;
      const change = await record.change();
      if (change?.kind === 'invalidation' && levelOf(change.reason) === finality) return feed.publish([change]);
    }
  }

  async #showTrace(hash: string, { snapshot, record }: PresentTrace, signal: AbortSignal): Promise<void> {
    const { subscriber } = this;
    const { distribution, between, levels, livePosition, feed } = this.#dependencies;
    const { key, finality } = snapshot;
    const isFinal = finality === 'finalized';
    // A snapshot that came during the search is newer than this one.
    const isOld = (): boolean =>
      !isFinal &&
      ((subscriber.memory.get(key)?.shown.get('trace')?.rank ?? 0) >= rankOf(snapshot) ||
        (record !== undefined && levels.snapshotOf(hash, finality) !== record));
    const isNew = !isFinal && !levels.hasLevel(snapshot);
    // It comes as a record of the log.
    if (isNew && !isOld() && !feed.isAlone()) return feed.publish([snapshot]);
    const deliver = await distribution.prepareCurrent(snapshot, subscriber, signal);
    await between(() => {
      if (signal.aborted || isOld() || deliver === undefined) return;
      if (isNew && feed.isAlone() && !levels.hasLevel(snapshot)) {
        levels.given(levels.append(snapshot, livePosition()));
      }
      deliver();
    });
  }
}

/** Reports whether a record, which follows a final position, comes before a final change. */
function isBefore(behind: Position | null, change: Change): boolean {
  const position = change.kind === 'invalidation' ? null : change.position;
  return position === null || isAfter(positionOf(position, steps.last), behind);
}

const replaced = new Error('the subscription was replaced');
const closed = new Error('the connection is closed');
