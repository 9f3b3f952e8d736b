import { Counter, Gauge, type Registry } from 'prom-client';

export type Transport = 'sse' | 'ws';

/** Metrics of connections. Labels are of bounded sets: transports, plans, codes of the service. */
export type StreamMetrics = {
  readonly opened: (transport: Transport, plan: string) => void;
  /** @param code close code of the service; `client` when the caller ended the stream */
  readonly closed: (transport: Transport, plan: string, code: number | 'client') => void;
  /** @param result `subscribed`, or the code of the error */
  readonly subscribed: (transport: Transport, result: string) => void;
};

export function createStreamMetrics(register: Registry): StreamMetrics {
  const connections = new Gauge({
    name: 'ton_streaming_connections',
    help: 'Open streams, by transport and plan',
    labelNames: ['transport', 'plan'],
    registers: [register],
  });
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
