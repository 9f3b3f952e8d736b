import { Histogram, type Registry } from 'prom-client';

/** Takes the seconds from the source of a level to its events. */
export type LagMetrics = {
  /** From the acceptance of a message to the first pending events of its trace. */
  readonly pending: (seconds: number) => void;
  /** From the first sight of a signed block to its events. */
  readonly confirmed: (seconds: number) => void;
};

export function createLagMetrics(register: Registry): LagMetrics {
  const pending = new Histogram({
    name: 'ton_streaming_pending_lag_seconds',
    help: 'Time from the acceptance of a message to the first pending events of its trace',
    buckets: [0.025, 0.05, 0.1, 0.15, 0.25, 0.5, 1, 5],
    registers: [register],
  });
  const confirmed = new Histogram({
    name: 'ton_streaming_confirmed_lag_seconds',
    help: 'Time from the first sight of a signed shard block to its confirmed events',
    buckets: [0.05, 0.1, 0.2, 0.3, 0.5, 1, 2, 5],
    registers: [register],
  });
  return { pending: (seconds) => pending.observe(seconds), confirmed: (seconds) => confirmed.observe(seconds) };
}
