import type { Bill } from '../tvm/bill.ts';
import { createFairQueue } from '../tvm/fair-queue.ts';
import { busy } from './request/errors.ts';

/** Slots that payers share by the rules of the virtual machine's threads (service/tvm/README.md#rules). */
export type FairSlots = {
  /** Slots in use. */
  readonly taken: number;
  /** Work that waits for a slot. */
  readonly waiting: number;
  /**
   * Takes a slot for work. Rejects with the reason of a signal that aborts before, and with EmulateError `emulation_busy` when the slot comes too
   * late for usual work.
   * @returns frees the slot
   */
  take(terms: SlotTerms): Promise<() => void>;
};

/** Request that work belongs to. */
export type SlotTerms = {
  readonly bill: Bill;
  /** End of the request, in milliseconds of the slots' clock. */
  readonly deadlineMs: number;
  readonly signal: AbortSignal;
};

/** Part of the usual length that the last work decides: the usual length follows some ten works. */
const LAST_WEIGHT = 0.1;

/**
 * Creates the slots. Payers with long runs leave a slot free, so that another payer does not wait for their ends.
 * A payer that has not ended a run has half of the slots.
 * The queue has no bound of its own: every caller has a bounded number of requests in progress.
 * @param max slots, at least 2
 * @param now milliseconds of a clock that never goes back
 */
export function createFairSlots(max: number, now: () => number): FairSlots {
  const queue = createFairQueue<Waiting>({ lengthMax: Infinity, threads: max, firstRunsMax: Math.floor(max / 2) }, now);
  let taken = 0;
  /** Milliseconds that work usually has its slot; 0 before the first end. */
  let usualMs = 0;

  /** Fills the free slots. Work that waits beside a free slot waits for a run of its payer or of another long payer. */
  function admit(): void {
    while (taken < max) {
      const run = queue.start();
      if (run === undefined) return;
      const { entry } = run;
      const startedMs = now();
      if (isTooLate(entry, usualMs, startedMs)) {
        run.end(0);
        entry.refuse();
        continue;
      }
      taken++;
      entry.enter(() => {
        taken--;
        const tookMs = now() - startedMs;
        usualMs = usualMs === 0 ? tookMs : usualMs + LAST_WEIGHT * (tookMs - usualMs);
        run.end(tookMs);
        admit();
      });
    }
  }

  return {
    get taken() {
      return taken;
    },
    get waiting() {
      return queue.length;
    },
    take({ bill, deadlineMs, signal }) {
      signal.throwIfAborted();
      const { promise, resolve, reject } = Promise.withResolvers<() => void>();
      const leave = (): void => {
        queue.remove(bill, entry);
        reject(signal.reason as Error);
      };
      const entry: Waiting = {
        sinceMs: now(),
        deadlineMs,
        enter(free) {
          signal.removeEventListener('abort', leave);
          resolve(free);
        },
        refuse() {
          signal.removeEventListener('abort', leave);
          reject(busy());
        },
      };
      signal.addEventListener('abort', leave, { once: true });
      queue.push(bill, entry);
      admit();
      return promise;
    },
  };
}

type Waiting = {
  readonly sinceMs: number;
  readonly deadlineMs: number;
  /** @param free ends the use of the slot */
  readonly enter: (free: () => void) => void;
  readonly refuse: () => void;
};

/**
 * Reports whether work can hardly end in time. Such work would delay the next in line, until no work ends in time.
 * Work that has waited for less time than it has left always begins, however long usual work is.
 */
function isTooLate({ sinceMs, deadlineMs }: Waiting, usualMs: number, nowMs: number): boolean {
  return deadlineMs - nowMs < Math.min(usualMs, nowMs - sinceMs);
}
