import { pino } from 'pino';

import { connectRedis } from '#service/limits/redis/connection.ts';
import type { PendingLink } from '#service/pending/shared-traces.ts';
import { createBoundedRedis } from '#service/pool/redis/bounded-redis.ts';

/** A line to Redis as pods have it. */
export function openLink(url: string): PendingLink & { isHere(): boolean } {
  const client = connectRedis({ url, retryMs: () => 50 });
  return createBoundedRedis({ use: 'test', quickMs: 1000 }, { client, logger: pino({ level: 'silent' }) });
}

/** One that is there. */
export async function openGoodLink(url: string): Promise<PendingLink> {
  const made = openLink(url);
  while (!made.isHere()) await new Promise((done) => setTimeout(done, 10));
  return made;
}
