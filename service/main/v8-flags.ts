import { availableParallelism } from 'node:os';
import { setFlagsFromString } from 'node:v8';

/** Cores up to which V8's own threads take turns with ours. */
const FEW_CORES = 2;

/**
 * Tunes V8's garbage collector so that long pauses are rare.
 * - On few cores, the thread that made young objects collects them. Helper threads waiting for a core made such pauses up to 10 ms long
 * instead of 2 or 3.
 * - V8 marks the whole heap when it reaches a limit set after the last marking. When few objects survive, as here, V8 lowered that limit
 * again. It then marked up to twice as often, at 10 to 20 ms of a core each.
 * - New objects start young. Rows of a block survived longer than V8 expected, so V8 pretenured later rows into old space. Only a full mark
 * frees old space. A core made 57,000 to 74,000 rows of transactions a second in place of 79,000.
 */
export function setGcFlags(): void {
  if (availableParallelism() <= FEW_CORES) setFlagsFromString('--no-parallel-scavenge');
  setFlagsFromString('--no-scavenger-updates-allocation-limit');
  setFlagsFromString('--no-allocation-site-pretenuring');
}

/**
 * Tunes processes that answer v3. The heap may grow to twice the surviving bytes. External memory, mostly cached texts, may grow to 1.15
 * times that. Most of an answer is external and short-lived. V8 marked the heap after every 64 MiB of external memory: once in a dozen
 * pages of a hundred traces. A factor of 1.33 saved 3 % of the CPU, and took 22 MiB more.
 */
export function setApiGcFlags(): void {
  setFlagsFromString('--external-memory-accounted-in-global-limit');
  setFlagsFromString('--external-memory-max-growing-factor=1.15');
  setFlagsFromString('--heap-growing-percent=100');
}
