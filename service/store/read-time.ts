import type { PoolClient } from 'pg';

import { StoreError } from './errors.ts';

/** Milliseconds in which the error of a statement that Postgres ended arrives. After them Postgres, or the way to it, is silent. */
const SLACK_MS = 200;

/** Runs work of a read on a borrowed connection. @throws StoreError when the time of the read is over */
export type HoldConnection = <T>(client: PoolClient, work: () => Promise<T>) => Promise<T>;

/**
 * Bounds a read on this side, with the wait for its connection: a silent Postgres ends no statement. When the time is over, the connection in use
 * is destroyed, because the answer may still come on it.
 *
 * @throws StoreError `statement_timeout`
 */
export async function inReadTime<T>(timeoutMs: number, read: (hold: HoldConnection) => Promise<T>): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  let over: StoreError | undefined;
  let inUse: PoolClient | undefined;
  const end = (): void => {
    over = new StoreError('statement_timeout', `Postgres gave no answer within ${timeoutMs} ms`);
    reject(over);
    // With a statement in progress, `end` destroys the socket.
    inUse?.end().catch(() => undefined);
  };
  // Answers that arrived while this process was busy are read first.
  let later: NodeJS.Immediate | undefined;
  const timer = setTimeout(() => (later = setImmediate(end)), timeoutMs + SLACK_MS);
  const hold: HoldConnection = async (client, work) => {
    if (over !== undefined) throw over;
    inUse = client;
    try {
      return await work();
    } finally {
      inUse = undefined;
    }
  };
  try {
    return await Promise.race([read(hold), late]);
  } finally {
    clearTimeout(timer);
    clearImmediate(later);
  }
}
