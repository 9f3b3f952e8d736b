import { Counter, Histogram, type Registry } from 'prom-client';

import { registerReadGauge } from '#service/telemetry/read-gauge.ts';
import type { Finality } from '../changes.ts';

export type ReplayResult = 'full' | 'finalized' | 'none' | 'busy';

export type HubMetrics = {
  readonly events: (type: string, finality: Finality | 'none', count: number) => void;
  readonly distributed: (finality: Finality | 'none', seconds: number) => void;
  readonly resumed: (result: ReplayResult) => void;
  readonly slow: () => void;
};

export type HubGauges = { readonly queueBytes: () => number; readonly keys: () => number };

export function createHubMetrics(register: Registry, { queueBytes, keys }: HubGauges): HubMetrics {
  const registers = [register];
  const events = new Counter({
    name: 'ton_streaming_events_total',
    help: 'Events given to connections, by type and level; none for invalidations',
    labelNames: ['type', 'finality'],
    registers,
  });
  const distributed = new Histogram({
    name: 'ton_streaming_distribution_seconds',
    help: 'Time from a change to its events in the queues of all connections that match, by level',
    labelNames: ['finality'],
    buckets: [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5],
    registers,
  });
  const resumes = new Counter({
    name: 'ton_streaming_resumes_total',
    help: 'Subscriptions with a cursor, by result: full, finalized, none (beyond the window), busy (too many replays)',
    labelNames: ['result'],
    registers,
  });
  const slow = new Counter({
    name: 'ton_streaming_slow_consumers_total',
    help: 'Connections that ended because their queue was full',
    registers,
  });
  registerReadGauge(
    register,
    'ton_streaming_queue_bytes',
    'Bytes of events that wait in the queues of connections',
    queueBytes,
  );
  registerReadGauge(
    register,
    'ton_streaming_subscribed_keys',
    'Distinct accounts and traces that connections subscribed to',
    keys,
  );
  return {
    events: (type, finality, count) => events.inc({ type, finality }, count),
    distributed: (finality, seconds) => distributed.observe({ finality }, seconds),
    resumed: (result) => resumes.inc({ result }),
    slow: () => slow.inc(),
  };
}
