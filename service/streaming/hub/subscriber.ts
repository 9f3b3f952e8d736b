import type { Finality, Position, Sink, Subscription } from '../changes.ts';
import { isAfter, laterOf } from './positions.ts';
import { createEventQueue, type EventQueue } from './queue.ts';
import type { RenderedEvent, Viewer } from './render.ts';
import { filterNameOf } from './render.ts';
import { createTraceMemory, type TraceMemory } from './trace-memory.ts';

/** How an event is sent. */
export type Sending = {
  readonly type: string;
  readonly finality: Finality | 'none';
  /** Position of a final event; null for others. */
  readonly position: Position | null;
  readonly slot: string | null;
};

/** A connection: its subscription, and the events that are on their way to it. */
export type Subscriber = {
  readonly keyId: string;
  /** Number of the connection in cursors. */
  readonly number: number;
  readonly queue: EventQueue;
  readonly memory: TraceMemory;
  /** Current subscription; undefined before the first. */
  readonly viewer: () => Viewer | undefined;
  /**
   * Begins a subscription. Waiting events of the former one are written first.
   * @param from events up to this position are behind the connection
   */
  readonly begin: (wish: Subscription, from: Position | null) => void;
  /** Takes a smaller subscription of the same filters. */
  readonly narrow: (wish: Subscription) => void;
  /** Final position behind all events that the connection was given. */
  readonly progress: () => Position | null;
  /** All final events up to a position were given. */
  readonly pass: (position: Position | null) => void;
  /** True while past events are read again for it. New final events wait for their turn then. */
  isReplaying: boolean;
  /** Reports whether the connection has all events up to a position. */
  readonly isPast: (position: Position) => boolean;
  readonly send: (event: RenderedEvent, sending: Sending) => void;
  /** Final position behind the newest written event. */
  readonly written: () => Position | null;
  readonly isOpen: () => boolean;
  /** Resolves when the queue has room for a replay, or the connection ends. */
  readonly room: () => Promise<void>;
  readonly drain: () => void;
  /** Ends the connection: it cannot take its events. */
  readonly endSlow: () => void;
  readonly end: (code: number, reason: string) => void;
  readonly close: () => void;
};

export type SubscriberDependencies = {
  readonly nowMs: () => number;
  /** Final position behind all events that live connections were given. */
  readonly livePosition: () => Position | null;
  readonly cursorAt: (position: Position | null) => string;
  readonly onQueueBytes: (change: number) => void;
  readonly onSent: (sending: Sending) => void;
  readonly onSlow: () => void;
  /** The connection remembers a trace, or forgets it. */
  readonly onTrace: (key: string, subscriber: Subscriber, isKnown: boolean) => void;
  readonly onClose: (subscriber: Subscriber) => void;
};

/** Close of a connection that does not take its events. */
const slowConsumer = { code: 1013, reason: 'slow consumer' } as const;

/** A replay pauses while more than this waits: new events need the rest of the queue. */
const REPLAY_QUEUE = { events: 64, bytes: 256 * 1024 } as const;

export function createSubscriber(
  { keyId, number, sink }: { readonly keyId: string; readonly number: number; readonly sink: Sink },
  dependencies: SubscriberDependencies,
): Subscriber {
  const { nowMs, livePosition, cursorAt, onQueueBytes, onSent, onSlow, onTrace, onClose } = dependencies;
  let viewer: Viewer | undefined;
  /** Final events up to here are behind the connection. */
  let floor: Position | null = null;
  let written: Position | null = null;
  let isOpen = true;
  let waiting: { readonly promise: Promise<void>; readonly resolve: () => void } | undefined;

  const queue = createEventQueue({
    write(event) {
      written = laterOf(event.position, written);
      sink.event(event, cursorAt(written));
    },
    unsentBytes: sink.unsentBytes,
    onBytes: onQueueBytes,
  });
  const memory = createTraceMemory({
    nowMs,
    onAdd: (key) => onTrace(key, subscriber, true),
    onDrop: (key) => onTrace(key, subscriber, false),
  });

  const hasRoom = (): boolean => queue.size() <= REPLAY_QUEUE.events && queue.bytes() <= REPLAY_QUEUE.bytes;

  function progress(): Position | null {
    return subscriber.isReplaying ? floor : laterOf(livePosition(), floor);
  }

  function close(): void {
    if (!isOpen) return;
    isOpen = false;
    queue.clear();
    memory.clear();
    waiting?.resolve();
    onClose(subscriber);
  }

  function end(code: number, reason: string): void {
    if (!isOpen) return;
    const cursor = cursorAt(subscriber.written());
    close();
    sink.end(code, reason, cursor);
  }

  const subscriber: Subscriber = {
    keyId,
    number,
    queue,
    memory,
    isReplaying: false,
    viewer: () => viewer,
    begin(wish, from) {
      queue.flush();
      viewer = { wish, filterName: filterNameOf(wish) };
      floor = from;
      written = from;
    },
    narrow(wish) {
      if (viewer !== undefined) viewer = { ...viewer, wish };
    },
    progress,
    pass(position) {
      floor = laterOf(position, floor);
    },
    isPast: (position) => !isAfter(position, floor),
    send(event, sending) {
      const { position, slot } = sending;
      if (!isOpen) return;
      floor = laterOf(position, floor);
      onSent(sending);
      if (!queue.push({ ...event, slot, position: position ?? progress() })) subscriber.endSlow();
    },
    written: () => (queue.size() === 0 ? laterOf(progress(), written) : written),
    isOpen: () => isOpen,
    async room() {
      while (subscriber.isOpen() && !hasRoom()) {
        waiting ??= Promise.withResolvers<void>();
        await waiting.promise;
      }
    },
    drain() {
      queue.drain();
      if (!hasRoom()) return;
      waiting?.resolve();
      waiting = undefined;
    },
    endSlow() {
      if (!isOpen) return;
      onSlow();
      end(slowConsumer.code, slowConsumer.reason);
    },
    end,
    close,
  };
  return subscriber;
}
