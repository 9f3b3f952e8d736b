import type { Semaphore } from '#service/runtime/semaphore.ts';
import type { Change, FinalLog, Hub, Position, TraceSnapshot } from '../changes.ts';
import type { Distribution, EarlyLabels } from './distribution.ts';
import { createFinalStates, isState, nameOf, type FinalStates } from './final-states.ts';
import type { HubMetrics } from './hub-metrics.ts';
import { createEndedTraces, isEnd, isOpenPart, type EndedTraces } from './ended-traces.ts';
import type { LevelsLog } from './levels-log.ts';
import { laterOf, positionOf, steps } from './positions.ts';
import { createRecentKeys, type RecentKeys } from './recent-keys.ts';
import type { SnapshotNames } from './snapshot-names.ts';
import { createTaking, type Taking } from './taking.ts';

/** Brings the changes of all sources into one order, and gives them to the connections one at a time. */
export type Publishing = {
  /** Gives final changes, and others of a log of this process alone. */
  readonly publish: Hub['publish'];
  /** Gives the next records of the log that all pods share. */
  readonly take: Taking;
  /** Gives a change that the shared log had before this process read it. @param number of the record */
  readonly giveBare: (change: Change, number: number) => Promise<void>;
  readonly ended: EndedTraces;
  /** Newest final states that this process has seen. */
  readonly states: Pick<FinalStates, 'isLate'>;
  /** Final position behind all changes that live connections were given. */
  readonly livePosition: () => Position | null;
};

export type PublishingDependencies = {
  readonly log: Pick<FinalLog, 'newest' | 'changesOf'>;
  readonly levels: LevelsLog;
  readonly names: Pick<SnapshotNames, 'name'>;
  readonly distribution: Pick<Distribution, 'readEarly' | 'distribute' | 'recall'>;
  /** Admits one change at a time. No subscription begins during it. */
  readonly turns: Semaphore;
  readonly signal: AbortSignal;
  readonly metrics: Pick<HubMetrics, 'distributed'>;
  readonly nowMs: () => number;
  /** Reports whether a connection below `finalized` watches one of the accounts or traces. */
  readonly takesLevels: (keys: WatchedKeys) => boolean;
  /** Reports whether any connection has to do with one of them. */
  readonly isWatched: (keys: WatchedKeys) => boolean;
  /** Takes a final part of a trace that goes on for the shared log; false without one. */
  readonly sharePart: (part: TraceSnapshot) => boolean;
  /** No connection has a change in its events, so all resume. */
  readonly onFault: (error: unknown) => void;
};

type WatchedKeys = { readonly accounts: Iterable<string>; readonly traces: Iterable<string> };

/** Accounts whose newest state below `finalized` is compared: some 5 MB. */
const STATES_MAX = 5_000;

export function createPublishing(dependencies: PublishingDependencies): Publishing {
  const { log, levels, names, distribution, turns, signal, metrics, nowMs, onFault } = dependencies;
  const { takesLevels, isWatched, sharePart } = dependencies;
  const newestStates = createRecentKeys<string>(STATES_MAX);
  const states = createFinalStates();
  /** Position behind the newest final change that was distributed. */
  let distributed: Position | null = null;
  let publishing = 0;

  const livePosition = (): Position | null => (publishing > 0 ? distributed : laterOf(log.newest(), distributed));

  const ended = createEndedTraces({ states, livePosition, changesOf: (mcSeqno) => log.changesOf(mcSeqno, signal) });

  /** Lower levels of a trace do not follow its final parts, so the log of levels has these parts too. */
  function isWatchedPart(change: Change): change is TraceSnapshot {
    if (!isOpenPart(change)) return false;
    const accounts = change.transactions.map(({ account }) => account);
    return takesLevels({ accounts, traces: [change.key, ...change.hashes] });
  }

  /** @param record number in the log of levels; null for a final change, and for one that the log had before */
  async function give(change: Change, record: number | null, early: EarlyLabels | undefined): Promise<void> {
    if (states.isLate(change) || isRepeated(change, newestStates)) return;
    const startMs = nowMs();
    try {
      await distribution.distribute({ change, record }, early);
      metrics.distributed(change.kind === 'invalidation' ? 'none' : change.finality, (nowMs() - startMs) / 1000);
    } catch (error) {
      if (!signal.aborted) onFault(error);
    }
  }

  async function distribute(change: Change, early: EarlyLabels | undefined): Promise<void> {
    const isFinal = finalPositionOf(change) !== null;
    if (!isFinal && ended.isOvertaken(change)) return;
    if (change.kind === 'invalidation' && change.withdraws && !levels.isNewest(change.key, change.withdraws)) return;
    const isRecorded = !isFinal || (isWatchedPart(change) && !sharePart(change));
    const record = isRecorded ? levels.append(change, livePosition()) : null;
    await give(change, isFinal ? null : record, early);
    if (record !== null && !signal.aborted) levels.given(record);
  }

  async function readEarly(change: Change): Promise<EarlyLabels | undefined> {
    try {
      return await distribution.readEarly(change);
    } catch {
      // The distribution reads labels itself, and reports its failure.
      return undefined;
    }
  }

  /** A final change is behind the live connections. */
  function pass(change: Change): void {
    const position = finalPositionOf(change);
    if (position === null) return;
    distributed = laterOf(positionOf(position, steps.last), distributed);
    if (change.kind === 'trace' && isEnd(change)) levels.end(change.key, positionOf(position, steps.before));
  }

  async function giveBare(change: Change, number: number): Promise<void> {
    const early = await readEarly(change);
    await turns.run(signal, async () => {
      if (ended.isOvertaken(change)) return;
      await give(change, null, early);
      if (change.kind === 'trace') distribution.recall(change.key, number);
    });
  }

  async function publishAll(changes: readonly Change[]): Promise<void> {
    for (const one of changes) {
      const change = names.name(one);
      const early = await readEarly(change);
      await turns.run(signal, async () => {
        await distribute(change, early);
        pass(change);
      });
    }
  }

  return {
    livePosition,
    ended,
    states,
    giveBare,
    take: createTaking({ levels, ended, turns, signal, isWatched, readEarly, give }),
    async publish(changes) {
      const place = changes.map(finalPositionOf).find((position) => position !== null);
      if (place === undefined || place === null) return publishAll(changes);
      const before = positionOf(place, steps.before);
      // The index has the whole block already, and connections have none of it yet.
      if (publishing === 0) distributed = laterOf(before, distributed);
      publishing++;
      // A connection that resumes now gets the ends of the traces from the index. No lower level may follow them.
      ended.note(changes);
      try {
        await publishAll(changes);
      } finally {
        publishing--;
      }
    },
  };
}

/** Reports whether a change has a place in the order of final ones. */
export function isFinalChange(change: Change): boolean {
  return finalPositionOf(change) !== null;
}

/** Position of a final change; null for others. */
function finalPositionOf(change: Change): Position | null {
  return change.kind === 'invalidation' ? null : change.position;
}

/** Reports whether a state is the newest one of its account already: another log may have it again. */
function isRepeated(change: Change, newest: RecentKeys<string>): boolean {
  if (!isState(change) || change.position !== null) return false;
  const text = JSON.stringify(change);
  return newest.replace(nameOf(change), text) === text;
}
