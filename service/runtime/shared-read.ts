import { setImmediate as nextTurn } from 'node:timers/promises';

import { inTime } from './in-time.ts';

export type SharedReadOptions = {
  /** A read that takes longer is abandoned: its callers get undefined, and the next read begins. Milliseconds. */
  readonly timeoutMs: number;
};

/**
 * Shares reads among callers: each call gets the result of a read that begins after the call. At most one read runs.
 * Callers that come during a read share the next read, also those of the same turn of the event loop. A failed read gives its callers undefined.
 */
export function createSharedRead<T>(
  { timeoutMs }: SharedReadOptions,
  read: () => Promise<T | undefined>,
): () => Promise<T | undefined> {
  let running: Promise<T | undefined> | undefined;
  let next: Promise<T | undefined> | undefined;

  const begin = async (): Promise<T | undefined> => {
    await running;
    await nextTurn();
    next = undefined;
    running = inTime(read(), timeoutMs).catch(() => undefined);
    return running;
  };

  return () => (next ??= begin());
}
