import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

import type { RefusalCode } from './limits.ts';
import type { Shortage } from './budget.ts';
import { registerReadGauge } from '../telemetry/read-gauge.ts';

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
    help: 'Decisions on requests, by plan (none if no plan applies) and result',
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
  registerReadGauge(register, 'ton_limits_keys', 'Keys in the keyring', sizes.keys);
  registerReadGauge(register, 'ton_limits_addresses', 'Client addresses with a budget in memory', sizes.addresses);
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

export type RedisMetrics = ReturnType<typeof createRedisMetrics>;

/** Buckets of a Redis query, in seconds. Redis in the same cluster answers within 1 ms; from 100 ms on it counts as unavailable. */
const redisBuckets = [0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1];

/** Metrics of the shared limits and their Redis. */
export function createRedisMetrics(register: Registry) {
  const registers = [register];
  let leaseHits = 0;
  const leases = new Counter({
    name: 'ton_limits_lease_hits_total',
    help: 'Decisions by leased tokens, without a query to Redis',
    registers: [],
    collect() {
      this.reset();
      this.inc(leaseHits);
    },
  });
  register.registerMetric(leases);
  const roundTrips = new Counter({
    name: 'ton_limits_redis_round_trips_total',
    help: 'Queries to Redis, each for one or more decisions, by result: answered (late answers too) or failed',
    labelNames: ['result'],
    registers,
  });
  const seconds = new Histogram({
    name: 'ton_limits_redis_seconds',
    help: 'Time of a query to Redis',
    buckets: redisBuckets,
    registers,
  });
  const away = new Gauge({
    name: 'ton_limits_redis_away',
    help: '1 while Redis is unavailable and limits follow onRedisFailure',
    registers,
  });
  const revocations = new Counter({
    name: 'ton_limits_revocations_total',
    help: 'Keys seen for the first time in the set of revoked ids',
    registers,
  });
  const malformed = new Counter({
    name: 'ton_limits_redis_malformed_total',
    help: 'Values in Redis of a wrong form, counted as absent, by intended value: budget, places, usage, pods, revoked',
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

/** Metrics of the keyring file. */
export function createKeyringMetrics(register: Registry) {
  const reloads = new Counter({
    name: 'ton_limits_keyring_reloads_total',
    help: 'Changes of the keyring file, by result: loaded, or refused (the earlier keys stay)',
    labelNames: ['result'],
    registers: [register],
  });
  const info = new Gauge({
    name: 'ton_limits_keyring_info',
    help: 'Always 1; the label is the SHA-256 of the keyring file in force',
    labelNames: ['sha256'],
    registers: [register],
  });
  return {
    inForce(sha256: string | null): void {
      info.reset();
      if (sha256 !== null) info.labels(sha256).set(1);
    },
    loaded: () => reloads.labels('loaded').inc(),
    refused: () => reloads.labels('refused').inc(),
  };
}

/** Panels of limits in the dashboard of a TonApi. */
export const limitsPanels = [
  {
    row: 'Limits',
    title: 'Decisions',
    description: 'By plan',
    unit: 'ops',
    queries: { '{{plan}} {{result}}': 'sum by (plan, result) (rate(ton_limits_decisions_total{PODS}[RATE]))' },
  },
  {
    row: 'Limits',
    title: 'Redis',
    description: 'Time of a question; 1 while it is away',
    unit: 's',
    queries: {
      p99: 'histogram_quantile(0.99, sum by (le) (rate(ton_limits_redis_seconds_bucket{PODS}[RATE])))',
      away: 'max(ton_limits_redis_away{PODS})',
    },
  },
] as const;
