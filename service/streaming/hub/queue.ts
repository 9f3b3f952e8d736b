import type { StreamSettings } from '#service/config/streaming.ts';
import type { Position } from '../changes.ts';
import type { RenderedEvent } from './render.ts';

/** Place of an event among those of its connection. */
export type QueuedAt = {
  /** Names a snapshot that is not final: a newer one of the same name replaces it. Null for others. */
  readonly slot: string | null;
  /** Final position behind the event. */
  readonly position: Position | null;
  /** Mark behind the event in the log of levels. */
  readonly mark: number;
  /** Block or record of the event; null for an event of neither. */
  readonly batch: number | null;
};

/** Event that waits for its transport. */
type QueuedEvent = { readonly event: RenderedEvent; readonly at: QueuedAt };

/** End of a queue. */
export type QueueOutlet = {
  /** Most waiting events, and bytes that wait here and in the transport. */
  readonly queueBounds: () => Pick<StreamSettings['queue'], 'eventsPerConnection' | 'bytesPerConnection'>;
  readonly write: (event: RenderedEvent, at: QueuedAt) => void;
  readonly unsentBytes: () => number;
  /** Called with each change of the bytes that wait. It may clear the queue. */
  readonly onBytes: (change: number) => void;
};

/** Bytes that the transport may hold before events wait here. Events that wait can be replaced. */
export const WINDOW_BYTES = 64 * 1024;

/** Events of one connection that its transport has no room for, in order. Thousands of connections share the methods of a class. */
export class EventQueue {
  readonly #outlet: QueueOutlet;
  // Both are allocated by the first event that waits: most connections never have one.
  /** A Set has the order of insertion, and removes from anywhere. */
  #waiting: Set<QueuedEvent> | undefined;
  #bySlot: Map<string, QueuedEvent[]> | undefined;
  #bytes = 0;
  /** Batch of the newest event that waits. */
  #batch: number | null = null;

  constructor(outlet: QueueOutlet) {
    this.#outlet = outlet;
  }

  /** Writes the event, or lets it wait. Returns false if there is no room for it. */
  push(event: RenderedEvent, at: QueuedAt): boolean {
    const unsent = this.#outlet.unsentBytes();
    const count = this.size();
    if (count === 0 && unsent < WINDOW_BYTES) {
      this.#outlet.write(event, at);
      return true;
    }
    const { eventsPerConnection, bytesPerConnection } = this.#outlet.queueBounds();
    const isFull = count >= eventsPerConnection || unsent + this.#bytes + event.bytes > bytesPerConnection;
    // An empty queue takes one event of any size. The events of a block come at once, so the bound counts what waits before the next block.
    const isBegun = at.batch !== null && at.batch === this.#batch;
    if (isFull && count > 0 && !isBegun) return false;
    this.#add({ event, at });
    return true;
  }

  /** Removes the waiting events of a slot. */
  supersede(slot: string): void {
    for (const queued of this.#bySlot?.get(slot) ?? none) this.#remove(queued);
  }

  /** Writes while the transport has room. */
  drain(): void {
    this.#writeWhile(() => this.#outlet.unsentBytes() < WINDOW_BYTES);
  }

  /** Writes all. */
  flush(): void {
    this.#writeWhile(() => true);
  }

  clear(): void {
    this.#outlet.onBytes(-this.#bytes);
    this.#bytes = 0;
    this.#waiting?.clear();
    this.#bySlot = undefined;
  }

  size(): number {
    return this.#waiting?.size ?? 0;
  }

  bytes(): number {
    return this.#bytes;
  }

  #add(queued: QueuedEvent): void {
    const {
      event: { bytes },
      at: { slot },
    } = queued;
    this.#waiting ??= new Set();
    this.#waiting.add(queued);
    this.#batch = queued.at.batch;
    this.#bytes += bytes;
    if (slot !== null) {
      this.#bySlot ??= new Map();
      this.#bySlot.set(slot, [...(this.#bySlot.get(slot) ?? none), queued]);
    }
    this.#outlet.onBytes(bytes);
  }

  #remove(queued: QueuedEvent): void {
    const {
      event: { bytes },
      at: { slot },
    } = queued;
    if (this.#waiting?.delete(queued) !== true) return;
    this.#bytes -= bytes;
    this.#outlet.onBytes(-bytes);
    if (slot === null) return;
    const rest = this.#bySlot?.get(slot)?.filter((one) => one !== queued) ?? none;
    if (rest.length === 0) this.#bySlot?.delete(slot);
    else this.#bySlot?.set(slot, [...rest]);
  }

  #writeWhile(hasRoom: () => boolean): void {
    for (const queued of this.#waiting ?? none) {
      if (!hasRoom()) return;
      this.#remove(queued);
      this.#outlet.write(queued.event, queued.at);
    }
  }
}

const none: readonly never[] = [];
