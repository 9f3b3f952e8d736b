import type { Job } from './job.ts';

/**
 * Repeats the first get-method of a thread while the thread is idle. The emulator's code runs several times faster once the engine has compiled its
 * hot parts. Callers must not wait for that.
 */
export type WarmUp = {
  /** Called after each job. @param tookMs duration of the job */
  ran(job: Job, tookMs: number): void;
};

export type WarmUpDependencies = {
  /** Runs a job and discards its result. */
  readonly run: (job: Job) => void;
  /** Runs `work` after the messages that have arrived are handled. */
  readonly later: (work: () => void) => void;
  /** Milliseconds of a clock that never goes back. */
  readonly now: () => number;
};

/** Runs after which the engine has compiled the hot code: about a quarter of a second. */
const RUNS = 200;

/** Milliseconds above which a first run is unusual, and not repeated. Cold code takes some 40 ms. */
const FIRST_MS_MAX = 100;

/** Milliseconds above which a repetition is the last. A job that arrives during a repetition waits for it. */
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
