/** Messages a second of one connection, and messages at once after a pause. Every message counts, pings of the protocol too. */
const PER_SECOND = 20;
const BURST = 40;

/** Counts the messages of one connection. Returns false for a message above the rate. */
export function createMessageRate(nowMs: () => number): () => boolean {
  let tokens = BURST;
  let lastMs = nowMs();
  return () => {
    const now = nowMs();
    tokens = Math.min(BURST, tokens + ((now - lastMs) * PER_SECOND) / 1000);
    lastMs = now;
    if (tokens < 1) return false;
    tokens -= 1;
    return true;
  };
}
