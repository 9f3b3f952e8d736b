import { availableParallelism } from 'node:os';
import { setFlagsFromString } from 'node:v8';

/** Cores up to which V8's own threads take turns with ours. */
const fewCores = 2;

/**
 * How V8 collects garbage: fewest long pauses.
 * - Where cores are few, young objects are collected by the thread that made them: helpers that have to wait for a core made such pauses last up to 10 ms instead
 *   of 2 or 3.
 * - The whole heap is marked when it has grown to what V8 allowed it after the last time. Where little of what is made lives on, as here, V8 took part of that back
 *   and marked up to twice as often, at 10 to 20 ms of a core each.
 * - All that is made is young at first. Rows of a block live a moment longer than V8 thought they should: it went on to make their like among what lives long, where
 *   only marking takes them away. A core made 57,000 to 74,000 rows of transactions a second in place of 79,000.
 */
export function tuneCollections(): void {
  if (availableParallelism() <= fewCores) setFlagsFromString('--no-parallel-scavenge');
  setFlagsFromString('--no-scavenger-updates-allocation-limit');
  setFlagsFromString('--no-allocation-site-pretenuring');
}

/**
 * Of processes that answer v3: the heap may grow to twice what lives on, and what lies outside of it to one and a third times that, most of which are the texts that are
 * kept. Most of an answer lies there and does not live long, and V8 marked the heap whenever there were 64 MiB more of it: once in a dozen pages of a hundred traces.
 */
export function tuneAnswers(): void {
  setFlagsFromString('--external-memory-accounted-in-global-limit');
  setFlagsFromString('--external-memory-max-growing-factor=1.33');
  setFlagsFromString('--heap-growing-percent=100');
}
