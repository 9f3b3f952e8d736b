/** Work that yields between its parts, so that others may run. */
export type Steps<Result> = Generator<undefined, Result>;

/** Runs all parts at once. */
export function runSteps<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}
