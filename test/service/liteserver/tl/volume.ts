import { countOf, volume as tier } from '#test/support/volume.ts';

/** Mutations of each function's answers. */
export const volume: number = countOf({ quick: 300, full: 2_000, long: 100_000 });

/** A lie costs some milliseconds at most on a busy machine. */
export const volumeTimeoutMs: number = Math.max(60_000, volume * 30);

/** Prints what a long run found. */
export function report(line: string): void {
  if (tier === 'long') process.stdout.write(`${line}\n`);
}
