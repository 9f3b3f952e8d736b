import { Counter, Histogram, type Registry } from 'prom-client';

import { registerReadGauge } from '#service/telemetry/read-gauge.ts';
import type { Finality } from '../changes.ts';

export type ReplayResult = 'full' | 'finalized' | 'none' | 'busy';

export type HubMetrics = {
  /** Counts one event that a connection was given. */
  readonly sent: (type: string, finality: Finality | 'none') => void;
  readonly distributed: (finality: Finality | 'none', seconds: number) => void;
  readonly resumed: (result: ReplayResult) => void;
  readonly slow: () => void;
};

export type HubGauges = {
  readonly queueBytes: () => number;
  readonly keys: () => number;
  /** Bytes and records of the log of levels. */
  readonly levelsBytes: () => number;
  readonly levelsRecords: () => number;
  readonly absent: () => number;
};

export function createHubMetrics(register: Registry, gauges: HubGauges): HubMetrics {
  const { queueBytes, keys, levelsBytes, levelsRecords, absent } = gauges;
  const registers = [register];
  const sent = createSentCounts();
  const events = new Counter({
    name: 'ton_streaming_events_total',
    help: 'Events given to connections, by type and level; none for invalidations',
    labelNames: ['type', 'finality'],
    registers: [],
    collect() {
      sent.take((type, finality, count) => this.inc({ type, finality }, count));
    },
  });
  register.registerMetric(events);
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
  registerReadGauge(
    register,
    'ton_streaming_levels_bytes',
    'Bytes of the changes below finalized that a resume may need; an estimate without Redis',
    levelsBytes,
  );
  registerReadGauge(
    register,
    'ton_streaming_levels_records',
    'Changes below finalized that a resume may need',
    levelsRecords,
  );
  registerReadGauge(
    register,
    'ton_streaming_absent_connections',
    'Cut connections below finalized whose accounts and traces are watched for ten minutes',
    absent,
  );
  return {
    sent: sent.add,
    distributed: (finality, seconds) => distributed.observe({ finality }, seconds),
    resumed: (result) => resumes.inc({ result }),
    slow: () => slow.inc(),
  };
}

type SentCounts = {
  readonly add: HubMetrics['sent'];
  /** Passes each count on, and begins at zero. */
  readonly take: (each: (type: string, finality: string, count: number) => void) => void;
};

/** Counts of events since the last reading. The library's counter takes longer than the frame of an event. */
function createSentCounts(): SentCounts {
  const byType = new Map<string, Map<string, number>>();
  return {
    add(type, finality) {
      let counts = byType.get(type);
      if (counts === undefined) byType.set(type, (counts = new Map()));
      counts.set(finality, (counts.get(finality) ?? 0) + 1);
    },
    take(each) {
      for (const [type, counts] of byType) for (const [finality, count] of counts) each(type, finality, count);
      byType.clear();
    },
  };
}
