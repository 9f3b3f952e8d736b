/** Estimates quantiles of recent latencies in a fixed, small amount of memory. */
export type LatencySketch = {
  observe(ms: number): void;
  /** Returns the `q`-quantile (0..1) in milliseconds, at most a fifth above the exact one; undefined before the first latency. */
  quantile(q: number): number | undefined;
  /** Returns the weight of the recorded latencies, in observations. */
  readonly weight: () => number;
};

/** Ratio between the upper bounds of buckets; a quantile is wrong by at most this ratio. */
const RATIO = 1.2;

/** Upper bound of the first bucket. Answers of the same host take less. */
const LEAST_MS = 0.25;

/** Number of buckets, up to 0.25 ms * 1.2^60 = 14 s, which is above every query's time limit. */
const BUCKETS = 61;

/** Number of observations at which all weights are halved, so that the newest few hundred decide. */
const WEIGHT_MAX = 256;

export function createLatencySketch(): LatencySketch {
  const weights = new Float64Array(BUCKETS);
  let total = 0;

  function halve(): void {
    for (let bucket = 0; bucket < BUCKETS; bucket += 1) weights[bucket] = (weights[bucket] ?? 0) / 2;
    total /= 2;
  }

  return {
    observe(ms) {
      const bucket = bucketOf(ms);
      weights[bucket] = (weights[bucket] ?? 0) + 1;
      total += 1;
      if (total > WEIGHT_MAX) halve();
    },
    quantile(q) {
      if (total === 0) return undefined;
      let below = 0;
      for (let bucket = 0; bucket < BUCKETS; bucket += 1) {
        below += weights[bucket] ?? 0;
        if (below >= q * total && below > 0) return LEAST_MS * RATIO ** bucket;
      }
      return LEAST_MS * RATIO ** (BUCKETS - 1);
    },
    weight: () => total,
  };
}

function bucketOf(ms: number): number {
  if (ms <= LEAST_MS) return 0;
  return Math.min(BUCKETS - 1, Math.ceil(Math.log(ms / LEAST_MS) / Math.log(RATIO) - 1e-9));
}
