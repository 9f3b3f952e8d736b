/** Does all steps of a work at once. */
export function runSteps<T>(steps: Generator<undefined, T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** Counts the steps of a work. A failure ends it. */
export function countSteps(steps: Generator<undefined, unknown>): number {
  let count = 0;
  try {
    while (steps.next().done !== true) count++;
  } catch {}
  return count;
}
