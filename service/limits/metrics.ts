import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

import type { RefusalCode } from './limits.ts';
import type { Shortage } from './budget.ts';

/** Result of one decision. `rate_limited` is divided by the limit that ran short. */
export type DecisionResult =
  | 'allowed'
  | Exclude<RefusalCode, 'rate_limited' | 'limits_unavailable'>
  | Shortage['reason'];

/** Counts of one plan as plain numbers. A lookup of metric labels costs more than the decision itself. */
export type PlanCounts = Partial<Record<DecisionResult, number>>;

/** Counts by plan, never by key or address: the number of those labels would have no bound. */
export function createLimitsMetrics(
  register: Registry,
  sizes: { readonly keys: () => number; readonly addresses: () => number },
) {
  const byPlan = new Map<string, PlanCounts>();
  const decisions = new Counter({
    name: 'ton_limits_decisions_total',
    help: 'Decisions on requests by plan (none where no plan applies) and result',
    labelNames: ['plan', 'result'],
    registers: [],
    collect() {
      this.reset();
      for (const [plan, counts] of byPlan) {
        for (const [result, count] of Object.entries(counts)) this.inc({ plan, result }, count);
      }
    },
  });
  register.registerMetric(decisions);
  register.registerMetric(sizeGauge('ton_limits_keys', 'Keys in the keyring', sizes.keys));
  register.registerMetric(
    sizeGauge('ton_limits_addresses', 'Client addresses whose budget is remembered', sizes.addresses),
  );
  const countsOf = (plan: string | null): PlanCounts => {
    const name = plan ?? 'none';
    let counts = byPlan.get(name);
    if (counts === undefined) byPlan.set(name, (counts = {}));
    return counts;
  };
  /** Counts under null are decisions where no plan applies. */
  return { countsOf };
}

export function countResult(counts: PlanCounts, result: DecisionResult): void {
  counts[result] = (counts[result] ?? 0) + 1;
}

function sizeGauge(name: string, help: string, read: () => number): Gauge {
  return new Gauge({
    name,
    help,
    registers: [],
    collect() {
      this.set(read());
    },
  });
}

export type RedisMetrics = ReturnType<typeof createRedisMetrics>;

/** Buckets of a Redis query, in seconds. Redis in the same cluster answers within 1 ms; from 100 ms on it counts as unavailable. */
const redisBuckets = [0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1];

/** Metrics of the shared limits and their Redis. */
export function createRedisMetrics(register: Registry) {
  const registers = [register];
  let leaseHits = 0;
  const leases = new Counter({
    name: 'ton_limits_lease_hits_total',
    help: 'Decisions by tokens taken in advance, without a question to Redis',
    registers: [],
    collect() {
      this.reset();
      this.inc(leaseHits);
    },
  });
  register.registerMetric(leases);
  const roundTrips = new Counter({
    name: 'ton_limits_redis_round_trips_total',
    help: 'Questions to Redis, each for one or more decisions, by result: answered (late ones too) or failed',
    labelNames: ['result'],
    registers,
  });
  const seconds = new Histogram({
    name: 'ton_limits_redis_seconds',
    help: 'Time of a question to Redis',
    buckets: redisBuckets,
    registers,
  });
  const away = new Gauge({
    name: 'ton_limits_redis_away',
    help: '1 while Redis is away and limits follow onRedisFailure',
    registers,
  });
  const revocations = new Counter({
    name: 'ton_limits_revocations_total',
    help: 'Keys seen in the set of revoked ids for the first time',
    registers,
  });
  const malformed = new Counter({
    name: 'ton_limits_redis_malformed_total',
    help: 'Values in Redis of a form that no pod writes, counted as absent, by what they should be: budget, places, usage, pods, revoked',
    labelNames: ['value'],
    registers,
  });
  return {
    malformed: (value: 'budget' | 'places' | 'usage' | 'pods' | 'revoked') => malformed.labels(value).inc(),
    leaseHit: () => void leaseHits++,
    roundTrip(result: 'answered' | 'failed', took: number): void {
      roundTrips.labels(result).inc();
      seconds.observe(took);
    },
    away: (value: 0 | 1) => away.set(value),
    revoked: () => revocations.inc(),
  };
}
