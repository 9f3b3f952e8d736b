/** Mutations of each function: so many in every run, and so many where time is no matter. */
const volumes = { default: 2_000, full: 100_000 } as const;

const isFull = process.env['TONPLANE_VOLUME'] === 'full';

/** Mutations of each function's answers; `TONPLANE_VOLUME=full` makes 100,000. */
export const volume: number = isFull ? volumes.full : volumes.default;

/** A lie costs some milliseconds at most on a busy machine. */
export const volumeTimeoutMs: number = volume * 30;

/** Prints what a run of the full volume found. */
export function report(line: string): void {
  if (isFull) process.stdout.write(`${line}\n`);
}
