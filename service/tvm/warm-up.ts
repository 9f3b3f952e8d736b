import type { Job } from './job.ts';

/**
 * Repeats the first get-method of a thread while nothing else is to be done: the emulator's code runs several times faster once the
 * engine has seen what is hot in it, and callers should not be those who wait for that.
 */
export type WarmUp = {
  /** Told of each job that was run. @param tookMs how long it took */
  ran(job: Job, tookMs: number): void;
};

export type WarmUpDependencies = {
  /** Runs a job and throws its result away. */
  readonly run: (job: Job) => void;
  /** Runs `work` when what came in meanwhile is done. */
  readonly later: (work: () => void) => void;
  /** Milliseconds of a clock that never goes back. */
  readonly now: () => number;
};

/** After so many runs the engine has compiled what is hot: about a quarter of a second. */
const RUNS = 200;

/** A first run that takes longer is no usual one, and not repeated; cold code takes some 40 ms. */
const FIRST_MS_MAX = 100;

/** A repetition that takes longer is the last: a job that comes meanwhile waits for it. */
const RUN_MS_MAX = 10;

export function createWarmUp({ run, later, now }: WarmUpDependencies): WarmUp {
  let isStarted = false;

  function repeat(job: Job, left: number): void {
    const startedMs = now();
    run(job);
    if (left > 1 && now() - startedMs <= RUN_MS_MAX) later(() => repeat(job, left - 1));
  }

  return {
    ran(job, tookMs) {
      if (isStarted || job.kind !== 'getMethods' || tookMs > FIRST_MS_MAX) return;
      isStarted = true;
      later(() => repeat(job, RUNS));
    },
  };
}
