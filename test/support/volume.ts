/** How much a run makes of checks that have no end of their own: fuzzed requests, lies, killed processes, replayed blocks. */
export type Volume = 'quick' | 'full' | 'long';

const volumes: readonly Volume[] = ['quick', 'full', 'long'];

function readVolume(): Volume {
  const value = process.env['TONPLANE_VOLUME'] ?? 'quick';
  const volume = volumes.find((one) => one === value);
  if (volume === undefined) throw new Error(`TONPLANE_VOLUME is ${value}, expected one of ${volumes.join(', ')}`);
  return volume;
}

/** `TONPLANE_VOLUME`: `quick` for `npm test`, `full` for CI, `long` for a night. */
export const volume: Volume = readVolume();

/** The count for this run; `long` is as `full` where nothing else is given. */
export function countOf(counts: { readonly quick: number; readonly full: number; readonly long?: number }): number {
  return volume === 'long' ? (counts.long ?? counts.full) : counts[volume];
}

/** The first ones of a list in a quick run, all of them else. */
export function someOf<Item>(items: readonly Item[], quick: number): readonly Item[] {
  return volume === 'quick' ? items.slice(0, quick) : items;
}
