import { setTimeout as sleep } from 'node:timers/promises';

import { LimitsError } from '../errors.ts';
import { connectRedis, untrustedRedis, type RedisServer } from './connection.ts';
import { revokeIds } from './revocation-set.ts';

/** Milliseconds for the whole command, because a person waits for it. */
const TIMEOUT_MS = 5000;

/** Milliseconds between tries to connect. */
const RETRY_MS = 200;

/**
 * Revokes a key's id: all pods of an API refuse it within 2 s, before its row leaves their keyrings.
 * @param scope of the TonApi: `namespace/name`, or the name alone for a manifest without a namespace
 * @throws LimitsError `revocation_failed` when Redis does not answer in 5 s
 */
export async function revokeInRedis(server: RedisServer, scope: string, keyId: string): Promise<void> {
  const connection = connectRedis({ ...server, retryMs: () => RETRY_MS });
  let failure = 'no answer';
  connection.on('error', (error: Error) => (failure = untrustedRedis(error) ?? error.name));
  try {
    for (const deadline = performance.now() + TIMEOUT_MS; performance.now() < deadline; await sleep(RETRY_MS / 10)) {
      if (connection.status !== 'ready') continue;
      await revokeIds(connection, scope, [keyId]);
      return;
    }
    throw new Error(failure);
  } catch (error) {
    const why = error instanceof Error ? error.message : failure;
    throw new LimitsError('revocation_failed', [`key ${keyId} could not be revoked in Redis: ${why}`]);
  } finally {
    connection.disconnect();
  }
}
