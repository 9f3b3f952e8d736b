import { setTimeout as delay } from 'node:timers/promises';

import { describe, expect, test } from 'vitest';

import { AttemptsExhausted, raceAttempts } from '#service/pool/attempts.ts';
import type { AttemptsPlan } from '#service/pool/attempts.ts';

type Behaviour = 'good' | 'fail' | 'final' | 'silent' | 'slow';

/** A race over lite servers that behave as given; `log` tells who was asked, who was overdue and whose attempt was aborted. */
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
        return delay(60, `answer ${liteServer}`, { signal: stop });
      case 'silent':
        return delay(10_000, '', { signal: stop });
      case 'final':
        throw new Error('final');
      default:
        throw new Error(`failed ${liteServer}`);
    }
  };
  const result = raceAttempts(
    {
      next: () => (nextIndex < behaviours.length ? nextIndex++ : undefined),
      queue: () => expect.unreachable('nobody said that there is no room'),
      start,
      isFinal: (error) => (error as Error).message === 'final',
      onSlow: () => () => undefined,
      onOverdue: (liteServer) => log.push(`overdue ${liteServer}`),
      slowAfterMs: 20,
      overdueMs: 100,
      runningMax: 2,
      ...change,
    },
    signal,
  );
  return { result, log };
}

describe('attempts of one read', () => {
  test('the first good answer is the answer, and nobody else is asked', async () => {
    const { result, log } = race(['good', 'good']);
    expect(await result).toEqual({ value: 'answer 0', liteServer: 0 });
    expect(log).toEqual(['ask 0']);
  });

  test('after a failure the next lite server is asked at once', async () => {
    const { result, log } = race(['fail', 'fail', 'good'], { slowAfterMs: 10_000 });
    expect(await result).toEqual({ value: 'answer 2', liteServer: 2 });
    expect(log).toEqual(['ask 0', 'ask 1', 'ask 2']);
  });

  test('a slow one is not given up: the faster of the two answers', async () => {
    expect(await race(['slow', 'silent']).result).toEqual({ value: 'answer 0', liteServer: 0 });
    expect(await race(['slow', 'good']).result).toEqual({ value: 'answer 1', liteServer: 1 });
  });

  test('a silent one costs the slow time, and is told overdue and stopped after the race', async () => {
    const { result, log } = race(['silent', 'good']);
    const before = performance.now();
    expect((await result).liteServer).toBe(1);
    expect(performance.now() - before).toBeLessThan(90);
    expect(log).toEqual(['ask 0', 'ask 1']);
    await delay(120);
    expect(log).toEqual(['ask 0', 'ask 1', 'overdue 0', 'abort 0']);
  });

  test('many silent ones before the good one only take longer', async () => {
    const { result, log } = race(['silent', 'silent', 'silent', 'silent', 'good']);
    expect((await result).liteServer).toBe(4);
    expect(log.filter((line) => line.startsWith('ask'))).toHaveLength(5);
  });

  test('a slow one is told so until its attempt ends', async () => {
    const told: string[] = [];
    const onSlow = (liteServer: number) => {
      told.push(`slow ${liteServer}`);
      return () => void told.push(`over ${liteServer}`);
    };
    const { result } = race(['slow', 'silent'], { onSlow });
    expect((await result).liteServer).toBe(0);
    expect(told).toEqual(['slow 0', 'slow 1', 'over 0']);
    await delay(120);
    expect(told).toEqual(['slow 0', 'slow 1', 'over 0', 'over 1']);
  });

  test('a hedge that is refused leaves the read waiting, and others are asked once the first is overdue', async () => {
    const causes: string[] = [];
    let nextIndex = 0;
    const next = (cause: string) => {
      causes.push(cause);
      return cause === 'hedge' ? undefined : nextIndex++;
    };
    expect((await race(['silent', 'fail', 'good'], { next, overdueMs: 60 }).result).liteServer).toBe(2);
    expect(causes).toEqual(['first', 'hedge', 'retry', 'retry']);
  });

  test('no more than the bound run at a time until one is overdue', async () => {
    const { result, log } = race(['silent', 'silent', 'good'], { overdueMs: 80 });
    await delay(60);
    expect(log).toEqual(['ask 0', 'ask 1']);
    expect((await result).liteServer).toBe(2);
  });

  test('a final error ends the read', async () => {
    const { result, log } = race(['fail', 'final', 'good']);
    await expect(result).rejects.toThrow('final');
    expect(log).toEqual(['ask 0', 'ask 1']);
  });

  test('when all failed, every error is told', async () => {
    const error = await race(['fail', 'fail']).result.catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(AttemptsExhausted);
    expect((error as AttemptsExhausted).errors.map((each) => (each as Error).message)).toEqual([
      'failed 0',
      'failed 1',
    ]);
  });

  test('with nobody to ask it ends at once', async () => {
    await expect(race([]).result).rejects.toBeInstanceOf(AttemptsExhausted);
  });

  test('an abort stops every attempt', async () => {
    const stop = new AbortController();
    const { result, log } = race(['silent', 'silent', 'good'], { overdueMs: 10_000 }, stop.signal);
    await delay(50);
    stop.abort(new Error('enough'));
    await expect(result).rejects.toThrow('enough');
    expect(log).toEqual(['ask 0', 'ask 1', 'abort 0', 'abort 1']);
  });
});
