import type { RedisMetrics } from '../metrics.ts';
import { failureOf, isReply } from './script-batcher.ts';
import type { createEventLoopStalls, Mark } from './event-loop-stalls.ts';

/**
 * Milliseconds after which an answer is slow. Redis in the same cluster answers within a millisecond; a slower one costs requests more than it gives.
 */
export const SLOW_MS = 100;

/** Answers that Redis has not given yet. */
export type PendingAnswers = {
  /** Returns the answer, or a rejection once `failAll` is called. The failure of an answer is reported. */
  readonly add: <T>(answer: Promise<T>) => Promise<T>;
  /** Returns true when the oldest answer is slow. */
  isLate(): boolean;
  /** Rejects all pending answers. */
  failAll(why: string): void;
};

export type PendingAnswersDependencies = {
  readonly stalls: Pick<ReturnType<typeof createEventLoopStalls>, 'mark' | 'since'>;
  readonly metrics: RedisMetrics;
  /** Called when a pending answer failed, unless the failure shows a server that is present and well. */
  readonly onFailed: (why: string) => void;
};

type Pending = Mark & { readonly fail: (error: Error) => void };

export function createPendingAnswers({ stalls, metrics, onFailed }: PendingAnswersDependencies): PendingAnswers {
  const pending = new Set<Pending>();

  const follow = async <T>(answer: Promise<T>, entry: Pending): Promise<T> => {
    const seconds = (): number => (performance.now() - entry.sentMs) / 1000;
    try {
      const value = await answer;
      metrics.roundTrip('answered', seconds());
      return value;
    } catch (error) {
      metrics.roundTrip('failed', seconds());
      if (isReply(error, 'CROSSSLOT') || isReply(error, 'WRONGTYPE')) throw error;
      if (pending.has(entry)) onFailed(failureOf(error));
      throw error;
    } finally {
      pending.delete(entry);
    }
  };

  return {
    add<T>(answer: Promise<T>): Promise<T> {
      const { promise, resolve, reject } = Promise.withResolvers<T>();
      const entry: Pending = { ...stalls.mark(), fail: reject };
      pending.add(entry);
      void follow(answer, entry).then(resolve, reject);
      return promise;
    },
    isLate() {
      const [oldest] = pending;
      return oldest !== undefined && stalls.since(oldest) > SLOW_MS;
    },
    failAll(why) {
      for (const { fail } of pending) fail(new Error(why));
      pending.clear();
    },
  };
}
