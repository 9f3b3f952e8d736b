import type { PoolClient } from 'pg';

import type { Connections } from './connections.ts';
import { isConnectionSpent } from './errors.ts';

/** Runs work on a connection of the pool. */
export async function borrowed<T>(pool: Connections, work: (client: PoolClient) => Promise<T>): Promise<T> {
  return onBorrowed(await pool.borrow(), work);
}

/** A connection returns to the pool after success and after a failed statement, but after no other failure. */
export async function onBorrowed<T>(client: PoolClient, work: (client: PoolClient) => Promise<T>): Promise<T> {
  let isBroken = false;
  const onError = (): void => {
    isBroken = true;
  };
  client.on('error', onError);
  try {
    return await work(client);
  } catch (error) {
    isBroken ||= isConnectionSpent(error);
    throw error;
  } finally {
    client.off('error', onError);
    client.release(isBroken);
  }
}
