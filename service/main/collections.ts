import { availableParallelism } from 'node:os';
import { setFlagsFromString } from 'node:v8';

/** Cores up to which V8's own threads take turns with ours. */
const fewCores = 2;

/**
 * Has young objects collected by the thread that made them where cores are few: helpers that have to wait for a core made such pauses last up to 10 ms instead
 * of 2 or 3.
 */
export function collectWithoutHelpers(): void {
  if (availableParallelism() <= fewCores) setFlagsFromString('--no-parallel-scavenge');
}
