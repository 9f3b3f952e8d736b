/**
 * Health of one lite server as a value: what happened goes in, whether it may be asked comes out.
 *
 * ```
 * new --report--> in --failures in a row--> out --report after the pause--> in
 *                 in --misbehaviour-------> out (longer, and never early)
 * any --other network--> rejected (for good)
 * ```
 */
export type Health = {
  /** `new`: has not yet shown that it serves our network. */
  readonly phase: 'new' | 'in' | 'out' | 'rejected';
  /** Why it is out or rejected. */
  readonly cause: 'failures' | 'misbehaviour' | 'other_network' | undefined;
  /** Failures in a row since the last success. */
  readonly failures: number;
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
  outMsMax: 8_000,
  misbehaviourOutMs: 60_000,
  misbehaviourOutMsMax: 3_600_000,
  steadyMs: 30_000,
};

/** A lite server of which nothing is known yet. */
export const unknownHealth: Health = {
  phase: 'new',
  cause: undefined,
  failures: 0,
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
      return afterSuccess(health, nowMs, options);
    case 'out':
      if (nowMs < health.outUntilMs) return health;
  }
  return { ...health, phase: 'in', cause: undefined, failures: 0, sinceMs: nowMs };
}

/** It answered a query, whatever the answer says. Brings back one that was out for failures: it plainly works. */
export function afterSuccess(health: Health, nowMs: number, options: HealthOptions): Health {
  if (health.phase === 'out' && health.cause === 'failures') {
    return { ...health, phase: 'in', cause: undefined, failures: 0, sinceMs: nowMs };
  }
  if (health.phase !== 'in') return health;
  const steady = nowMs - health.sinceMs >= options.steadyMs;
  if (health.failures === 0 && (!steady || health.outages === 0)) return health;
  return { ...health, failures: 0, outages: steady ? 0 : health.outages };
}

/** It did not answer, or answered what cannot be read. @param jitter 0.8..1.2: pauses of many pods must not fall together */
export function afterFailure(health: Health, nowMs: number, jitter: number, options: HealthOptions): Health {
  if (health.phase === 'rejected') return health;
  const failures = health.failures + 1;
  const goesOut = health.phase !== 'in' || failures >= options.failuresMax;
  if (!goesOut) return { ...health, failures };
  if (health.phase === 'new') {
    return {
      ...health,
      failures,
      outages: health.outages + 1,
      outUntilMs: nowMs + pauseMs(health.outages, jitter, options),
    };
  }
  return {
    ...health,
    phase: 'out',
    cause: health.cause === 'misbehaviour' ? 'misbehaviour' : 'failures',
    failures,
    outages: health.outages + 1,
    sinceMs: health.phase === 'out' ? health.sinceMs : nowMs,
    outUntilMs: Math.max(health.outUntilMs, nowMs + pauseMs(health.outages, jitter, options)),
  };
}

/** It gave an answer whose proof failed. */
export function afterMisbehaviour(health: Health, nowMs: number, options: HealthOptions): Health {
  if (health.phase === 'rejected') return health;
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
