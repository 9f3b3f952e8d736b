import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

import type { Health } from './health.ts';
import type { DepthKind, MethodClass } from '../liteserver/query-facts.ts';
import type { ReadSource } from './read-event.ts';
import type { AttemptOutcome } from './verdict.ts';
import type { ShedReason } from './admission-queue.ts';
import { registerReadGauge } from '../telemetry/read-gauge.ts';

/** Values that gauges read at collection. */
export type PoolReadings = {
  readonly headSeqno: () => number;
  readonly headUtime: () => number;
  readonly usable: () => number;
  readonly rejected: () => number;
  readonly cacheBytes: () => number;
  readonly waiters: () => number;
  /** Returns 1 while the shared Redis is unavailable. */
  readonly redisAway: () => number;
  readonly members: () => readonly MemberReading[];
};

/** Gauges of one lite server. */
export type MemberReading = {
  readonly name: string;
  readonly lagBlocks: number;
  readonly lagSeconds: number;
  /** Seconds in which 70 % of the answers of each method class came; a class without answers is absent. */
  readonly p70Seconds: readonly { readonly methodClass: MethodClass; readonly seconds: number }[];
  readonly inFlight: number;
  readonly inFlightLimit: number;
  /** Masterchain seqnos from which on it has blocks and states, as far as measured. */
  readonly oldest: readonly { readonly kind: DepthKind; readonly seqno: number }[];
};

export type PoolMetrics = {
  attempt(liteServer: string, outcome: AttemptOutcome, seconds: number): void;
  misbehaviour(liteServer: string, proofCode: string): void;
  read(source: ReadSource | 'negative'): void;
  /** Counts a lite server that was ejected, or rejected for good. */
  ejected(liteServer: string, cause: NonNullable<Health['cause']>): void;
  /** Counts an answer of the shared cache that failed its check and was dropped. */
  badShared(): void;
  /** Counts a floor or an answer in Redis with a form that no pod writes. */
  malformed(): void;
  /** Counts an early second attempt: sent, its answer used, or denied by the budget. */
  hedge(event: 'fired' | 'won' | 'denied'): void;
  /** Counts an attempt after a failure: sent, or denied by the budget. */
  retry(event: 'made' | 'denied'): void;
  headRefused(): void;
  /** Records the wait of a read or a message that found room. */
  waited(seconds: number): void;
  /** Counts a read or message without room: too many waited, it could not get room in time, or did not. */
  shed(reason: ShedReason): void;
};

/**
 * Buckets of attempts in seconds. Same host 1 ms, same continent 30 ms, across the world 300 ms. An early second attempt comes at 30 to 500 ms. An
 * attempt is overdue at 1.5 s; the lite server's own limit is 4.5 s.
 */
const attemptSecondsBuckets = [0.001, 0.003, 0.01, 0.03, 0.1, 0.2, 0.4, 0.8, 1.5, 4.5, 10];

/** Returns a gauge without labels of its own. */
const one = (value: number) => [{ labels: {}, value }];

/** Buckets of waits in seconds. Room comes with the next answer of any lite server, after milliseconds; the longest wait is 2 s. */
const waitSecondsBuckets = [0.001, 0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2];

export function createPoolMetrics(register: Registry, readings: PoolReadings): PoolMetrics {
  const registers = [register];
  const attempts = new Counter({
    name: 'ton_pool_attempts_total',
    help: 'Queries to lite servers for reads, by lite server and outcome',
    labelNames: ['lite_server', 'outcome'],
    registers,
  });
  const attemptSeconds = new Histogram({
    name: 'ton_pool_attempt_seconds',
    help: 'Time of one attempt at one lite server, with its check',
    labelNames: ['lite_server'],
    buckets: attemptSecondsBuckets,
    registers,
  });
  const misbehaviours = new Counter({
    name: 'ton_pool_misbehaviours_total',
    help: 'Answers refused because their proof failed, by lite server and failed rule',
    labelNames: ['lite_server', 'rule'],
    registers,
  });
  const ejections = new Counter({
    name: 'ton_pool_ejections_total',
    help: 'Ejections of a lite server, by cause: failures, misbehaviour, other_network (for good)',
    labelNames: ['lite_server', 'cause'],
    registers,
  });
  const reads = new Counter({
    name: 'ton_pool_reads_total',
    help: 'Reads, by source: lite_server, joined (an identical read in progress), cache (memory), redis, negative (known as missing)',
    labelNames: ['source'],
    registers,
  });
  const hedges = new Counter({
    name: 'ton_pool_hedges_total',
    help: 'Early second attempts, by event: fired, won (its answer was used), denied (no budget)',
    labelNames: ['event'],
    registers,
  });
  const retries = new Counter({
    name: 'ton_pool_retries_total',
    help: 'Attempts after a failure, by event: made, denied (no budget)',
    labelNames: ['event'],
    registers,
  });
  const headsRefused = new Counter({
    name: 'ton_pool_heads_refused_total',
    help: 'Reported masterchain blocks that could not be proved and were not served',
    registers,
  });
  const badShared = new Counter({
    name: 'ton_pool_redis_refused_total',
    help: 'Answers of the shared cache that failed their check and were dropped',
    registers,
  });
  const malformed = new Counter({
    name: 'ton_pool_redis_malformed_total',
    help: 'Floors and answers in Redis of a wrong form, counted as absent',
    registers,
  });
  const waits = new Histogram({
    name: 'ton_pool_wait_seconds',
    help: 'Time that reads and messages waited for a lite server with room, if they waited',
    buckets: waitSecondsBuckets,
    registers,
  });
  const sheds = new Counter({
    name: 'ton_pool_shed_total',
    help: 'Reads and messages refused for lack of room, by reason: full (too many waited), hopeless (not in time at the rate then), late (none came)',
    labelNames: ['reason'],
    registers,
  });
  registerGauges(register, readings);
  registerMemberGauges(register, readings);
  const attemptsOf = keptSeries((liteServer: string, outcome: AttemptOutcome) =>
    attempts.labels({ lite_server: liteServer, outcome }),
  );
  const attemptSecondsOf = keptSeries((liteServer: string) => attemptSeconds.labels({ lite_server: liteServer }));
  const readsOf = keptSeries((source: string) => reads.labels({ source }));
  return {
    attempt(liteServer, outcome, seconds) {
      attemptsOf(liteServer, outcome).inc();
      attemptSecondsOf(liteServer).observe(seconds);
    },
    misbehaviour: (liteServer, rule) => misbehaviours.inc({ lite_server: liteServer, rule }),
    read: (source) => readsOf(source).inc(),
    ejected: (liteServer, cause) => ejections.inc({ lite_server: liteServer, cause }),
    hedge: (event) => hedges.inc({ event }),
    retry: (event) => retries.inc({ event }),
    headRefused: () => headsRefused.inc(),
    waited: (seconds) => waits.observe(seconds),
    shed: (reason) => sheds.inc({ reason }),
    badShared: () => badShared.inc(),
    malformed: () => malformed.inc(),
  };
}

/** Caches series by their labels, because a lookup costs more than counting. The register has as many. */
function keptSeries<L extends readonly string[], S>(find: (...labels: L) => S): (...labels: L) => S {
  const found = new Map<string, S>();
  return (...labels) => {
    const key = labels.join(' ');
    const known = found.get(key);
    if (known !== undefined) return known;
    const series = find(...labels);
    found.set(key, series);
    return series;
  };
}

function registerGauges(register: Registry, readings: PoolReadings): void {
  registerReadGauge(
    register,
    'ton_pool_head_seqno',
    'Seqno of the served masterchain head; 0 before the first',
    readings.headSeqno,
  );
  registerReadGauge(
    register,
    'ton_pool_head_utime_seconds',
    'Unix time of the served masterchain head; 0 before the first',
    readings.headUtime,
  );
  registerReadGauge(register, 'ton_pool_usable_lite_servers', 'Lite servers that get reads', readings.usable);
  registerReadGauge(
    register,
    'ton_pool_rejected_lite_servers',
    'Lite servers that serve another network',
    readings.rejected,
  );
  registerReadGauge(
    register,
    'ton_pool_redis_away',
    '1 while the Redis for floors and answers is configured and unavailable',
    readings.redisAway,
  );
  registerReadGauge(register, 'ton_pool_cache_bytes', 'Answers in memory, as received', readings.cacheBytes);
  registerReadGauge(
    register,
    'ton_pool_waiters',
    'Reads and messages that wait for a lite server with room',
    readings.waiters,
  );
}

function registerMemberGauges(register: Registry, readings: PoolReadings): void {
  const gaugeOfEach = <L extends string>(
    name: string,
    help: string,
    labelNames: readonly L[],
    read: (
      reading: MemberReading,
    ) => readonly { readonly labels: Readonly<Record<L, string>>; readonly value: number }[],
  ): Gauge =>
    new Gauge({
      name,
      help,
      labelNames: ['lite_server', ...labelNames],
      registers: [register],
      collect() {
        this.reset();
        for (const reading of readings.members())
          for (const { labels, value } of read(reading)) this.set({ lite_server: reading.name, ...labels }, value);
      },
    });
  gaugeOfEach('ton_pool_in_flight', 'Reads and messages in progress at a lite server', [], ({ inFlight }) =>
    one(inFlight),
  );
  gaugeOfEach(
    'ton_pool_in_flight_limit',
    'Reads that a lite server may have in progress; the limit follows its latency',
    [],
    ({ inFlightLimit }) => one(inFlightLimit),
  );
  gaugeOfEach(
    'ton_pool_lag_blocks',
    'Masterchain blocks that a lite server is behind the served head',
    [],
    ({ lagBlocks }) => one(lagBlocks),
  );
  gaugeOfEach(
    'ton_pool_lag_seconds',
    'Time since the oldest block that a lite server lacks was served',
    [],
    ({ lagSeconds }) => one(lagSeconds),
  );
  gaugeOfEach(
    'ton_pool_depth_seqno',
    'Oldest masterchain seqno whose blocks or states a lite server has, of the masterchain or of shards',
    ['kind'],
    ({ oldest }) => oldest.map(({ kind, seqno }) => ({ labels: { kind }, value: seqno })),
  );
  gaugeOfEach(
    'ton_pool_score_p70_seconds',
    'Time within which a lite server gives 70 % of its answers, by class of functions',
    ['class'],
    ({ p70Seconds }) =>
      p70Seconds.map(({ methodClass, seconds }) => ({ labels: { class: methodClass }, value: seconds })),
  );
}

/** Panels of the pool in the dashboard of a TonApi. */
export const poolPanels = [
  {
    row: 'Callers',
    title: 'Age of the head',
    kind: 'stat',
    unit: 's',
    queries: { '': 'time() - max(ton_pool_head_utime_seconds{PODS})' },
  },
  {
    row: 'Callers',
    title: 'Usable lite servers',
    description: 'The pod with the fewest',
    kind: 'stat',
    queries: { '': 'min(ton_pool_usable_lite_servers{PODS})' },
  },
  {
    row: 'Lite servers',
    title: 'Attempts that failed',
    unit: 'reqps',
    queries: {
      '{{lite_server}} {{outcome}}':
        'sum by (lite_server, outcome) (rate(ton_pool_attempts_total{PODS,outcome!="ok"}[RATE]))',
    },
  },
  {
    row: 'Lite servers',
    title: 'Latency, p70',
    description: 'By lite server and class of functions',
    unit: 's',
    queries: { '{{lite_server}} {{class}}': 'max by (lite_server, class) (ton_pool_score_p70_seconds{PODS})' },
  },
  {
    row: 'Lite servers',
    title: 'Lag',
    description: 'Blocks behind the served head',
    queries: { '{{lite_server}}': 'max by (lite_server) (ton_pool_lag_blocks{PODS})' },
  },
  {
    row: 'Lite servers',
    title: 'Under way and the limit',
    queries: {
      '{{lite_server}}': 'sum by (lite_server) (ton_pool_in_flight{PODS})',
      '{{lite_server}} limit': 'sum by (lite_server) (ton_pool_in_flight_limit{PODS})',
    },
  },
  {
    row: 'Lite servers',
    title: 'Head',
    description: 'Served masterchain seqno, by pod',
    queries: { '{{pod}}': 'ton_pool_head_seqno{PODS}' },
  },
  {
    row: 'Lite servers',
    title: 'Reads by source',
    unit: 'reqps',
    queries: { '{{source}}': 'sum by (source) (rate(ton_pool_reads_total{PODS}[RATE]))' },
  },
  {
    row: 'Lite servers',
    title: 'Hedges, retries, refusals for want of room',
    unit: 'ops',
    queries: {
      'hedge {{event}}': 'sum by (event) (rate(ton_pool_hedges_total{PODS}[RATE]))',
      'retry {{event}}': 'sum by (event) (rate(ton_pool_retries_total{PODS}[RATE]))',
      'shed {{reason}}': 'sum by (reason) (rate(ton_pool_shed_total{PODS}[RATE]))',
    },
  },
  {
    row: 'Proofs and get-methods',
    title: 'Misbehaviour',
    description: 'Answers whose proof failed',
    queries: {
      '{{lite_server}} {{rule}}': 'sum by (lite_server, rule) (increase(ton_pool_misbehaviours_total{PODS}[RATE]))',
    },
  },
] as const;
