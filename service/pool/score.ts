import { createLatencySketch } from './latency-sketch.ts';
import type { LatencySketch } from './latency-sketch.ts';
import { methodClasses } from './method-class.ts';
import type { MethodClass } from './method-class.ts';

/** What one lite server is worth for one class of functions. */
export type Score = {
  /** 70 % of its answers came within this, in milliseconds; undefined when it gave none lately. */
  readonly p70Ms: number | undefined;
  /** Part of its attempts that failed lately, 0..1. */
  readonly errorRate: number;
};

/** Keeps the scores of one lite server. */
export type Scores = {
  /** An attempt ended after `ms`. */
  observe(methodClass: MethodClass, ms: number, failed: boolean): void;
  of(methodClass: MethodClass): Score;
};

/** Seven of ten answers: the usual case, with neither the lucky ones nor the tail that hedging takes care of. */
const SCORE_QUANTILE = 0.7;

/** Weight of the newest attempt in the error rate: about the last ten attempts decide. */
const ERROR_WEIGHT = 0.1;

/** Not asked for this long: what is known is old, and it may be better now. It is then tried once, under the hedge's protection. */
export const SCORE_OLD_MS = 30_000;

/** Latency that is assumed of a lite server about which nothing is known and which is being asked already. */
const UNKNOWN_MS = 200;

/** Queries in flight that double the cost: a node works on a few at once (lite server sheet 1.4). */
const IN_FLIGHT_DOUBLING = 4;

/** An error costs a second attempt somewhere else: a rate of 10 % doubles the cost. */
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
      // Asked for far more often than it changes.
      record.score ??= { p70Ms: record.sketch.quantile(SCORE_QUANTILE), errorRate: record.errorRate };
      return record.score;
    },
  };
}

/**
 * What asking costs, in milliseconds: usual latency, more for each query in flight and for errors. One that nothing is known of
 * costs nothing while it is idle, so that it is tried.
 */
export function costMs({ p70Ms, errorRate }: Score, inFlight: number): number {
  if (p70Ms === undefined && inFlight === 0) return 0;
  return (p70Ms ?? UNKNOWN_MS) * (1 + inFlight / IN_FLIGHT_DOUBLING) * (1 + ERROR_COST * errorRate);
}
