import type { StreamSettings } from '#service/config/streaming.ts';
import type { Finality, Position, Sink, Subscription } from '../changes.ts';
import { closings } from '../closing.ts';
import type { LevelsLog } from './levels-log.ts';
import { batchOf, isAfter, laterOf } from './positions.ts';
import { EventQueue, WINDOW_BYTES, type QueuedAt, type QueueOutlet } from './queue.ts';
import type { RenderedEvent } from './render.ts';
import { TraceMemory } from './trace-memory.ts';
import { viewerOf, type Viewer } from './viewer.ts';

/** How an event is sent. */
export type Sending = {
  readonly type: string;
  readonly finality: Finality | 'none';
  /** Position of a final event; null for others. */
  readonly position: Position | null;
  /** Mark of an event from the log of levels; null for others. */
  readonly mark: number | null;
  readonly slot: string | null;
};

/** Events that a connection has behind it: final ones up to a position, others up to a mark of the log of levels. */
export type Place = Pick<QueuedAt, 'position' | 'mark'>;

/** Parts of the hub that its connections share. */
export type SubscriberDependencies = {
  readonly nowMs: () => number;
  readonly settings: () => Pick<StreamSettings, 'queue'>;
  /** Final position behind all events that live connections were given. */
  readonly livePosition: () => Position | null;
  readonly levels: Pick<LevelsLog, 'mark'>;
  readonly cursorOf: (subscriber: Subscriber, place: Place) => string;
  readonly onQueueBytes: (change: number) => void;
  readonly onSent: (sending: Sending) => void;
  readonly onSlow: () => void;
  /** The connection remembers a trace, or forgets it. */
  readonly onTrace: (key: string, subscriber: Subscriber, isKnown: boolean) => void;
  readonly onClose: (subscriber: Subscriber) => void;
};

type Identity = {
  readonly keyId: string;
  /** Number of the connection in cursors. */
  readonly number: number;
  readonly sink: Sink;
};

const gone: Sink = { unsentBytes: () => 0, event: () => undefined, end: () => undefined };

type Waiting = { readonly promise: Promise<void>; readonly resolve: () => void };

/** A connection: its subscription, and the events that are on their way to it. Thousands of connections share the methods of a class. */
export class Subscriber implements QueueOutlet {
  readonly keyId: string;
  readonly number: number;
  readonly queue: EventQueue = new EventQueue(this);
  readonly memory: TraceMemory;
  /** True while past events are read again for it. New final events wait for their turn then. */
  isReplaying = false;
  /** True while the log of levels is read again for it. New records wait for their turn then. */
  isReplayingLevels = false;
  /** Mark from which on it may have been shown snapshots; undefined before the first subscription. */
  since: number | undefined;
  /** Level from which on it was shown snapshots up to the cursor of its resume. */
  shownFrom: Finality | undefined;
  /** Mark at which the current subscription began. Accounts and traces of it were not watched before. */
  begun = 0;
  /** Subscription that begins soon, and is watched already. */
  upcoming: Subscription | undefined;
  #sink: Sink;
  readonly #dependencies: SubscriberDependencies;
  #viewer: Viewer | undefined;
  /** Final events up to here are behind the connection. */
  #floor: Position | null = null;
  /** Events of the log of levels up to here are behind the connection. */
  #mark = 0;
  #written: Position | null = null;
  #writtenMark = 0;
  #state: 'open' | 'absent' | 'closed' = 'open';
  #waiting: Waiting | undefined;
  /** Bytes of a replay in the transport. No other connection shares them, so they count with those that wait. */
  #replayedBytes = 0;

  constructor({ keyId, number, sink }: Identity, dependencies: SubscriberDependencies) {
    this.keyId = keyId;
    this.number = number;
    this.#sink = sink;
    this.#dependencies = dependencies;
    this.memory = new TraceMemory(this);
  }

  nowMs(): number {
    return this.#dependencies.nowMs();
  }

  /** Current subscription; undefined before the first. */
  viewer(): Viewer | undefined {
    return this.#viewer;
  }

  /**
   * Begins a subscription. Waiting events of the former one are written first.
   * @param from events up to this place are behind the connection
   */
  begin(wish: Subscription, { position, mark }: Place): void {
    this.queue.flush();
    this.#viewer = viewerOf(wish);
    this.#floor = position;
    this.#written = position;
    this.#mark = mark;
    this.#writtenMark = mark;
    this.since ??= mark;
    this.begun = mark;
    this.upcoming = undefined;
  }

  /** Writes the waiting events. Their cursors are of a log of levels that the hub leaves. */
  leaveLevels(): void {
    if (this.isReplayingLevels) this.endSlow();
    else this.queue.flush();
  }

  /** Goes on in another log of levels. */
  enterLevels(mark: number): void {
    this.#mark = mark;
    this.#writtenMark = mark;
    if (this.since === undefined) return;
    this.since = mark;
    this.begun = mark;
  }

  /** It was shown a snapshot whose record is before its first subscription. */
  recall(mark: number): void {
    this.since = Math.min(this.since ?? mark, mark);
  }

  /** Takes a smaller subscription of the same filters. */
  narrow(wish: Subscription): void {
    if (this.#viewer !== undefined) this.#viewer = { ...this.#viewer, wish };
  }

  /** Final position behind all events that the connection was given. */
  progress(): Position | null {
    return this.isReplaying ? this.#floor : laterOf(this.#dependencies.livePosition(), this.#floor);
  }

  /** Mark behind all events of the log of levels that the connection was given. */
  progressMark(): number {
    return this.isReplayingLevels ? this.#mark : Math.max(this.#dependencies.levels.mark(), this.#mark);
  }

  /** All final events up to a position were given. */
  pass(position: Position | null): void {
    this.#floor = laterOf(position, this.#floor);
  }

  /** Reports whether the connection has an event behind it. */
  isPast({ position, mark }: Pick<Sending, 'position' | 'mark'>): boolean {
    return position === null ? mark !== null && mark <= this.#mark : !isAfter(position, this.#floor);
  }

  send(event: RenderedEvent, sending: Sending): void {
    const { position, mark, slot } = sending;
    if (!this.isOpen()) return;
    this.#floor = laterOf(position, this.#floor);
    if (mark !== null) this.#mark = Math.max(mark, this.#mark);
    this.#dependencies.onSent(sending);
    const batch = batchOf(position, mark);
    const at = { slot, position: position ?? this.progress(), mark: mark ?? this.progressMark(), batch };
    if (!this.queue.push(event, at)) this.endSlow();
  }

  /** Gives an event to the transport. The queue alone calls it. */
  write(event: RenderedEvent, { position, mark }: Place): void {
    this.#written = laterOf(position, this.#written);
    this.#writtenMark = Math.max(mark, this.#writtenMark);
    this.#sink.event(event, this.#dependencies.cursorOf(this, { position: this.#written, mark: this.#writtenMark }));
    // This may end the connection: its last cursor is behind the event.
    if (this.isReplaying || this.isReplayingLevels) this.#countReplayed(event.bytes);
  }

  queueBounds(): StreamSettings['queue'] {
    return this.#dependencies.settings().queue;
  }

  unsentBytes(): number {
    return this.#sink.unsentBytes();
  }

  /** Bytes that are stored for it alone, or wait. */
  bytes(): number {
    return this.queue.bytes() + this.#replayedBytes;
  }

  onBytes(change: number): void {
    this.#dependencies.onQueueBytes(change);
  }

  onTrace(key: string, isKnown: boolean): void {
    this.#dependencies.onTrace(key, this, isKnown);
  }

  /** Place behind the newest written event. */
  written(): Place {
    const [position, mark] = [this.#written, this.#writtenMark];
    if (this.queue.size() > 0) return { position, mark };
    return { position: laterOf(this.progress(), position), mark: Math.max(this.progressMark(), mark) };
  }

  isOpen(): boolean {
    return this.#state === 'open';
  }

  /** Reports whether changes concern the connection: it is open, or cut and absent (absent-connections.ts). */
  isWatching(): boolean {
    return this.#state !== 'closed';
  }

  /** Resolves when the transport takes the next event of a replay, or the connection ends. */
  async room(): Promise<void> {
    while (this.isOpen() && !this.#hasRoom()) {
      this.#waiting ??= Promise.withResolvers<void>();
      await this.#waiting.promise;
    }
  }

  /** The transport has sent all that it was given. */
  drain(): void {
    this.#countReplayed(-this.#replayedBytes);
    this.queue.drain();
    if (!this.#hasRoom()) return;
    this.#waiting?.resolve();
    this.#waiting = undefined;
  }

  /** Ends the connection: it cannot take its events. */
  endSlow(): void {
    if (!this.isOpen()) return;
    this.#dependencies.onSlow();
    this.end(closings.slowConsumer.code, closings.slowConsumer.reason);
  }

  end(code: number, reason: string): void {
    if (!this.isOpen()) return;
    const cursor = this.#dependencies.cursorOf(this, this.written());
    const sink = this.#sink;
    this.close();
    sink.end(code, reason, cursor);
  }

  /** The transport is gone. The connection is absent until it is forgotten. */
  close(): void {
    if (!this.isOpen()) return;
    this.#state = 'absent';
    // An absent connection holds no memory of its transport.
    this.#sink = gone;
    this.isReplaying = false;
    this.isReplayingLevels = false;
    this.queue.clear();
    this.#countReplayed(-this.#replayedBytes);
    this.#waiting?.resolve();
    this.#dependencies.onClose(this);
  }

  forget(): void {
    this.#state = 'closed';
    this.memory.clear();
  }

  #hasRoom(): boolean {
    return this.queue.size() === 0 && this.unsentBytes() < WINDOW_BYTES;
  }

  #countReplayed(change: number): void {
    this.#replayedBytes += change;
    this.onBytes(change);
  }
}
