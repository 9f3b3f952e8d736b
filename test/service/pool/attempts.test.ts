import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';

import { AttemptsExhausted, raceAttempts } from '#service/pool/attempts.ts';
import type { AttemptsPlan } from '#service/pool/attempts.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }));
afterEach(() => void vi.useRealTimers());

type Behaviour = 'good' | 'fail' | 'final' | 'silent' | 'slow';

/** Resolves when this many milliseconds have passed. Rejects when the signal stops it. */
function after(ms: number, answer: string, signal: AbortSignal): Promise<string> {
  return new Promise((resolve, reject) => {
    setTimeout(() => resolve(answer), ms);
    signal.addEventListener('abort', () => reject(signal.reason as Error));
  });
}

/** Lets this many milliseconds pass, with all timers of that time. */
const pass = (ms: number): Promise<unknown> => vi.advanceTimersByTimeAsync(ms);

/** Lets time pass until the race is decided, at most a minute. */
async function ended<T>(result: Promise<T>): Promise<T> {
  const isDecided = vi.fn<() => void>();
  result.then(isDecided, isDecided);
  for (let ms = 0; ms < 60_000 && isDecided.mock.calls.length === 0; ms++) await pass(1);
  return result;
}

/** Runs a race over lite servers with the given behaviours. `log` records the servers that were asked, overdue and aborted. */
function race(
  behaviours: Behaviour[],
  change: Partial<AttemptsPlan<string>> = {},
  signal = new AbortController().signal,
) {
  const log: string[] = [];
  let nextIndex = 0;
  const start = async (liteServer: number, stop: AbortSignal): Promise<string> => {
    log.push(`ask ${liteServer}`);
    stop.addEventListener('abort', () => log.push(`abort ${liteServer}`));
    switch (behaviours[liteServer]) {
      case 'good':
        return `answer ${liteServer}`;
      case 'slow':
        return after(60, `answer ${liteServer}`, stop);
      case 'silent':
        return after(10_000, '', stop);
      case 'final':
        throw new Error('final');
      default:
        throw new Error(`failed ${liteServer}`);
    }
  };
  const result = raceAttempts(
    {
      next: () => (nextIndex < behaviours.length ? nextIndex++ : undefined),
      queue: () => expect.unreachable('no server is without room'),
      start,
      isFinal: (error) => (error as Error).message === 'final',
      onSlow: () => () => undefined,
      onOverdue: (liteServer) => log.push(`overdue ${liteServer}`),
      slowAfterMs: 20,
      overdueMs: 100,
      runningMax: 2,
      now: () => performance.now(),
      ...change,
    },
    signal,
  );
  return { result, log };
}

/** Runs a race in which the lite server `fullAt` has no room until `room` is called. */
function crowdedRace(behaviours: Behaviour[], fullAt: number, change: Partial<AttemptsPlan<string>> = {}) {
  let nextIndex = 0;
  let hasRoom = false;
  let start: (() => boolean) | undefined;
  let refuse: ((error: Error) => void) | undefined;
  let left = 0;
  const scene = race(behaviours, {
    next(cause) {
      if (nextIndex >= behaviours.length) return undefined;
      if (nextIndex === fullAt && !hasRoom) return 'full';
      return cause === 'hedge' && nextIndex === fullAt ? undefined : nextIndex++;
    },
    queue(startNow, refuseNow) {
      [start, refuse] = [startNow, refuseNow];
      return () => void (left += 1);
    },
    ...change,
  });
  const room = (): boolean => {
    hasRoom = true;
    return start!();
  };
  return {
    ...scene,
    room,
    tryStart: () => start!(),
    refuse: () => refuse!(new Error('no room')),
    left: () => left,
  };
}

describe('attempts of one read', () => {
  test('the first good answer is the answer, and no further server is asked', async () => {
    const { result, log } = race(['good', 'good']);
    expect(await ended(result)).toEqual({ value: 'answer 0', liteServer: 0 });
    expect(log).toEqual(['ask 0']);
  });

  test('after a failure the next lite server is asked at once', async () => {
    const { result, log } = race(['fail', 'fail', 'good'], { slowAfterMs: 10_000 });
    expect(await ended(result)).toEqual({ value: 'answer 2', liteServer: 2 });
    expect(log).toEqual(['ask 0', 'ask 1', 'ask 2']);
  });

  test('a slow one is not given up: the faster of the two answers', async () => {
    expect(await ended(race(['slow', 'silent']).result)).toEqual({ value: 'answer 0', liteServer: 0 });
    expect(await ended(race(['slow', 'good']).result)).toEqual({ value: 'answer 1', liteServer: 1 });
  });

  test('a silent server costs the slow time, and is reported overdue and stopped after the race', async () => {
    const { result, log } = race(['silent', 'good'], { slowAfterMs: 20, overdueMs: 500 });
    const beforeMs = performance.now();
    expect((await ended(result)).liteServer).toBe(1);
    expect(performance.now() - beforeMs).toBe(20);
    expect(log).toEqual(['ask 0', 'ask 1']);
    await pass(479);
    expect(log).toEqual(['ask 0', 'ask 1']);
    await pass(1);
    expect(log).toEqual(['ask 0', 'ask 1', 'overdue 0', 'abort 0']);
  });

  test('an attempt whose process stood still has its time again, and is overdue without an answer', async () => {
    let stoodMs = 0;
    const now = (): number => performance.now() + stoodMs;
    const scenes = (['slow', 'silent'] as const).map((behaviour) =>
      race([behaviour], { slowAfterMs: 10_000, overdueMs: 35, now }),
    );
    const [slow, silent] = scenes;
    silent!.result.catch(() => undefined);
    await pass(20);
    stoodMs = 1_000;
    await pass(15 + 34);
    expect(await slow!.result).toEqual({ value: 'answer 0', liteServer: 0 });
    expect(scenes.map(({ log }) => log)).toEqual([['ask 0'], ['ask 0']]);
    await pass(1);
    expect(silent!.log).toEqual(['ask 0', 'overdue 0']);
  });

  test('many silent servers before the good one only take longer', async () => {
    const { result, log } = race(['silent', 'silent', 'silent', 'silent', 'good']);
    expect((await ended(result)).liteServer).toBe(4);
    expect(log.filter((line) => line.startsWith('ask'))).toHaveLength(5);
  });

  test('a slow attempt is reported slow until it ends', async () => {
    const reports: string[] = [];
    const onSlow = (liteServer: number) => {
      reports.push(`slow ${liteServer}`);
      return () => void reports.push(`over ${liteServer}`);
    };
    const { result } = race(['slow', 'silent'], { onSlow });
    expect((await ended(result)).liteServer).toBe(0);
    expect(reports).toEqual(['slow 0', 'slow 1', 'over 0']);
    await pass(120);
    expect(reports).toEqual(['slow 0', 'slow 1', 'over 0', 'over 1']);
  });

  test('a denied hedge leaves the read waiting, and others are asked once the first is overdue', async () => {
    const causes: string[] = [];
    let nextIndex = 0;
    const next = (cause: string) => {
      causes.push(cause);
      return cause === 'hedge' ? undefined : nextIndex++;
    };
    expect((await ended(race(['silent', 'fail', 'good'], { next, overdueMs: 60 }).result)).liteServer).toBe(2);
    expect(causes).toEqual(['first', 'hedge', 'retry', 'retry']);
  });

  test('at most the bound of attempts run at a time until one is overdue', async () => {
    const { result, log } = race(['silent', 'silent', 'good'], { overdueMs: 80 });
    await pass(79);
    expect(log).toEqual(['ask 0', 'ask 1']);
    expect((await ended(result)).liteServer).toBe(2);
  });

  test('a final error ends the read', async () => {
    const { result, log } = race(['fail', 'final', 'good']);
    await expect(result).rejects.toThrow('final');
    expect(log).toEqual(['ask 0', 'ask 1']);
  });

  test('when all attempts failed, every error is reported', async () => {
    const error = await race(['fail', 'fail']).result.catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(AttemptsExhausted);
    expect((error as AttemptsExhausted).errors.map((each) => (each as Error).message)).toEqual([
      'failed 0',
      'failed 1',
    ]);
  });

  test('a race without servers ends at once', async () => {
    await expect(race([]).result).rejects.toBeInstanceOf(AttemptsExhausted);
  });

  test('an abort stops every attempt', async () => {
    const stop = new AbortController();
    const { result, log } = race(['silent', 'silent', 'good'], { overdueMs: 10_000 }, stop.signal);
    await pass(50);
    stop.abort(new Error('enough'));
    await expect(result).rejects.toThrow('enough');
    expect(log).toEqual(['ask 0', 'ask 1', 'abort 0', 'abort 1']);
  });

  describe('where the remaining servers have no room', () => {
    test('the first attempt waits until a server has room', async () => {
      const { result, room, tryStart, log, left } = crowdedRace(['good'], 0);
      expect(tryStart()).toBe(false);
      expect(log).toEqual([]);
      expect(room()).toBe(true);
      expect((await ended(result)).liteServer).toBe(0);
      expect(left()).toBe(1);
    });

    test('a read that failed elsewhere waits too, and a refused wait is the answer', async () => {
      const { result, refuse, log } = crowdedRace(['fail', 'good'], 1);
      await pass(1);
      refuse();
      await expect(result).rejects.toThrow('no room');
      expect(log).toEqual(['ask 0']);
    });

    test('a refused wait ends nothing while an attempt may still answer', async () => {
      const { result, refuse } = crowdedRace(['fail', 'slow', 'good'], 2, { slowAfterMs: 10_000, overdueMs: 30 });
      await pass(40);
      refuse();
      expect((await ended(result)).liteServer).toBe(1);
    });

    test('the wait ends with the race', async () => {
      const { result, left } = crowdedRace(['slow', 'good'], 1, { slowAfterMs: 10_000, overdueMs: 30 });
      expect((await ended(result)).liteServer).toBe(0);
      expect(left()).toBe(1);
    });

    test('a slow server is not joined by a server without room', async () => {
      const { result, log, left } = crowdedRace(['slow', 'good'], 1, { overdueMs: 10_000 });
      expect((await ended(result)).liteServer).toBe(0);
      expect(log).toEqual(['ask 0']);
      expect(left()).toBe(0);
    });
  });
});
