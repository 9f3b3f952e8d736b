/** Kind of query to a lite server: its newest block for the pool itself, or a read for a caller. */
export type Question = 'report' | 'read';

/**
 * Health of one lite server as a value: events go in, and the permission to ask it comes out.
 *
 * ```
 * new --report--> in --failures in a row--> out --probe after the pause--> in
 *                 in --misbehaviour-------> out (longer, and never early)
 * any --other network--> rejected (for good)
 * ```
 */
export type Health = {
  /** Phase. `new`: the server has not yet shown that it serves this network. */
  readonly phase: 'new' | 'in' | 'out' | 'rejected';
  /** Reason for the phases `out` and `rejected`. */
  readonly cause: 'failures' | 'misbehaviour' | 'other_network' | undefined;
  /**
   * Consecutive failures since the last success, of each kind of query. A lite server that reports its head and is silent to reads must not stay in
   * because of its reports.
   */
  readonly failures: Readonly<Record<Question, number>>;
  /** Ejections since it last stayed in for `steadyMs`; the number sets the next pause. */
  readonly outages: number;
  /** Failed proofs in total; the number sets the next pause for misbehaviour. */
  readonly misbehaviours: number;
  /** Start of the current phase, in milliseconds of the pool's clock. */
  readonly sinceMs: number;
  /** End of the pause while `out`. */
  readonly outUntilMs: number;
};

export type HealthOptions = {
  /** Consecutive failures that eject a lite server. One may be chance, three are not. */
  readonly failuresMax: number;
  /** First pause after failures; doubles with each outage. */
  readonly outMs: number;
  /** Longest pause after failures: a lite server that recovered is back within this time. */
  readonly outMsMax: number;
  /** First pause after a failed proof; doubles with each one. */
  readonly misbehaviourOutMs: number;
  /** Longest pause after failed proofs. */
  readonly misbehaviourOutMsMax: number;
  /** Milliseconds of being in after which earlier outages no longer count. */
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

/** Health of a new lite server. */
export const unknownHealth: Health = {
  phase: 'new',
  cause: undefined,
  failures: noFailures,
  outages: 0,
  misbehaviours: 0,
  sinceMs: 0,
  outUntilMs: 0,
};

/** Records a report of a masterchain block of this network. Only a report brings a lite server in, once its pause is over. */
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

/** Records an answer, whatever its content. An answered read brings back a server that was out for failures, because it plainly works. */
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
 * Records a missing or unreadable answer.
 * @param jitter 0.8..1.2, so that pauses of many pods do not coincide
 */
export function afterFailure(
  health: Health,
  question: Question,
  nowMs: number,
  jitter: number,
  options: HealthOptions,
): Health {
  // Attempts in progress at the ejection fail one after another. They add no information.
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

/** Records complete silence during a wait. One such event is enough. */
export function afterSilence(health: Health, nowMs: number, jitter: number, options: HealthOptions): Health {
  if (health.phase !== 'in') return afterFailure(health, 'report', nowMs, jitter, options);
  const failures = { ...health.failures, report: options.failuresMax - 1 };
  return afterFailure({ ...health, failures }, 'report', nowMs, jitter, options);
}

/** Shortens a pause. If no other server is left, a server that is out for failures is probed early. */
export function readmit(health: Health, nowMs: number): Health {
  if (health.phase !== 'out' || health.cause !== 'failures') return health;
  return { ...health, outUntilMs: Math.min(health.outUntilMs, nowMs) };
}

/** Reports whether failed reads ejected it, so that reports alone cannot bring it back. */
export function isOutForReads(health: Health, options: HealthOptions): boolean {
  return health.phase === 'out' && health.cause === 'failures' && health.failures.read >= options.failuresMax;
}

/** Records an answer whose proof failed. */
export function afterMisbehaviour(health: Health, nowMs: number, options: HealthOptions): Health {
  // Lies in progress at the ejection are the same misbehaviour.
  const echoes = health.cause === 'misbehaviour' && nowMs < health.outUntilMs;
  if (health.phase === 'rejected' || echoes) return health;
  const misbehaviours = health.misbehaviours + 1;
  const pause = Math.min(
    options.misbehaviourOutMs * 2 ** Math.min(misbehaviours - 1, 30),
    options.misbehaviourOutMsMax,
  );
  return { ...health, phase: 'out', cause: 'misbehaviour', misbehaviours, sinceMs: nowMs, outUntilMs: nowMs + pause };
}

/** Records another network: the server is never asked again. */
export function afterOtherNetwork(health: Health, nowMs: number): Health {
  return { ...health, phase: 'rejected', cause: 'other_network', sinceMs: nowMs, outUntilMs: Number.POSITIVE_INFINITY };
}

function pauseMs(outages: number, jitter: number, options: HealthOptions): number {
  return Math.min(options.outMs * 2 ** Math.min(outages, 30), options.outMsMax) * jitter;
}
