/** A figure at one time. A counter grows; its curve is the growth a second. */
export type Reading = {
  /** Identifies the curve: `head lag`, or `latency` of the lite server `ls0`. */
  readonly group: string;
  readonly name: string;
  readonly unit: string;
  /** Undefined where the process has no figure yet. */
  readonly value: number | undefined;
  readonly isCounter?: boolean;
};

/** Figures of the past hour, the oldest first. NaN: no figure at that time. */
export type Curve = Pick<Reading, 'group' | 'name' | 'unit'> & { readonly values: readonly number[] };

export type History = {
  curves(): readonly Curve[];
  close(): void;
};

export type HistoryOptions = {
  /** Milliseconds between samples. */
  readonly everyMs: number;
  /** Samples of a curve. The oldest is dropped first. */
  readonly samplesMax: number;
  /** Curves. Further ones are not recorded. */
  readonly curvesMax: number;
};

/** An hour at a sample each 10 s. 512 curves are two of each of 250 lite servers: 1.5 MB. */
export const hour: HistoryOptions = { everyMs: 10_000, samplesMax: 360, curvesMax: 512 };

export type HistoryDependencies = {
  readonly read: () => Promise<readonly Reading[]>;
  readonly nowMs: () => number;
};

type Ring = Pick<Reading, 'group' | 'name' | 'unit'> & { readonly values: number[]; last: number | undefined };

/** Records figures of this process in memory. A failed reading is a sample without figures. */
export function createHistory(
  options: HistoryOptions,
  { read, nowMs }: HistoryDependencies,
): History & {
  sample(): Promise<void>;
} {
  const rings = new Map<string, Ring>();
  let lastMs = nowMs();
  let samples = 0;

  const sample = async (): Promise<void> => {
    const readings = await read().catch(() => []);
    const seconds = Math.max(0.001, (nowMs() - lastMs) / 1000);
    lastMs = nowMs();
    const found = new Map(readings.map((reading) => [`${reading.group}\n${reading.name}`, reading]));
    for (const [key, { group, name, unit }] of found) {
      if (rings.has(key) || rings.size >= options.curvesMax) continue;
      rings.set(key, { group, name, unit, values: Array.from({ length: samples }, () => Number.NaN), last: undefined });
    }
    samples = Math.min(samples + 1, options.samplesMax);
    for (const [key, ring] of rings) {
      ring.values.push(valueOf(ring, found.get(key), seconds));
      if (ring.values.length > options.samplesMax) ring.values.shift();
      if (ring.values.every(Number.isNaN)) rings.delete(key);
    }
  };

  const timer = setInterval(() => void sample(), options.everyMs);
  timer.unref();
  return {
    sample,
    curves: () => [...rings.values()].map(({ group, name, unit, values }) => ({ group, name, unit, values })),
    close: () => clearInterval(timer),
  };
}

/** A counter that fell began again at 0. */
function valueOf(ring: Ring, reading: Reading | undefined, seconds: number): number {
  const { last } = ring;
  ring.last = reading?.value;
  if (reading?.value === undefined) return Number.NaN;
  if (reading.isCounter !== true) return reading.value;
  return last === undefined ? Number.NaN : Math.max(0, reading.value - (reading.value < last ? 0 : last)) / seconds;
}
