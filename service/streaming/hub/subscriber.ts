import type { Finality, Position, Sink, Subscription } from '../changes.ts';
import { isAfter, laterOf } from './positions.ts';
import { EventQueue, type QueueOutlet } from './queue.ts';
import type { RenderedEvent } from './render.ts';
import { TraceMemory } from './trace-memory.ts';
import { viewerOf, type Viewer } from './viewer.ts';

/** How an event is sent. */
export type Sending = {
  readonly type: string;
  readonly finality: Finality | 'none';
  /** Position of a final event; null for others. */
  readonly position: Position | null;
  readonly slot: string | null;
};

/** Parts of the hub that its connections share. */
export type SubscriberDependencies = {
  readonly nowMs: () => number;
  /** Final position behind all events that live connections were given. */
  readonly livePosition: () => Position | null;
  readonly cursorOf: (subscriber: Pick<Subscriber, 'number'>, position: Position | null) => string;
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

type Waiting = { readonly promise: Promise<void>; readonly resolve: () => void };

/** Close of a connection that does not take its events. */
const slowConsumer = { code: 1013, reason: 'slow consumer' } as const;

/** A replay pauses while more than this waits: new events need the rest of the queue. */
const REPLAY_QUEUE = { events: 64, bytes: 256 * 1024 } as const;

/** A connection: its subscription, and the events that are on their way to it. Thousands of connections share the methods of a class. */
export class Subscriber implements QueueOutlet {
  readonly keyId: string;
  readonly number: number;
  readonly queue: EventQueue = new EventQueue(this);
  readonly memory: TraceMemory;
  /** True while past events are read again for it. New final events wait for their turn then. */
  isReplaying = false;
  readonly #sink: Sink;
  readonly #dependencies: SubscriberDependencies;
  #viewer: Viewer | undefined;
  /** Final events up to here are behind the connection. */
  #floor: Position | null = null;
  #written: Position | null = null;
  #isOpen = true;
  #waiting: Waiting | undefined;

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
   * @param from events up to this position are behind the connection
   */
  begin(wish: Subscription, from: Position | null): void {
    this.queue.flush();
    this.#viewer = viewerOf(wish);
    this.#floor = from;
    this.#written = from;
  }

  /** Takes a smaller subscription of the same filters. */
  narrow(wish: Subscription): void {
    if (this.#viewer !== undefined) this.#viewer = { ...this.#viewer, wish };
  }

  /** Final position behind all events that the connection was given. */
  progress(): Position | null {
    return this.isReplaying ? this.#floor : laterOf(this.#dependencies.livePosition(), this.#floor);
  }

  /** All final events up to a position were given. */
  pass(position: Position | null): void {
    this.#floor = laterOf(position, this.#floor);
  }

  /** Reports whether the connection has all events up to a position. */
  isPast(position: Position): boolean {
    return !isAfter(position, this.#floor);
  }

  send(event: RenderedEvent, sending: Sending): void {
    const { position, slot } = sending;
    if (!this.#isOpen) return;
    this.#floor = laterOf(position, this.#floor);
    this.#dependencies.onSent(sending);
    const at = position === null ? { slot, position: this.progress() } : sending;
    if (!this.queue.push(event, at)) this.endSlow();
  }

  /** Gives an event to the transport. The queue alone calls it. */
  write(event: RenderedEvent, position: Position | null): void {
    this.#written = laterOf(position, this.#written);
    this.#sink.event(event, this.#dependencies.cursorOf(this, this.#written));
  }

  unsentBytes(): number {
    return this.#sink.unsentBytes();
  }

  onBytes(change: number): void {
    this.#dependencies.onQueueBytes(change);
  }

  onTrace(key: string, isKnown: boolean): void {
    this.#dependencies.onTrace(key, this, isKnown);
  }

  /** Final position behind the newest written event. */
  written(): Position | null {
    return this.queue.size() === 0 ? laterOf(this.progress(), this.#written) : this.#written;
  }

  isOpen(): boolean {
    return this.#isOpen;
  }

  /** Resolves when the queue has room for a replay, or the connection ends. */
  async room(): Promise<void> {
    while (this.isOpen() && !this.#hasRoom()) {
      this.#waiting ??= Promise.withResolvers<void>();
      await this.#waiting.promise;
    }
  }

  drain(): void {
    this.queue.drain();
    if (!this.#hasRoom()) return;
    this.#waiting?.resolve();
    this.#waiting = undefined;
  }

  /** Ends the connection: it cannot take its events. */
  endSlow(): void {
    if (!this.#isOpen) return;
    this.#dependencies.onSlow();
    this.end(slowConsumer.code, slowConsumer.reason);
  }

  end(code: number, reason: string): void {
    if (!this.#isOpen) return;
    const cursor = this.#dependencies.cursorOf(this, this.written());
    this.close();
    this.#sink.end(code, reason, cursor);
  }

  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.queue.clear();
    this.memory.clear();
    this.#waiting?.resolve();
    this.#dependencies.onClose(this);
  }

  #hasRoom(): boolean {
    return this.queue.size() <= REPLAY_QUEUE.events && this.queue.bytes() <= REPLAY_QUEUE.bytes;
  }
}
