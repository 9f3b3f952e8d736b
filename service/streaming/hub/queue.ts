import type { Position } from '../changes.ts';
import type { RenderedEvent } from './render.ts';

/** Event that waits for its transport. */
export type QueuedEvent = RenderedEvent & {
  /** Names a snapshot that is not final: a newer one of the same name replaces it. Null for others. */
  readonly slot: string | null;
  /** Final position behind the event. */
  readonly position: Position | null;
};

/** Events of one connection that its transport has no room for, in order. */
export type EventQueue = {
  /** Writes the event, or lets it wait. Returns false if there is no room for it. */
  readonly push: (event: QueuedEvent) => boolean;
  /** Removes the waiting events of a slot. */
  readonly supersede: (slot: string) => void;
  /** Writes while the transport has room. */
  readonly drain: () => void;
  /** Writes all. */
  readonly flush: () => void;
  readonly clear: () => void;
  readonly size: () => number;
  readonly bytes: () => number;
};

export type EventQueueDependencies = {
  readonly write: (event: QueuedEvent) => void;
  readonly unsentBytes: () => number;
  /** Called with each change of the bytes. */
  readonly onBytes: (change: number) => void;
};

/** Waiting events of a connection. */
const EVENTS_MAX = 256;

/** Bytes of a connection that wait here and in its transport. */
const BYTES_MAX = 1024 * 1024;

/** Bytes that the transport may hold before events wait here. Events that wait can be replaced. */
const WINDOW_BYTES = 64 * 1024;

export function createEventQueue({ write, unsentBytes, onBytes }: EventQueueDependencies): EventQueue {
  /** A Set has the order of insertion, and removes from anywhere. */
  const waiting = new Set<QueuedEvent>();
  /** Allocated by the first event that waits: most connections never have one. */
  let bySlot: Map<string, QueuedEvent[]> | undefined;
  let bytes = 0;

  function add(event: QueuedEvent): void {
    waiting.add(event);
    bytes += event.bytes;
    if (event.slot !== null) {
      bySlot ??= new Map();
      bySlot.set(event.slot, [...(bySlot.get(event.slot) ?? []), event]);
    }
    // The call may clear the queue.
    onBytes(event.bytes);
  }

  function remove(event: QueuedEvent): void {
    if (!waiting.delete(event)) return;
    bytes -= event.bytes;
    onBytes(-event.bytes);
    if (event.slot === null) return;
    const rest = bySlot?.get(event.slot)?.filter((one) => one !== event) ?? [];
    if (rest.length === 0) bySlot?.delete(event.slot);
    else bySlot?.set(event.slot, rest);
  }

  function writeWhile(hasRoom: () => boolean): void {
    for (const event of waiting) {
      if (!hasRoom()) return;
      remove(event);
      write(event);
    }
  }

  return {
    push(event) {
      const unsent = unsentBytes();
      if (waiting.size === 0 && unsent < WINDOW_BYTES) {
        write(event);
        return true;
      }
      const isFull = waiting.size >= EVENTS_MAX || unsent + bytes + event.bytes > BYTES_MAX;
      // An empty queue takes one event of any size.
      if (isFull && waiting.size > 0) return false;
      add(event);
      return true;
    },
    supersede(slot) {
      for (const event of bySlot?.get(slot) ?? []) remove(event);
    },
    drain: () => writeWhile(() => unsentBytes() < WINDOW_BYTES),
    flush: () => writeWhile(() => true),
    clear() {
      onBytes(-bytes);
      bytes = 0;
      waiting.clear();
      bySlot = undefined;
    },
    size: () => waiting.size,
    bytes: () => bytes,
  };
}
