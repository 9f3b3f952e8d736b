/** A reason not to run a test here, told loudly; the reporter counts and repeats all of them at the end of the run. */
export type Skip = { readonly what: string; readonly why: string };

/**
 * For `describe.skipIf` and `it.skipIf`: returns true, after saying so on standard error, when a part that the test
 * needs is missing. Vitest counts the skip; the line names the reason.
 */
export function skipLoudly(missing: boolean, skip: Skip): boolean {
  if (missing) process.stderr.write(`SKIPPED: ${skip.what}: ${skip.why}\n`);
  return missing;
}
