import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';

import type { PoolError } from '#service/pool/errors.ts';
import { createAdmissionQueue } from '#service/pool/admission-queue.ts';
import type { Waiter, AdmissionQueueOptions } from '#service/pool/admission-queue.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }));
afterEach(() => void vi.useRealTimers());

/** Creates a line before a number of slots, by kind. `log` records the started and the refused waiters, with reasons. */
function lineBefore(room: Record<string, number>, options: Partial<AdmissionQueueOptions> = {}) {
  const log: string[] = [];
  const shed: string[] = [];
  const waited: number[] = [];
  const line = createAdmissionQueue(
    { waitersMax: 100, waitMsMax: 2_000, ...options },
    {
      now: () => performance.now(),
      onWaited: (seconds) => waited.push(seconds),
      onShed: (reason) => shed.push(reason),
    },
  );
  const join = (name: string, change: Partial<Waiter> = {}): (() => void) => {
    const { kind = 'any' } = change;
    return line.join({
      caller: name.slice(0, 1),
      isUrgent: false,
      kind,
      deadlineMs: performance.now() + 10_000,
      start() {
        if ((room[kind] ?? 0) < 1) return false;
        room[kind]! -= 1;
        log.push(name);
        return true;
      },
      refuse: ({ code, data }: PoolError) => log.push(`${name} ${code} ${data.retryAfterSeconds}`),
      ...change,
    });
  };
  const offer = (kind = 'any', places = 1): void => {
    room[kind] = (room[kind] ?? 0) + places;
    line.offer();
  };
  return { line, join, offer, log, shed, waited };
}

describe('waiters for room', () => {
  test('waiters start in turn by caller, each caller’s in order, so that a caller with many does not block others', () => {
    const { join, offer, log } = lineBefore({});
    for (const name of ['a1', 'a2', 'a3', 'b1', 'c1', 'c2']) join(name);
    offer('any', 2);
    offer('any', 3);
    offer();
    expect(log).toEqual(['a1', 'b1', 'c1', 'a2', 'c2', 'a3']);
  });

  test('waiters start after all urgent ones', () => {
    const { join, offer, log } = lineBefore({});
    join('a1');
    join('b1', { isUrgent: true });
    join('c1', { isUrgent: true });
    offer('any', 3);
    expect(log).toEqual(['b1', 'c1', 'a1']);
  });

  test('waiters do not wait behind others that find no room', () => {
    const { line, join, offer, log } = lineBefore({});
    for (const name of ['a1', 'a2', 'b1']) join(name, { kind: 'private' });
    join('a3');
    join('b2');
    offer('any', 5);
    expect(log).toEqual(['a3', 'b2']);
    expect(line.length()).toBe(3);
    offer('private', 5);
    expect(log).toEqual(['a3', 'b2', 'a1', 'b1', 'a2']);
  });

  test('waiters leave at once when they are removed, and leave no timer behind', () => {
    const { line, join, offer, log } = lineBefore({});
    const leave = join('a1');
    join('b1');
    expect(vi.getTimerCount()).toBe(2);
    leave();
    leave();
    expect([line.length(), vi.getTimerCount()]).toEqual([1, 1]);
    offer('any', 5);
    expect(log).toEqual(['b1']);
    expect([line.length(), vi.getTimerCount()]).toEqual([0, 0]);
  });

  test('waiters are refused when no room came in time', () => {
    const { line, join, log, shed } = lineBefore({}, { waitMsMax: 300 });
    join('a1');
    vi.advanceTimersByTime(299);
    expect(log).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(log).toEqual(['a1 saturated 1']);
    expect([line.length(), vi.getTimerCount(), shed]).toEqual([0, 0, ['late']]);
  });

  test('waiters are refused at once when too many wait', () => {
    const { join, log, shed } = lineBefore({}, { waitersMax: 2 });
    for (const name of ['a1', 'b1', 'c1']) join(name);
    expect(log).toEqual(['c1 saturated 1']);
    expect(shed).toEqual(['full']);
    expect(vi.getTimerCount()).toBe(2);
  });

  test('waiters are refused at once when at the pace of the last second their turn comes too late, with a time to retry', () => {
    const { join, offer, log, shed, waited } = lineBefore({});
    for (let count = 0; count < 30; count += 1) join(`a${count}`);
    // A waiter starts each 100 ms.
    for (let count = 0; count < 11; count += 1) {
      vi.advanceTimersByTime(100);
      offer();
    }
    expect(waited[10]).toBeCloseTo(1.1);
    log.length = 0;
    join('b1', { deadlineMs: performance.now() + 1_000 });
    // In the measured second nine waiters started, and 19 wait: 2.1 s.
    expect(log).toEqual(['b1 saturated 3']);
    expect(shed).toEqual(['hopeless']);
    join('d1', { isUrgent: true, deadlineMs: performance.now() + 1_000 });
    expect(log).toHaveLength(1);
    offer('any', 100);
    join('e1', { deadlineMs: performance.now() + 10 });
    expect(log.filter((line) => line.includes('saturated'))).toHaveLength(1);
  });

  test('waiters are all refused when the pool closes', () => {
    const { line, join, log } = lineBefore({});
    join('a1');
    join('b1', { isUrgent: true });
    line.close();
    expect(log.toSorted()).toEqual(['a1 closed undefined', 'b1 closed undefined']);
    expect([line.length(), vi.getTimerCount()]).toEqual([0, 0]);
  });
});
