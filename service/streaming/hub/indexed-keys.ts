import { createTimeSlice } from '#service/runtime/time-slice.ts';
import type { Subscription } from '../changes.ts';
import type { Watchers } from './distribution.ts';
import type { Subscriber } from './subscriber.ts';

/** Keys between two looks at the clock, which takes as long as a key. */
const PORTION = 64;

const kinds = ['accounts', 'traces'] as const;

/** A subscription whose keys are in the index, or some of them. */
type Indexed = { readonly wish: Subscription; isWhole: boolean };

/** Keys of one connection in the index of subscriptions. A subscription ignores keys that it does not have, so extra keys do no harm. */
export class IndexedKeys {
  readonly #subscriber: Subscriber;
  readonly #watchers: Watchers;
  /** The newest last. Two or three: the subscriptions themselves have the keys. */
  #indexed: readonly Indexed[] = [];
  /** The newest subscription that was added, unless it was given up. */
  #next: Subscription | undefined;
  #isOver = false;

  constructor(subscriber: Subscriber, watchers: Watchers) {
    this.#subscriber = subscriber;
    this.#watchers = watchers;
  }

  /** Adds the keys of a subscription that is going to begin. */
  async add(wish: Subscription, signal: AbortSignal): Promise<void> {
    this.#next = wish;
    const last = this.#indexed.at(-1);
    if (last?.wish === wish && last.isWhole) return;
    const one: Indexed = { wish, isWhole: false };
    this.#indexed = [...this.#indexed, one];
    const slice = createTimeSlice(signal);
    let count = 0;
    for (const kind of kinds) {
      for (const key of wish[kind]) {
        const rest = ++count % PORTION === 0 ? slice.pause() : undefined;
        if (rest !== undefined) await rest;
        // The connection may have ended during the rest.
        if (this.#isOver) return;
        this.#watchers[kind].add(key, this.#subscriber);
      }
    }
    one.isWhole = true;
  }

  /** Removes keys that neither the begun subscription nor the next one has. */
  async settle(signal: AbortSignal): Promise<void> {
    const slice = createTimeSlice(signal);
    let count = 0;
    const former = this.#indexed.filter((one) => one.isWhole && !this.#wanted().includes(one.wish));
    for (const one of former) {
      for (const kind of kinds) {
        let wanted = this.#wanted();
        for (const key of one.wish[kind]) {
          const rest = ++count % PORTION === 0 ? slice.pause() : undefined;
          if (rest !== undefined) {
            await rest;
            // A later subscription may have come during the rest.
            wanted = this.#wanted();
          }
          if (!wanted.some((wish) => wish[kind].has(key))) this.#watchers[kind].remove(key, this.#subscriber);
        }
      }
      this.#indexed = this.#indexed.filter((other) => other !== one);
    }
  }

  /** The begun subscription and the next one. */
  #wanted(): readonly Subscription[] {
    return [this.#subscriber.viewer()?.wish, this.#next].filter((wish) => wish !== undefined);
  }

  /** Removes the keys of a subscription that does not begin. */
  async giveUp(wish: Subscription, signal: AbortSignal): Promise<void> {
    if (this.#next === wish) this.#next = undefined;
    await this.settle(signal);
  }

  /** The begun subscription becomes a smaller one. */
  narrow(from: Subscription, to: Subscription): void {
    for (const kind of kinds) {
      for (const key of from[kind]) if (!to[kind].has(key)) this.#watchers[kind].remove(key, this.#subscriber);
    }
    if (this.#next === from) this.#next = to;
    this.#indexed = this.#indexed.map((one) => (one.wish === from ? { wish: to, isWhole: true } : one));
  }

  /** Removes all keys. None is added later. */
  clear(): void {
    this.#isOver = true;
    for (const { wish } of this.#indexed) {
      for (const kind of kinds) for (const key of wish[kind]) this.#watchers[kind].remove(key, this.#subscriber);
    }
    this.#indexed = [];
  }
}
