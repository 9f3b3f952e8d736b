import { refusal, serverCode } from './errors.ts';
import type { StartTimer } from './head.ts';

/** Longest wait of a node, whatever the request says. */
const WAIT_MAX_MS = 10_000;

/** A block further than this above the tip is refused at once. */
const AHEAD_MAX = 100;

/** Most concurrent waits. Further waits are refused, like a node without time. */
const WAITS_MAX = 10_000;

/** Waits of `waitMasterchainSeqno` (service/liteserver/README.md#waiting-for-a-block). */
export type BlockWaiters = {
  /**
   * Resolves when the tip has reached the seqno; at once if it has.
   * @throws DevchainError `query_refused`: 652 after the time, 651 when the block is too far ahead
   */
  until(seqno: number, timeoutMs: number, signal: AbortSignal): Promise<void>;
  /** To be called when the tip may have moved. */
  check(): void;
  /** Ends all waits as if their time were over. */
  close(): void;
};

export function createBlockWaiters(tip: () => number, dependencies: { readonly startTimer: StartTimer }): BlockWaiters {
  const waits = new Set<{ readonly seqno: number; settle(): void }>();

  function enqueue(seqno: number, timeoutMs: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const settle = (): void => {
        cancelTimer();
        signal.removeEventListener('abort', settle);
        waits.delete(wait);
        if (tip() >= seqno) resolve();
        else reject(refusal(serverCode.timeout, 'timeout'));
      };
      const wait = { seqno, settle };
      const cancelTimer = dependencies.startTimer(settle, Math.min(timeoutMs, WAIT_MAX_MS));
      signal.addEventListener('abort', settle);
      waits.add(wait);
    });
  }

  return {
    async until(seqno, timeoutMs, signal) {
      if (seqno <= tip()) return;
      if (timeoutMs <= 0 || signal.aborted) throw refusal(serverCode.timeout, 'timeout');
      if (seqno > tip() + AHEAD_MAX) throw refusal(serverCode.notReady, 'too big masterchain block seqno');
      if (waits.size >= WAITS_MAX) throw refusal(serverCode.deadline, 'timeout');
      await enqueue(seqno, timeoutMs, signal);
    },
    check() {
      for (const wait of waits) if (wait.seqno <= tip()) wait.settle();
    },
    close() {
      for (const wait of waits) wait.settle();
    },
  };
}
