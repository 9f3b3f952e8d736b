/** Figures of one page of metrics, summed over the series of each metric. Undefined: the pod has no such metric. */
export type PodMetrics = {
  /** Answered requests, and those with a status of 500 or more. */
  readonly requests: number | undefined;
  readonly failures: number | undefined;
  /** Requests by upper bound of their time in seconds, cumulative, in ascending order; the last bound is infinite. */
  readonly latency: readonly Bucket[];
  readonly inFlight: number | undefined;
  readonly usableLiteServers: number | undefined;
  readonly liteServers: number | undefined;
  readonly indexLagSeconds: number | undefined;
  readonly indexLagBlocks: number | undefined;
};

type Bucket = { readonly seconds: number; readonly count: number };

/** Traffic of a pod between two pages, or since its start. */
export type Traffic = {
  readonly requests: number | undefined;
  readonly failures: number | undefined;
  readonly p99Seconds: number | undefined;
};

const sampleLine = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)/;

/** Reads a page in the text format of Prometheus. */
export function readPodMetrics(page: string): PodMetrics {
  const samples = Map.groupBy(page.split('\n').flatMap(sampleOf), ({ name }) => name);
  const sum = (name: string, of: (labels: string) => boolean = () => true): number | undefined =>
    samples.get(name)?.reduce((total, { labels, value }) => (of(labels) ? total + value : total), 0);
  return {
    requests: sum('ton_http_requests_total'),
    failures: sum('ton_http_requests_total', (labels) => /\bstatus="5\d\d"/.test(labels)),
    latency: bucketsOf(samples.get('ton_http_request_duration_seconds_bucket') ?? []),
    inFlight: sum('ton_http_in_flight_requests'),
    usableLiteServers: sum('ton_pool_usable_lite_servers'),
    liteServers: samples.get('ton_liteserver_connected')?.length,
    indexLagSeconds: sum('ton_indexer_lag_seconds'),
    indexLagBlocks: sum('ton_indexer_lag_blocks'),
  };
}

/** Traffic from `before` to `after`. A counter that fell began again with the pod; it counts from zero. */
export function trafficBetween(before: PodMetrics | undefined, after: PodMetrics): Traffic {
  const began = before !== undefined && (after.requests ?? 0) >= (before.requests ?? 0) ? before : undefined;
  const earlier = new Map(began?.latency.map(({ seconds, count }) => [seconds, count]));
  return {
    requests: difference(after.requests, began?.requests),
    failures: difference(after.failures, began?.failures),
    p99Seconds: quantile(
      0.99,
      after.latency.map(({ seconds, count }) => ({ seconds, count: count - (earlier.get(seconds) ?? 0) })),
    ),
  };
}

function difference(now: number | undefined, then: number | undefined): number | undefined {
  return now === undefined ? undefined : now - (then ?? 0);
}

type Sample = { readonly name: string; readonly labels: string; readonly value: number };

function sampleOf(line: string): Sample[] {
  const [, name, labels = '', text = ''] = sampleLine.exec(line) ?? [];
  const value = Number(text);
  return name === undefined || Number.isNaN(value) ? [] : [{ name, labels, value }];
}

function bucketsOf(samples: readonly Sample[]): readonly Bucket[] {
  const counts = new Map<number, number>();
  for (const { labels, value } of samples) {
    const [, bound = ''] = /\ble="([^"]+)"/.exec(labels) ?? [];
    const seconds = bound === '+Inf' ? Number.POSITIVE_INFINITY : Number(bound);
    if (!Number.isNaN(seconds) && bound !== '') counts.set(seconds, (counts.get(seconds) ?? 0) + value);
  }
  return [...counts].map(([seconds, count]) => ({ seconds, count })).toSorted((a, b) => a.seconds - b.seconds);
}

/** The rule of Prometheus' `histogram_quantile`: linear within a bucket, and the last finite bound beyond it. */
function quantile(share: number, buckets: readonly Bucket[]): number | undefined {
  const rank = share * (buckets.at(-1)?.count ?? 0);
  if (rank <= 0) return undefined;
  const index = buckets.findIndex(({ count }) => count >= rank);
  const bucket = buckets[index];
  const below = buckets[index - 1] ?? { seconds: 0, count: 0 };
  if (bucket === undefined) return undefined;
  if (!Number.isFinite(bucket.seconds)) return below.seconds;
  return below.seconds + (bucket.seconds - below.seconds) * ((rank - below.count) / (bucket.count - below.count));
}
