import type { Registry } from 'prom-client';
import { Counter, Gauge, Histogram } from 'prom-client';
import type { LiteServerErrorCode } from './errors.ts';

/** Outcome of one query. */
export type QueryOutcome = 'ok' | LiteServerErrorCode;

/** The metrics of one lite server. */
export type LiteServerMetrics = {
  query(functionName: string, outcome: QueryOutcome, seconds: number): void;
  traffic(direction: 'received' | 'sent', bytes: number): void;
  /** Counts a finished attempt to connect; `again` for a success that is not the first. */
  connect(outcome: 'ready' | 'failed', again: boolean): void;
  inFlight(queries: number): void;
  connected(is: boolean): void;
  /** Removes the lite server's own series. */
  close(): void;
};

/**
 * Buckets in seconds: same host 1 ms, same continent 30 ms, across the world 300 ms. A node's own deadline is 4.5 s, its longest wait for a block 10
 * s.
 */
const querySecondsBuckets = [0.001, 0.003, 0.01, 0.03, 0.1, 0.2, 0.4, 0.8, 1.5, 4.5, 10];

type Series = ReturnType<typeof defineSeries>;

/** Series of a register, defined once and shared by all its lite servers. */
const defined = new WeakMap<Registry, Series>();

export function createLiteServerMetrics(register: Registry, name: string): LiteServerMetrics {
  const series = defined.get(register) ?? defineSeries(register);
  defined.set(register, series);
  const own = { lite_server: name };
  const received = series.receivedBytes.labels(own);
  const sent = series.sentBytes.labels(own);
  const inFlight = series.inFlight.labels(own);
  const connected = series.connected.labels(own);
  const reconnects = series.reconnects.labels(own);
  const outcomes = new Map<string, Counter.Internal>();
  const durations = new Map<string, Histogram.Internal<string>>();

  function outcomeCounter(functionName: string, outcome: QueryOutcome): Counter.Internal {
    const key = `${functionName} ${outcome}`;
    const known = outcomes.get(key) ?? series.queries.labels({ ...own, function: functionName, outcome });
    outcomes.set(key, known);
    return known;
  }

  function durationHistogram(functionName: string): Histogram.Internal<string> {
    const known = durations.get(functionName) ?? series.querySeconds.labels({ function: functionName });
    durations.set(functionName, known);
    return known;
  }

  return {
    query(functionName, outcome, seconds) {
      outcomeCounter(functionName, outcome).inc();
      durationHistogram(functionName).observe(seconds);
    },
    traffic: (direction, bytes) => (direction === 'received' ? received : sent).inc(bytes),
    connect(outcome, again) {
      series.connects.inc({ ...own, outcome });
      if (outcome === 'ready' && again) reconnects.inc();
    },
    inFlight: (queries) => inFlight.set(queries),
    connected: (is) => connected.set(is ? 1 : 0),
    close() {
      series.inFlight.remove(own);
      series.connected.remove(own);
    },
  };
}

function defineSeries(register: Registry) {
  const registers = [register];
  const labelNames = ['lite_server'];
  return {
    queries: new Counter({
      name: 'ton_liteserver_queries_total',
      help: 'Queries to lite servers, by lite server, function and outcome',
      labelNames: ['lite_server', 'function', 'outcome'],
      registers,
    }),
    querySeconds: new Histogram({
      name: 'ton_liteserver_query_duration_seconds',
      help: 'Time of a query, by function',
      labelNames: ['function'],
      buckets: querySecondsBuckets,
      registers,
    }),
    receivedBytes: new Counter({
      name: 'ton_liteserver_received_bytes_total',
      help: 'Bytes received from lite servers',
      labelNames,
      registers,
    }),
    sentBytes: new Counter({
      name: 'ton_liteserver_sent_bytes_total',
      help: 'Bytes sent to lite servers',
      labelNames,
      registers,
    }),
    connects: new Counter({
      name: 'ton_liteserver_connects_total',
      help: 'Connection attempts to lite servers, by outcome',
      labelNames: ['lite_server', 'outcome'],
      registers,
    }),
    reconnects: new Counter({
      name: 'ton_liteserver_reconnects_total',
      help: 'Connections that replaced an earlier one',
      labelNames,
      registers,
    }),
    inFlight: new Gauge({
      name: 'ton_liteserver_in_flight',
      help: 'Queries without an answer yet',
      labelNames,
      registers,
    }),
    connected: new Gauge({
      name: 'ton_liteserver_connected',
      help: '1 while the connection to the lite server is ready',
      labelNames,
      registers,
    }),
  };
}

/** Panels of queries in the dashboard of a TonApi. */
export const liteServerPanels = [
  {
    row: 'Lite servers',
    title: 'Queries',
    description: 'By lite server',
    unit: 'reqps',
    queries: { '{{lite_server}}': 'sum by (lite_server) (rate(ton_liteserver_queries_total{PODS}[RATE]))' },
  },
] as const;
