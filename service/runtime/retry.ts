import { setTimeout as sleep } from 'node:timers/promises';

import type { Logger } from 'pino';

/** Failing work under retry, as on the status page. */
export type Trouble = {
  /** `read 1234`, `write`. */
  readonly what: string;
  readonly attempts: number;
  /** Unix milliseconds. */
  readonly sinceMs: number;
  readonly error: string;
};

/** Retries failed work until the signal aborts. */
export type Retry<S extends string> = {
  /** Rejects with the signal's reason, or with an error that `isFinal` accepts. */
  readonly run: <T>(what: S, number: number, work: () => Promise<T>, signal: AbortSignal) => Promise<T>;
  /** Current failures, longest first. */
  readonly troubles: () => readonly Trouble[];
};

export type RetryDependencies<S extends string> = {
  readonly logger: Logger;
  /** 0..1. */
  readonly random: () => number;
  /** Unix milliseconds. */
  readonly unixMs: () => number;
  readonly onFailure: (stage: S) => void;
  /** True for an error that no further attempt changes: it is thrown at once. */
  readonly isFinal: (error: unknown) => boolean;
};

/** First pause: a flapping lite server or a broken connection to Postgres, or its successor, is usually back by then. */
const FIRST_MS = 100;

/** Longest pause: short enough to detect a recovery soon, long enough to spare an unavailable server. */
const MAX_MS = 5_000;

/** Each failure up to this count is logged; later failures at powers of two. An outage of hours does not fill a disk. */
const LOGGED_EACH = 3;

/** Characters of a foreign error in the status: enough to identify it. */
const TEXT_MAX = 300;

export function createRetry<S extends string>({
  logger,
  random,
  unixMs,
  onFailure,
  isFinal,
}: RetryDependencies<S>): Retry<S> {
  /** Bounded by the work in progress. */
  const troubles = new Map<string, Trouble>();

  return {
    async run(what, number, work, signal) {
      const name = `${what} ${number}`;
      try {
        for (let attempts = 1; ; attempts++) {
          signal.throwIfAborted();
          try {
            return await work();
          } catch (error) {
            signal.throwIfAborted();
            if (isFinal(error)) throw error;
            onFailure(what);
            const text = (error instanceof Error ? error.message : String(error)).slice(0, TEXT_MAX);
            troubles.set(name, { what: name, attempts, sinceMs: troubles.get(name)?.sinceMs ?? unixMs(), error: text });
            const isLogged = attempts <= LOGGED_EACH || Number.isInteger(Math.log2(attempts));
            if (isLogged) logger.warn({ err: error, stage: what, number, attempts }, 'tried again after a failure');
            await pause(pauseMs(attempts, random), signal);
          }
        }
      } finally {
        troubles.delete(name);
      }
    },
    troubles: () => [...troubles.values()],
  };
}

/** Doubles with each failure, spread over its upper half. */
export function pauseMs(attempts: number, random: () => number): number {
  return Math.min(MAX_MS, FIRST_MS * 2 ** (attempts - 1)) * (0.5 + random() / 2);
}

/** Rejects with the signal's own reason. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  try {
    await sleep(ms, undefined, { signal });
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  }
}
