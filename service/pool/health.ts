/** What a lite server was asked: its newest block by the pool itself, or a read for a caller. */
export type Question = 'report' | 'read';

/**
 * Health of one lite server as a value: what happened goes in, whether it may be asked comes out.
 *
 * ```
 * new --report--> in --failures in a row--> out --probe after the pause--> in
 *                 in --misbehaviour-------> out (longer, and never early)
 * any --other network--> rejected (for good)
 * ```
 */
export type Health = {
  /** `new`: has not yet shown that it serves our network. */
  readonly phase: 'new' | 'in' | 'out' | 'rejected';
  /** Why it is out or rejected. */
  readonly cause: 'failures' | 'misbehaviour' | 'other_network' | undefined;
  /**
   * Failures in a row since the last success, of each kind of question: a lite server that reports its head and is silent to reads
   * must not be kept in by its reports.
   */
  readonly failures: Readonly<Record<Question, number>>;
  /** Times it went out since it last stayed in for `steadyMs`; sets the next pause. */
  readonly outages: number;
  /** Failed proofs ever; sets the length of the next pause for misbehaviour. */
  readonly misbehaviours: number;
  /** Start of the current phase, ms of the pool's clock. */
  readonly sinceMs: number;
  /** Not asked again before this moment while `out`. */
  readonly outUntilMs: number;
};

export type HealthOptions = {
  /** This many failures in a row put a lite server out: one may be chance, three are not. */
  readonly failuresMax: number;
  /** First pause after failures; doubles with each outage. */
  readonly outMs: number;
  /** Longest pause after failures: a lite server that recovered is back within this time. */
  readonly outMsMax: number;
  /** First pause after a failed proof; doubles with each one. */
  readonly misbehaviourOutMs: number;
  /** Longest pause after failed proofs. */
  readonly misbehaviourOutMsMax: number;
  /** In for this long: earlier outages are forgotten. */
  readonly steadyMs: number;
};

export const healthDefaults: HealthOptions = {
  failuresMax: 3,
  outMs: 500,
  outMsMax: 4_000,
  misbehaviourOutMs: 60_000,
  misbehaviourOutMsMax: 3_600_000,
  steadyMs: 30_000,
};

const noFailures = { report: 0, read: 0 } as const;

/** A lite server of which nothing is known yet. */
export const unknownHealth: Health = {
  phase: 'new',
  cause: undefined,
  failures: noFailures,
  outages: 0,
  misbehaviours: 0,
  sinceMs: 0,
  outUntilMs: 0,
};

/** It reported a masterchain block of our network: the one thing that brings a lite server in, once its pause is over. */
export function afterReport(health: Health, nowMs: number, options: HealthOptions): Health {
  switch (health.phase) {
    case 'rejected':
      return health;
    case 'in':
      return afterSuccess(health, 'report', nowMs, options);
    case 'out':
      if (nowMs < health.outUntilMs) return health;
  }
  return { ...health, phase: 'in', cause: undefined, failures: noFailures, sinceMs: nowMs };
}

/** It answered, whatever the answer says. An answered read brings back one that was out for failures: it plainly works. */
export function afterSuccess(health: Health, question: Question, nowMs: number, options: HealthOptions): Health {
  if (health.phase === 'out' && health.cause === 'failures' && question === 'read') {
    return { ...health, phase: 'in', cause: undefined, failures: noFailures, sinceMs: nowMs };
  }
  if (health.phase !== 'in') return health;
  const forgets = health.outages > 0 && nowMs - health.sinceMs >= options.steadyMs;
  if (health.failures[question] === 0 && !forgets) return health;
  return { ...health, failures: { ...health.failures, [question]: 0 }, outages: forgets ? 0 : health.outages };
}

/**
 * It did not answer, or answered what cannot be read.
 * @param jitter 0.8..1.2: pauses of many pods must not fall together
 */
export function afterFailure(
  health: Health,
  question: Question,
  nowMs: number,
  jitter: number,
  options: HealthOptions,
): Health {
  // Attempts that were under way when it went out fail one after another: they say nothing new.
  const echoes = health.phase !== 'in' && nowMs < health.outUntilMs;
  if (health.phase === 'rejected' || echoes) return health;
  const failures = { ...health.failures, [question]: health.failures[question] + 1 };
  if (health.phase === 'in' && failures[question] < options.failuresMax) return { ...health, failures };
  const paused = {
    ...health,
    failures,
    outages: health.outages + 1,
    outUntilMs: nowMs + pauseMs(health.outages, jitter, options),
  };
  if (health.phase !== 'in') return paused;
  return { ...paused, phase: 'out', cause: 'failures', sinceMs: nowMs };
}

/** Nothing at all came from it while it was waited for: no need to see that twice. */
export function afterSilence(health: Health, nowMs: number, jitter: number, options: HealthOptions): Health {
  if (health.phase !== 'in') return afterFailure(health, 'report', nowMs, jitter, options);
  const failures = { ...health.failures, report: options.failuresMax - 1 };
  return afterFailure({ ...health, failures }, 'report', nowMs, jitter, options);
}

/** Nobody else is left: one that is out for failures need not wait for the end of its pause to be probed. */
export function afterPardon(health: Health, nowMs: number): Health {
  if (health.phase !== 'out' || health.cause !== 'failures') return health;
  return { ...health, outUntilMs: Math.min(health.outUntilMs, nowMs) };
}

/** It went out because reads failed, so that its reports alone cannot bring it back. */
export function isOutForReads(health: Health, options: HealthOptions): boolean {
  return health.phase === 'out' && health.cause === 'failures' && health.failures.read >= options.failuresMax;
}

/** It gave an answer whose proof failed. */
export function afterMisbehaviour(health: Health, nowMs: number, options: HealthOptions): Health {
  // Lies that were under way when it was caught are the same misbehaviour.
  const echoes = health.cause === 'misbehaviour' && nowMs < health.outUntilMs;
  if (health.phase === 'rejected' || echoes) return health;
  const misbehaviours = health.misbehaviours + 1;
  const pause = Math.min(
    options.misbehaviourOutMs * 2 ** Math.min(misbehaviours - 1, 30),
    options.misbehaviourOutMsMax,
  );
  return { ...health, phase: 'out', cause: 'misbehaviour', misbehaviours, sinceMs: nowMs, outUntilMs: nowMs + pause };
}

/** It serves another network: never asked again. */
export function afterOtherNetwork(health: Health, nowMs: number): Health {
  return { ...health, phase: 'rejected', cause: 'other_network', sinceMs: nowMs, outUntilMs: Number.POSITIVE_INFINITY };
}

function pauseMs(outages: number, jitter: number, options: HealthOptions): number {
  return Math.min(options.outMs * 2 ** Math.min(outages, 30), options.outMsMax) * jitter;
}
