import { countOf, volume as tier } from '#test/support/volume.ts';

/** Number of mutations of each function's answers. */
export const volume: number = countOf({ quick: 300, full: 2_000, long: 100_000 });

/** Timeout: a lie costs at most some milliseconds on a busy machine. */
export const volumeTimeoutMs: number = Math.max(60_000, volume * 30);

/** Prints the result of a long run. */
export function report(line: string): void {
  if (tier === 'long') process.stdout.write(`${line}\n`);
}
