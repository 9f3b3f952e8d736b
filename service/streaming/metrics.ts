import { Counter, Gauge, type Registry } from 'prom-client';

const transports = ['sse', 'ws'] as const;

export type Transport = (typeof transports)[number];

/** Metrics of connections. Labels are of bounded sets: transports, plans, codes of the service. */
export type StreamMetrics = {
  readonly opened: (transport: Transport, plan: string) => void;
  /** @param code close code of the service; `client` when the caller ended the stream */
  readonly closed: (transport: Transport, plan: string, code: number | 'client') => void;
  /** @param result `subscribed`, or the code of the error */
  readonly subscribed: (transport: Transport, result: string) => void;
};

/** @param plans that have a number of connections from the start: an autoscaler takes a missing number for a fault */
export function createStreamMetrics(register: Registry, plans: readonly string[] = []): StreamMetrics {
  const connections = new Gauge({
    name: 'ton_streaming_connections',
    help: 'Open streams, by transport and plan',
    labelNames: ['transport', 'plan'],
    registers: [register],
  });
  for (const plan of plans) for (const transport of transports) connections.set({ transport, plan }, 0);
  const closes = new Counter({
    name: 'ton_streaming_closes_total',
    help: 'Closed streams, by transport and close code; client is a caller that ended its stream',
    labelNames: ['transport', 'code'],
    registers: [register],
  });
  const subscriptions = new Counter({
    name: 'ton_streaming_subscriptions_total',
    help: 'Subscriptions, by transport and result: subscribed, or the code of the error',
    labelNames: ['transport', 'result'],
    registers: [register],
  });
  return {
    opened: (transport, plan) => connections.inc({ transport, plan }),
    closed(transport, plan, code) {
      connections.dec({ transport, plan });
      closes.inc({ transport, code });
    },
    subscribed: (transport, result) => subscriptions.inc({ transport, result }),
  };
}

/** Panels of streams in the dashboard of a TonApi. */
export const streamingPanels = [
  {
    row: 'Streams',
    title: 'Connections',
    queries: { '{{transport}}': 'sum by (transport) (ton_streaming_connections{PODS})' },
  },
  {
    row: 'Streams',
    title: 'Events',
    queries: { '{{type}} {{finality}}': 'sum by (type, finality) (rate(ton_streaming_events_total{PODS}[RATE]))' },
  },
  {
    row: 'Streams',
    title: 'Classified to written, p99',
    unit: 's',
    queries: {
      final: 'histogram_quantile(0.99, sum by (le) (rate(ton_streaming_final_lag_seconds_bucket{PODS}[RATE])))',
      'confirmed, since its block was seen':
        'histogram_quantile(0.99, sum by (le) (rate(ton_streaming_confirmed_lag_seconds_bucket{PODS}[RATE])))',
      'pending, since its acceptance':
        'histogram_quantile(0.99, sum by (le) (rate(ton_streaming_pending_lag_seconds_bucket{PODS}[RATE])))',
    },
  },
  {
    row: 'Streams',
    title: 'Behind the index',
    queries: {
      blocks: 'max(ton_streaming_final_behind_blocks{PODS})',
      seconds: 'max(ton_streaming_final_behind_seconds{PODS})',
    },
  },
  {
    row: 'Streams',
    title: 'Closes',
    queries: { '{{code}}': 'sum by (code) (rate(ton_streaming_closes_total{PODS}[RATE]))' },
  },
  {
    row: 'Streams',
    title: 'Resumes, blocks without actions',
    queries: {
      '{{result}}': 'sum by (result) (rate(ton_streaming_resumes_total{PODS}[RATE]))',
      'blocks without actions': 'sum(rate(ton_streaming_unclassified_blocks_total{PODS}[RATE]))',
    },
  },
  {
    row: 'Streams',
    title: 'Records for the log that pods share, its epochs',
    queries: {
      '{{result}}': 'sum by (result) (rate(ton_streaming_levels_appends_total{PODS}[RATE]))',
      'epochs, next {{log}}': 'sum by (log) (rate(ton_streaming_levels_epochs_total{PODS}[RATE]))',
    },
  },
] as const;
