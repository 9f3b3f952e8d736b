import type { Logger } from 'pino';

/**
 * Holds a claim on while the work on it takes long. One heartbeat at a time: one that comes while the work is being written waits for that, and keeps a
 * connection as long. One that fails is followed by others; what is written says whether the claim is lost.
 *
 * @param claimMs how long the claim is held without any
 * @returns ends it
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
