import type { Logger } from 'pino';

/**
 * Renews a claim during long work. Heartbeats do not overlap. A heartbeat during a write waits for the write, and occupies a connection as
 * long. After a failed heartbeat the next one follows. The write itself reports a lost claim.
 *
 * @param claimMs how long the claim lasts without a heartbeat
 * @returns ends the heartbeats
 */
export function startHeartbeat(
  { claimMs, beat }: { readonly claimMs: number; readonly beat: () => Promise<void> },
  { logger }: { readonly logger: Logger },
): () => void {
  let isBeating = false;
  const timer = setInterval(() => {
    if (isBeating) return;
    isBeating = true;
    beat()
      .catch((error: unknown) => logger.debug({ err: error }, 'no heartbeat'))
      .finally(() => (isBeating = false));
  }, claimMs / 4);
  return () => clearInterval(timer);
}
