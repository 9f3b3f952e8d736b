import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import { latencyBucketsSeconds } from '../telemetry/latency-buckets.ts';

/** Metrics of the public listener. Labels are operation names and statuses of the tables: a bounded set, whatever callers send. */
export type HttpMetrics = {
  begin(): void;
  end(facts: {
    readonly operation: string;
    readonly status: number;
    readonly seconds: number;
    readonly bytes: number;
  }): void;
  /** An operation inside a JSON-RPC batch. */
  batchCall(operation: string, status: number): void;
  /** Bytes that were no HTTP request. */
  readonly malformed: () => void;
  /** A connection beyond the limit of its address. */
  readonly connectionRefused: () => void;
};

type Row = {
  readonly requests: Counter.Internal;
  readonly duration: Histogram.Internal<string>;
  readonly bytes: Histogram.Internal<string>;
};

/** From an error envelope (100 B) over an account (2 kB) to a full code and data answer. */
const sizeBuckets = [256, 1024, 4096, 16_384, 65_536, 262_144, 1_048_576];

export function createHttpMetrics(register: Registry): HttpMetrics {
  const requests = new Counter({
    name: 'ton_http_requests_total',
    help: 'Answered HTTP requests, by operation and status; 499 is a caller that hung up',
    labelNames: ['operation', 'status'],
    registers: [register],
  });
  const duration = new Histogram({
    name: 'ton_http_request_duration_seconds',
    help: 'Time from the headers of a request to the end of its answer',
    labelNames: ['operation'],
    buckets: [...latencyBucketsSeconds],
    registers: [register],
  });
  const inFlight = new Gauge({
    name: 'ton_http_in_flight_requests',
    help: 'HTTP requests in progress',
    registers: [register],
  });
  const bytes = new Histogram({
    name: 'ton_http_response_size_bytes',
    help: 'Size of answers without headers',
    labelNames: ['operation'],
    buckets: sizeBuckets,
    registers: [register],
  });
  const batchCalls = new Counter({
    name: 'ton_http_batch_calls_total',
    help: 'Operations inside JSON-RPC batches, by operation and status',
    labelNames: ['operation', 'status'],
    registers: [register],
  });
  const malformed = new Counter({
    name: 'ton_http_malformed_requests_total',
    help: 'Connections closed because their bytes were no HTTP request',
    registers: [register],
  });
  const refusedConnections = new Counter({
    name: 'ton_http_refused_connections_total',
    help: 'Connections refused because their address had its most connections open',
    registers: [register],
  });
  /** Cached children, because a lookup of labels costs as much as a refusal. Their number is bounded by operations and statuses. */
  const rows = new Map<string, Row>();
  return {
    begin: () => inFlight.inc(),
    end: ({ operation, status, seconds, bytes: size }) => {
      inFlight.dec();
      const key = `${operation} ${status}`;
      let row = rows.get(key);
      if (row === undefined) {
        rows.set(
          key,
          (row = {
            requests: requests.labels({ operation, status }),
            duration: duration.labels({ operation }),
            bytes: bytes.labels({ operation }),
          }),
        );
      }
      row.requests.inc();
      row.duration.observe(seconds);
      row.bytes.observe(size);
    },
    batchCall: (operation, status) => batchCalls.inc({ operation, status }),
    malformed: () => malformed.inc(),
    connectionRefused: () => refusedConnections.inc(),
  };
}

/** Panels of requests in the dashboard of a TonApi. */
export const httpPanels = [
  {
    row: 'Callers',
    title: 'Requests',
    kind: 'stat',
    unit: 'reqps',
    queries: { '': 'sum(rate(ton_http_requests_total{PODS}[RATE]))' },
  },
  {
    row: 'Callers',
    title: 'Errors',
    description: 'Share of 5xx; 429 is none',
    kind: 'stat',
    unit: 'percentunit',
    queries: {
      '': '(sum(rate(ton_http_requests_total{PODS,status=~"5.."}[RATE])) or vector(0)) / sum(rate(ton_http_requests_total{PODS}[RATE]))',
    },
  },
  {
    row: 'Callers',
    title: 'p99',
    kind: 'stat',
    unit: 's',
    queries: {
      '': 'histogram_quantile(0.99, sum by (le) (rate(ton_http_request_duration_seconds_bucket{PODS}[RATE])))',
    },
  },
  {
    row: 'Callers',
    title: 'Requests by operation',
    unit: 'reqps',
    queries: { '{{operation}}': 'sum by (operation) (rate(ton_http_requests_total{PODS}[RATE]))' },
  },
  {
    row: 'Callers',
    title: 'Answers by status',
    unit: 'reqps',
    queries: { '{{status}}': 'sum by (status) (rate(ton_http_requests_total{PODS}[RATE]))' },
  },
  {
    row: 'Callers',
    title: 'Latency',
    unit: 's',
    queries: {
      p50: 'histogram_quantile(0.5, sum by (le) (rate(ton_http_request_duration_seconds_bucket{PODS}[RATE])))',
      p90: 'histogram_quantile(0.9, sum by (le) (rate(ton_http_request_duration_seconds_bucket{PODS}[RATE])))',
      p99: 'histogram_quantile(0.99, sum by (le) (rate(ton_http_request_duration_seconds_bucket{PODS}[RATE])))',
    },
  },
  {
    row: 'Callers',
    title: 'Latency by operation, p99',
    unit: 's',
    queries: {
      '{{operation}}':
        'histogram_quantile(0.99, sum by (le, operation) (rate(ton_http_request_duration_seconds_bucket{PODS}[RATE])))',
    },
  },
  {
    row: 'Callers',
    title: 'Errors by operation',
    unit: 'reqps',
    queries: {
      '{{operation}} {{status}}':
        'sum by (operation, status) (rate(ton_http_requests_total{PODS,status=~"5.."}[RATE]))',
    },
  },
  {
    row: 'Callers',
    title: 'Requests in progress',
    description: 'By pod',
    queries: { '{{pod}}': 'sum by (pod) (ton_http_in_flight_requests{PODS})' },
  },
] as const;
