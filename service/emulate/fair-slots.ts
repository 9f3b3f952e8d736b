import type { Bill } from '../tvm/bill.ts';
import { createFairQueue } from '../tvm/fair-queue.ts';

/** Slots that payers share by the rules of the virtual machine's threads (service/tvm/README.md#rules). */
export type FairSlots = {
  /** Slots in use. */
  readonly taken: number;
  /** Work that waits for a slot. */
  readonly waiting: number;
  /** Runs the work in a slot. Rejects as the work does, and with the reason of a signal that aborts before the work begins. */
  run<T>(bill: Bill, signal: AbortSignal, work: () => Promise<T>): Promise<T>;
};

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

  /** Fills the free slots. Work that waits beside a free slot waits for a run of its payer or of another long payer. */
  function admit(): void {
    while (taken < max) {
      const run = queue.start();
      if (run === undefined) return;
      taken++;
      const startedMs = now();
      run.entry.enter(() => {
        taken--;
        run.end(now() - startedMs);
        admit();
      });
    }
  }

  function acquire(bill: Bill, signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<() => void>();
    const leave = (): void => {
      queue.remove(bill, entry);
      reject(signal.reason as Error);
    };
    const entry: Waiting = {
      enter(free) {
        signal.removeEventListener('abort', leave);
        resolve(free);
      },
    };
    signal.addEventListener('abort', leave, { once: true });
    queue.push(bill, entry);
    admit();
    return promise;
  }

  return {
    get taken() {
      return taken;
    },
    get waiting() {
      return queue.length;
    },
    async run(bill, signal, work) {
      const free = await acquire(bill, signal);
      try {
        return await work();
      } finally {
        free();
      }
    },
  };
}

/** @param free ends the use of the slot */
type Waiting = { readonly enter: (free: () => void) => void };
