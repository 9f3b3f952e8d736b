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

/** Cases that the volume of a file's thread has left out, and all cases of its lists. `file-cpu.ts` reads it for each file. */
export const drawn = { leftOut: 0, of: 0 };

function draw(all: number, quick: number): number {
  const made = volume === 'quick' ? Math.min(all, quick) : all;
  drawn.leftOut += all - made;
  drawn.of += all;
  return made;
}

/** The first items of a list in a quick run, all items else. The end of the run says how many cases it left out. */
export function someOf<Item>(items: readonly Item[], quick: number): readonly Item[] {
  return items.slice(0, draw(items.length, quick));
}

/** A list's items at equal distances in a quick run, its first item among them; all items else. */
export function spreadOf<Item>(items: readonly Item[], quick: number): readonly Item[] {
  const made = draw(items.length, quick);
  return Array.from({ length: made }, (_, at) => items[Math.floor((at * items.length) / made)] as Item);
}

/** Options of a test that repeats a kind of check: a quick run leaves the test out and counts it. */
export function notQuick(): { readonly skip: boolean; readonly meta: { readonly isLeftOut: boolean } } {
  const isLeftOut = draw(1, 0) === 0;
  return { skip: isLeftOut, meta: { isLeftOut } };
}
