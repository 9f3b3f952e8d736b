import type { Position, Subscription } from '../changes.ts';
import type { Distribution, Given } from './distribution.ts';
import { isUpTo, lastWhole } from './positions.ts';
import type { LevelRecord, LevelsLog } from './levels-log.ts';
import type { Subscriber } from './subscriber.ts';

export type LevelsReplayDependencies = {
  readonly levels: LevelsLog;
  readonly distribution: Pick<Distribution, 'replay'>;
};

/**
 * Gives one connection the log of levels again. Records that the connection has behind it send nothing: they restore the memory of what it was
 * shown.
 */
export class LevelsReplay {
  readonly #subscriber: Subscriber;
  readonly #wish: Subscription;
  readonly #traces: Set<string>;
  readonly #dependencies: LevelsReplayDependencies;
  /** Records that follow, and the newest record that was looked at. */
  #next: LevelRecord[] = [];
  #seen: number;
  /** Records up to here need not be there. */
  readonly #spared: number;
  /** Final changes up to here are behind the connection. */
  readonly #from: Position | null;

  constructor(subscriber: Subscriber, wish: Subscription, dependencies: LevelsReplayDependencies) {
    this.#subscriber = subscriber;
    this.#wish = wish;
    this.#dependencies = dependencies;
    this.#traces = new Set(wish.traces);
    this.#from = subscriber.progress();
    this.#seen = lastWhole(subscriber.since ?? 0);
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
      await this.#dependencies.distribution.replay(givenOf(record), this.#subscriber, signal);
      signal.throwIfAborted();
      this.#next.pop();
    }
  }

  #peek(): LevelRecord | undefined {
    const { levels } = this.#dependencies;
    const newest = levels.newest();
    if (this.#next.length === 0 && this.#seen < newest) {
      // The caller took so long that records are gone. Its cursor says so.
      if (levels.dropped() > Math.max(this.#seen, this.#spared)) this.#subscriber.endSlow();
      const watched = { accounts: this.#wish.accounts, traces: this.#traces };
      const found = levels.concerning(watched, this.#seen).toReversed();
      this.#next = found.filter((record) => !this.#isOver(record));
      this.#seen = newest;
      for (const { change } of this.#next) if (change.kind === 'trace') this.#traces.add(change.key);
    }
    return this.#next.at(-1);
  }

  /** Reports whether the connection has a record behind it, and the end of its trace too: the memory does not need it. */
  #isOver({ number, change }: LevelRecord): boolean {
    if (number > this.#spared || (change.kind !== 'trace' && change.kind !== 'invalidation')) return false;
    const end = this.#dependencies.levels.endOf(change.key);
    return end !== undefined && this.#from !== null && isUpTo(end, this.#from);
  }
}

/** A final part of a trace goes by its position. */
function givenOf({ number, change }: LevelRecord): Given {
  const isFinal = change.kind !== 'invalidation' && change.position !== null;
  return { change, record: isFinal ? null : number };
}
