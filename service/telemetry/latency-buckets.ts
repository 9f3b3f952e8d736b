/**
 * Edges of the buckets of request durations, in seconds. A cached answer takes less than 1 ms. A read from a lite server takes 2 to 100 ms, and a
 * hedged read more. The last edges reach past the request timeout (10 s). 1 s is the usual objective and has its own edge. Alerts read the same edges.
 */
export const latencyBucketsSeconds = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20,
] as const;
