import { describe, expect, test } from 'vitest';

import {
  afterFailure,
  afterMisbehaviour,
  afterOtherNetwork,
  readmit,
  afterReport,
  afterSilence,
  afterSuccess,
  healthDefaults as options,
  isOutForReads,
  unknownHealth,
} from '#service/pool/health.ts';
import type { Health } from '#service/pool/health.ts';

const healthy = afterReport(unknownHealth, 0, options);

function failing(health: Health, times: number, nowMs: number): Health {
  for (let i = 0; i < times; i += 1) health = afterFailure(health, 'read', nowMs, 1, options);
  return health;
}

describe('health of a lite server', () => {
  test('a lite server without a report is not in, and its first report brings it in', () => {
    expect(unknownHealth.phase).toBe('new');
    expect(afterSuccess(unknownHealth, 'read', 1, options).phase).toBe('new');
    expect(healthy.phase).toBe('in');
  });

  test('consecutive failures eject a lite server, fewer do not', () => {
    expect(failing(healthy, options.failuresMax - 1, 10).phase).toBe('in');
    expect(failing(healthy, options.failuresMax, 10)).toMatchObject({
      phase: 'out',
      cause: 'failures',
      outUntilMs: 10 + options.outMs,
    });
  });

  test('a success in between restarts the count', () => {
    const shaken = afterSuccess(failing(healthy, options.failuresMax - 1, 10), 'read', 11, options);
    expect(failing(shaken, options.failuresMax - 1, 12).phase).toBe('in');
  });

  test('reports of a lite server do not make up for unanswered reads, nor the reverse', () => {
    let health = healthy;
    for (let i = 0; i < options.failuresMax; i += 1) {
      health = afterSuccess(afterFailure(health, 'read', i, 1, options), 'report', i, options);
    }
    expect(health.phase).toBe('out');
    health = healthy;
    for (let i = 0; i < options.failuresMax; i += 1) {
      health = afterSuccess(afterFailure(health, 'report', i, 1, options), 'read', i, options);
    }
    expect(health.phase).toBe('in');
    expect(health.outages).toBe(1);
  });

  test('attempts that fail after the ejection do not prolong the pause, a failed probe does', () => {
    const out = failing(healthy, options.failuresMax, 0);
    expect(failing(out, 50, options.outMs - 1)).toEqual(out);
    expect(afterFailure(out, 'report', options.outMs, 1, options)).toMatchObject({
      phase: 'out',
      outUntilMs: options.outMs + options.outMs * 2,
    });
  });

  test('a report brings a lite server back only after its pause, an answered read at once', () => {
    const out = failing(healthy, options.failuresMax, 0);
    expect(afterReport(out, options.outMs - 1, options).phase).toBe('out');
    expect(afterReport(out, options.outMs, options).phase).toBe('in');
    expect(afterSuccess(out, 'read', 1, options).phase).toBe('in');
  });

  test('pauses double up to the longest, and are reset after a steady time', () => {
    let health = healthy;
    const pauses: number[] = [];
    let nowMs = 0;
    for (let i = 0; i < 7; i += 1) {
      health = failing(health, options.failuresMax, nowMs);
      pauses.push(health.outUntilMs - nowMs);
      nowMs = health.outUntilMs;
      health = afterReport(health, nowMs, options);
    }
    expect(pauses).toEqual([500, 1000, 2000, 4000, 4000, 4000, 4000]);
    const steady = afterSuccess(health, 'read', nowMs + options.steadyMs, options);
    expect(failing(steady, options.failuresMax, nowMs + options.steadyMs).outUntilMs).toBe(
      nowMs + options.steadyMs + options.outMs,
    );
  });

  test('jitter lengthens and shortens the pause', () => {
    const shaken = failing(healthy, options.failuresMax - 1, 0);
    expect(afterFailure(shaken, 'read', 0, 0.8, options).outUntilMs).toBe(options.outMs * 0.8);
    expect(afterFailure(shaken, 'read', 0, 1.2, options).outUntilMs).toBe(options.outMs * 1.2);
  });

  test('misbehaviour ejects a lite server at once, longer each time, and no answer shortens it', () => {
    const first = afterMisbehaviour(healthy, 0, options);
    expect(first).toMatchObject({ phase: 'out', cause: 'misbehaviour', outUntilMs: options.misbehaviourOutMs });
    expect(afterSuccess(first, 'read', 1, options).phase).toBe('out');
    expect(afterReport(first, options.misbehaviourOutMs - 1, options).phase).toBe('out');
    expect(afterFailure(first, 'read', 1, 1, options)).toMatchObject({
      cause: 'misbehaviour',
      outUntilMs: options.misbehaviourOutMs,
    });
    expect(afterMisbehaviour(first, 1, options)).toBe(first);
    const back = afterReport(first, options.misbehaviourOutMs, options);
    expect(back.phase).toBe('in');
    expect(afterMisbehaviour(back, 0, options).outUntilMs).toBe(options.misbehaviourOutMs * 2);
    expect(afterMisbehaviour({ ...back, misbehaviours: 50 }, 0, options).outUntilMs).toBe(options.misbehaviourOutMsMax);
  });

  test('silence ejects a lite server at once, and later silence prolongs the pause', () => {
    const out = afterSilence(healthy, 10, 1, options);
    expect(out).toMatchObject({ phase: 'out', cause: 'failures', outUntilMs: 10 + options.outMs });
    expect(isOutForReads(out, options)).toBe(false);
    const probedMs = 10 + options.outMs;
    expect(afterSilence(out, probedMs, 1, options).outUntilMs).toBe(probedMs + 2 * options.outMs);
  });

  test('a pardon ends the pause for failures, and no pause for misbehaviour', () => {
    const out = failing(healthy, options.failuresMax, 0);
    expect(isOutForReads(out, options)).toBe(true);
    expect(afterReport(readmit(out, 1), 1, options).phase).toBe('in');
    const liar = afterMisbehaviour(healthy, 0, options);
    expect(readmit(liar, 1)).toBe(liar);
    expect(readmit(healthy, 1)).toBe(healthy);
  });

  test('a lite server of another network never comes back', () => {
    let health = afterOtherNetwork(healthy, 5);
    health = afterMisbehaviour(health, 6, options);
    health = afterFailure(health, 'read', 7, 1, options);
    health = afterSuccess(health, 'read', 8, options);
    health = afterReport(health, 1e12, options);
    expect(health).toMatchObject({ phase: 'rejected', cause: 'other_network' });
  });
});
