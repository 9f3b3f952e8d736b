import { pause } from '#service/runtime/retry.ts';

/** News of classified blocks, for a loop that also looks by itself. */
export type Wake = {
  /** Takes news, and ends the wait of `rest`. */
  readonly announce: (mcSeqnos: readonly number[]) => void;
  /** Waits until the next look for the block after `newest`. Rejects with the signal's reason. */
  readonly rest: (newest: number | null, signal: AbortSignal) => Promise<void>;
  /** Moment of the news of a block; undefined for a block without news. */
  readonly announcedAt: (mcSeqno: number) => number | undefined;
};

/** Milliseconds between two looks while the news come. */
const HEARD_POLL_MS = 1_000;

/** A replica has an announced block some milliseconds later than the primary. */
const SOON = { everyMs: 10, forMs: 200 } as const;

/** News of blocks that are not given yet: some minutes of a fast network. */
const BLOCKS_MAX = 1_024;

/**
 * @param pollMs milliseconds between two looks while no news come
 * @param clock milliseconds, ascending
 */
export function createWake(pollMs: number, clock: () => number): Wake {
  /** Moments by seqno, oldest news first. */
  const news = new Map<number, number>();
  let given = 0;
  let heard = 0;
  let heardAtMs = -Infinity;
  let isNews = false;
  let waiting = new AbortController();

  function restMs(newest: number): number {
    if (heard < newest) return pollMs;
    const isSoon = heard > newest && clock() - heardAtMs < SOON.forMs;
    return isSoon ? Math.min(SOON.everyMs, pollMs) : Math.max(HEARD_POLL_MS, pollMs);
  }

  return {
    announce(mcSeqnos) {
      const atMs = clock();
      // Blocks of the past are classified too.
      const ahead = mcSeqnos.filter((mcSeqno) => mcSeqno > given);
      if (ahead.length === 0) return;
      for (const mcSeqno of ahead) news.set(mcSeqno, atMs);
      for (const [oldest] of news) if (news.size > BLOCKS_MAX) news.delete(oldest);
      heard = Math.max(heard, ...ahead);
      heardAtMs = atMs;
      isNews = true;
      waiting.abort();
    },
    async rest(newest, signal) {
      given = newest ?? 0;
      for (const [mcSeqno] of news) if (mcSeqno <= given) news.delete(mcSeqno);
      waiting = new AbortController();
      try {
        if (!isNews) await pause(restMs(given), AbortSignal.any([signal, waiting.signal]));
      } catch {
        signal.throwIfAborted();
      }
      isNews = false;
    },
    announcedAt: (mcSeqno) => news.get(mcSeqno),
  };
}
