import { pino } from 'pino';
import { expect, test } from 'vitest';

import { createRetry, pauseMs } from '#service/runtime/retry.ts';

function retryUnderTest(isFinal: (error: unknown) => boolean = () => false) {
  const log: { attempts: number }[] = [];
  const failures: string[] = [];
  const logger = pino(
    { level: 'warn' },
    { write: (line: string) => void log.push(JSON.parse(line) as { attempts: number }) },
  );
  const retry = createRetry({
    logger,
    random: () => 0,
    unixMs: () => 1_000,
    onFailure: (stage) => void failures.push(stage),
    isFinal,
  });
  return { retry, log, failures };
}

const signal = new AbortController().signal;

test('work that fails is done again until it succeeds, and shown as trouble until then', async () => {
  const { retry, failures } = retryUnderTest();
  let attempts = 0;
  const seen: unknown[] = [];
  const value = await retry.run(
    'read',
    7,
    async () => {
      attempts += 1;
      seen.push(retry.troubles());
      if (attempts < 3) throw new Error(`attempt ${attempts}`);
      return 'done';
    },
    signal,
  );
  expect(value).toBe('done');
  expect(failures).toEqual(['read', 'read']);
  expect(seen).toEqual([
    [],
    [{ what: 'read 7', attempts: 1, sinceMs: 1_000, error: 'attempt 1' }],
    [{ what: 'read 7', attempts: 2, sinceMs: 1_000, error: 'attempt 2' }],
  ]);
  expect(retry.troubles()).toEqual([]);
});

test('what is final is thrown at once', async () => {
  const { retry, failures } = retryUnderTest(() => true);
  const work = retry.run('write', 1, () => Promise.reject(new Error('for good')), signal);
  await expect(work).rejects.toThrow('for good');
  expect(failures).toEqual([]);
});

test('the signal ends the pauses, with its own reason', async () => {
  const { retry } = retryUnderTest();
  const ended = new AbortController();
  const work = retry.run('write', 1, () => Promise.reject(new Error('away')), ended.signal);
  ended.abort(new Error('closing'));
  await expect(work).rejects.toThrow('closing');
  expect(retry.troubles()).toEqual([]);
});

test('pauses double up to five seconds, and are spread', () => {
  expect([1, 2, 3, 10, 1_000].map((attempts) => pauseMs(attempts, () => 1))).toEqual([100, 200, 400, 5_000, 5_000]);
  expect(pauseMs(3, () => 0)).toBe(200);
});
