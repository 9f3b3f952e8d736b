import { createLatencySketch } from './latency-sketch.ts';
import type { LatencySketch } from './latency-sketch.ts';
import { methodClasses } from '../liteserver/query-facts.ts';
import type { MethodClass } from '../liteserver/query-facts.ts';

/** Score of one lite server for one class of functions. */
export type Score = {
  /** Milliseconds in which 70 % of its answers came; undefined without recent answers. */
  readonly p70Ms: number | undefined;
  /** Part of its recent attempts that failed, 0..1. */
  readonly errorRate: number;
};

/** Scores of one lite server. */
export type Scores = {
  /** Records that an attempt ended after `ms`. */
  observe(methodClass: MethodClass, ms: number, failed: boolean): void;
  of(methodClass: MethodClass): Score;
};

/** Quantile of the score, the usual case: without lucky answers and without the slowest, which hedging handles. */
const SCORE_QUANTILE = 0.7;

/** Weight of the newest attempt in the error rate. About the last ten attempts decide. */
const ERROR_WEIGHT = 0.1;

/** Milliseconds without reads after which a score is old, and the server may be better now. It is then tried once, protected by hedging. */
export const SCORE_OLD_MS = 30_000;

/** Assumed latency in milliseconds of a lite server without a score that already has a read in flight. */
const UNKNOWN_MS = 200;

/** Queries in flight that double the cost, because a node works on a few at once (service/liteserver/README.md#timers). */
const IN_FLIGHT_DOUBLING = 4;

/** Cost of an error. It causes a second attempt elsewhere: a rate of 10 % doubles the cost. */
const ERROR_COST = 10;

type ClassRecord = { sketch: LatencySketch; errorRate: number; lastMs: number; score: Score | undefined };

const unknownScore: Score = { p70Ms: undefined, errorRate: 0 };

export function createScores(dependencies: { now: () => number }): Scores {
  const { now } = dependencies;
  const fresh = (): ClassRecord => ({ sketch: createLatencySketch(), errorRate: 0, lastMs: now(), score: undefined });
  const records = new Map(methodClasses.map((methodClass) => [methodClass, fresh()]));

  return {
    observe(methodClass, ms, failed) {
      const known = records.get(methodClass);
      const isOld = known === undefined || now() - known.lastMs > SCORE_OLD_MS;
      const record = isOld ? fresh() : known;
      record.sketch.observe(ms);
      record.errorRate += ERROR_WEIGHT * (Number(failed) - record.errorRate);
      record.lastMs = now();
      record.score = undefined;
      records.set(methodClass, record);
    },
    of(methodClass) {
      const record = records.get(methodClass);
      if (record === undefined || now() - record.lastMs > SCORE_OLD_MS) return unknownScore;
      // The score is read far more often than it changes.
      record.score ??= { p70Ms: record.sketch.quantile(SCORE_QUANTILE), errorRate: record.errorRate };
      return record.score;
    },
  };
}

/**
 * Returns the cost of a query in milliseconds: usual latency, increased by queries in flight and by errors. A server without a score costs nothing
 * while it is idle, so that it is tried.
 */
export function costMs({ p70Ms, errorRate }: Score, inFlight: number): number {
  if (p70Ms === undefined && inFlight === 0) return 0;
  return (p70Ms ?? UNKNOWN_MS) * (1 + inFlight / IN_FLIGHT_DOUBLING) * (1 + ERROR_COST * errorRate);
}
