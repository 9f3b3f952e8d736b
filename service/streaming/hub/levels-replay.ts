import type { Change, Position, Subscription } from '../changes.ts';
import { changesFor } from '../concerned.ts';
import type { Distribution } from './distribution.ts';
import { createFinalStates, type FinalStates } from './final-states.ts';
import type { Past } from './past.ts';
import { isAfter, lastWhole, positionOf, steps } from './positions.ts';
import { isEnd } from './ended-traces.ts';
import type { LevelRecord, LevelsLog } from './levels-log.ts';
import type { Subscriber } from './subscriber.ts';

export type LevelsReplayDependencies = {
  readonly levels: LevelsLog;
  readonly distribution: Pick<Distribution, 'replay'>;
  readonly past: Pick<Past, 'changesOf'>;
  /** Final position from which on this process has seen all ends of traces. */
  readonly endsFrom: () => Position | null;
  /** Newest final states that this process has seen. */
  readonly states: Pick<FinalStates, 'isLate'>;
};

/** Blocks by which the maker of a record may be behind the cursor. A record from farther behind is left out, as a level may be. */
const BEHIND_MAX = 64;

/**
 * Gives one connection the log of levels again. Records that the connection has behind it send nothing: they restore the memory of what it was
 * shown.
 */
export class LevelsReplay {
  readonly #subscriber: Subscriber;
  readonly #wish: Subscription;
  readonly #traces: Set<string>;
  readonly #dependencies: LevelsReplayDependencies;
  /** Records that follow, and the newest record that was looked at; undefined before the first look. */
  #next: LevelRecord[] = [];
  #seen: number | undefined;
  readonly #since: number;
  /** Records up to here need not be there. */
  readonly #spared: number;
  /** Final changes up to here are behind the connection. */
  readonly #from: Position | null;
  /** First ends of traces in the blocks that were read. */
  readonly #ends = new Map<string, Position>();
  /** Newest final states of the subscription in these blocks. */
  readonly #states = createFinalStates();
  /** Oldest block before the cursor that was read; undefined for none. */
  #endsFrom: number | undefined;

  constructor(subscriber: Subscriber, wish: Subscription, dependencies: LevelsReplayDependencies) {
    this.#subscriber = subscriber;
    this.#wish = wish;
    this.#dependencies = dependencies;
    this.#traces = new Set(wish.traces);
    this.#from = subscriber.progress();
    this.#since = lastWhole(subscriber.since ?? 0);
    this.#spared = lastWhole(subscriber.progressMark());
  }

  /** Accounts and traces of the subscription, and the traces of its records: their final changes may touch no account of it. */
  watched(): Pick<Subscription, 'accounts' | 'traces'> {
    this.#peek();
    return { accounts: this.#wish.accounts, traces: this.#traces };
  }

  /** Reports whether a record follows. */
  hasNext(): boolean {
    return this.#peek() !== undefined;
  }

  /** Gives the next records while they are due. @param isDue by the final position that a record is behind */
  async give(isDue: (behind: Position | null) => boolean, signal: AbortSignal): Promise<void> {
    for (;;) {
      const record = this.#peek();
      if (record === undefined || !isDue(record.behind)) return;
      await this.#subscriber.room();
      signal.throwIfAborted();
      const change = (await this.#isOver(record, signal)) ? undefined : await record.change();
      signal.throwIfAborted();
      if (change !== undefined && !this.#isOvertaken(change)) {
        // A final part of a trace goes by its position.
        const given = { change, record: record.head.position === null ? record.number : null };
        await this.#dependencies.distribution.replay(given, this.#subscriber, signal);
        signal.throwIfAborted();
      }
      this.#next.pop();
    }
  }

  /** Notes the ends of traces and the final states in a block that the replay has reached. */
  noteEnds(changes: readonly Change[]): void {
    this.#states.note(changesFor(changes, this.#wish));
    for (const change of changes.toReversed()) {
      if (change.kind !== 'trace' || !isEnd(change)) continue;
      const end = positionOf(change.position!, steps.before);
      const known = this.#ends.get(change.key);
      if (known === undefined || isAfter(known, end)) this.#ends.set(change.key, end);
    }
  }

  #peek(): LevelRecord | undefined {
    const { levels } = this.#dependencies;
    const newest = levels.newest();
    if (this.#next.length === 0 && (this.#seen ?? -1) < newest) {
      // The caller took so long that records are gone. Its cursor says so.
      if (levels.dropped() > Math.max(this.#seen ?? this.#since, this.#spared)) this.#subscriber.endSlow();
      const found = this.#find().toReversed();
      // Final parts that the connection has behind it come first: no lower level follows them. Later parts are in the replayed blocks.
      const parts = found.filter(({ head }) => head.position !== null && this.#isBehind(head.position));
      this.#next = [...found.filter(({ head }) => head.position === null), ...parts];
      this.#seen = newest;
      for (const { head } of this.#next) if (head.kind === 'trace') this.#traces.add(head.key!);
    }
    return this.#next.at(-1);
  }

  #find(): readonly LevelRecord[] {
    const { levels } = this.#dependencies;
    const watched = { accounts: this.#wish.accounts, traces: this.#traces };
    const found = levels.concerning(watched, this.#seen ?? this.#since);
    if (this.#seen !== undefined) return found;
    // The connection may have been shown the present state of a trace that it named when it began.
    const named = levels.concerning({ accounts: new Set(), traces: this.#wish.traces }, 0);
    return [...named.filter(({ number }) => number <= this.#since), ...found];
  }

  #isBehind(position: Position): boolean {
    return this.#from !== null && isAfter(this.#from, positionOf(position, steps.before));
  }

  /** Reports whether the connection has the end of a record's trace behind it, or an event of the end: nothing follows. */
  async #isOver({ number, head: { key }, behind }: LevelRecord, signal: AbortSignal): Promise<boolean> {
    if (number > this.#spared && !(await this.#findEnds(behind, signal))) return true;
    if (key === null) return false;
    const progress = this.#subscriber.progress();
    const ends = [this.#dependencies.levels.endOf(key), this.#ends.get(key)];
    return progress !== null && ends.some((end) => end !== undefined && isAfter(progress, end));
  }

  /** Reports whether the connection has a final state behind it that is as new. */
  #isOvertaken(change: Change): boolean {
    const progress = this.#subscriber.progress();
    return [this.#dependencies.states, this.#states].some((states) => states.isLate(change, progress));
  }

  /**
   * Reads the blocks between a final position and the cursor that this process did not see.
   * @returns false when they are too many
   */
  async #findEnds(behind: Position | null, signal: AbortSignal): Promise<boolean> {
    const { past, endsFrom } = this.#dependencies;
    const seen = endsFrom();
    if (this.#from === null || seen === null || !isAfter(seen, behind) || !isAfter(this.#from, behind)) return true;
    const until = Math.min(seen.mcSeqno, this.#from.mcSeqno);
    const first = behind?.mcSeqno ?? 1;
    if (until - first > BEHIND_MAX) return false;
    this.#endsFrom ??= until + 1;
    while (this.#endsFrom > first) {
      const changes = await past.changesOf(this.#endsFrom - 1, signal);
      signal.throwIfAborted();
      this.noteEnds(changes);
      this.#endsFrom--;
    }
    return true;
  }
}
