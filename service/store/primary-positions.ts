/** Positions that the primary had, with their times, and the position that readers have seen. */
export type PrimaryPositions = {
  /** Lowest position at which a replica may answer: callers have seen this. */
  readonly floor: () => bigint;
  /** An answer of the primary had all commits up to this position. */
  raiseFloor(position: bigint): void;
  /** Begins a look at the primary. The result takes its position. A position below earlier positions means another database. */
  look(): (position: bigint, atMs: number) => void;
  /** Milliseconds since the primary was first seen beyond a position; 0 if it never was. An idle primary adds nothing. */
  lagMs(position: bigint, nowMs: number): number;
};

type Sample = { readonly position: bigint; readonly atMs: number };

/** Share of its age by which a time may be wrong. A sample each second for a year leaves some 1,500 samples. */
const ERROR_MAX = 0.01;

export function createPrimaryPositions(): PrimaryPositions {
  let floor = 0n;
  let samples: readonly Sample[] = [];
  const newest = (): bigint => samples.at(-1)?.position ?? 0n;
  return {
    floor: () => floor,
    raiseFloor(position) {
      if (position > floor) floor = position;
    },
    look() {
      const before = floor > newest() ? floor : newest();
      return (position, atMs) => {
        if (position < before) [floor, samples] = [position, []];
        if (position <= newest()) return;
        samples = thinned([...samples, { position, atMs }], atMs);
      };
    },
    lagMs(position, nowMs) {
      let since = nowMs;
      for (let index = samples.length - 1; index >= 0; index--) {
        const sample = samples[index];
        if (sample === undefined || sample.position <= position) break;
        since = sample.atMs;
      }
      return nowMs - since;
    },
  };
}

/** Leaves a sample out if its neighbours are near to each other for their age. The first and the last stay. */
function thinned(samples: readonly Sample[], nowMs: number): readonly Sample[] {
  let keptMs = Number.NEGATIVE_INFINITY;
  return samples.filter(({ atMs }, index) => {
    const next = samples[index + 1];
    if (next !== undefined && next.atMs - keptMs < (nowMs - next.atMs) * ERROR_MAX) return false;
    keptMs = atMs;
    return true;
  });
}
