import { describe, expect, it, vi } from 'vitest';

import { newBudget } from '#service/limits/budget.ts';
import type { RedisMetrics } from '#service/limits/metrics.ts';
import type { OnRedisFailure } from '#service/limits/options.ts';
import type { RedisSession } from '#service/limits/redis/redis-session.ts';
import { createSharedConcurrency } from '#service/limits/redis/shared-concurrency.ts';

import { planOf } from './shared-setup.ts';

type Scene = {
  readonly isHere?: boolean;
  readonly pods?: number;
  readonly rule?: OnRedisFailure;
  /** Answer of Redis to a question for a slot. */
  readonly answer?: () => Promise<readonly number[]>;
};

/** The shared slots of one subject, and the questions that Redis was asked. */
function slots({ isHere = true, pods = 1, rule = 'Local', answer = async () => [1, 0] }: Scene = {}) {
  const asked: string[] = [];
  const store = {
    here: isHere,
    pods,
    questions: () => ({
      async ask(_key: string, argument: string) {
        asked.push(argument);
        return answer();
      },
    }),
  } as unknown as RedisSession;
  const malformed = vi.fn<RedisMetrics['malformed']>();
  const metrics = { malformed } as unknown as RedisMetrics;
  const shared = createSharedConcurrency({ api: 'test', pod: 'one', rule: () => rule }, { store, metrics });
  const budget = newBudget(0);
  const plan = planOf({ maxConcurrent: 4 });
  return {
    budget,
    asked,
    malformed,
    take: async (nowUs = 0, of = plan) => (await shared.takeSlot('subject', budget, of, nowUs))?.reason ?? 'granted',
    free: (of = plan) => shared.freeSlot('subject', budget, of),
    close: shared.close,
  };
}

const turn = (): Promise<void> => new Promise((done) => void setImmediate(done));

describe('slots under maxConcurrent', () => {
  it('a plan without the limit asks nobody', async () => {
    const { take, free, asked, budget, close } = slots();
    const unlimited = planOf();
    expect([await take(0, unlimited), budget.inFlight]).toEqual(['granted', 1]);
    free(unlimited);
    await turn();
    expect([asked, budget.inFlight]).toEqual([[], 0]);
    close();
  });

  it('a pod that has all slots itself asks nobody', async () => {
    const { take, asked, close } = slots();
    for (let slot = 0; slot < 4; slot++) expect(await take()).toBe('granted');
    expect([await take(), asked]).toEqual(['concurrency', ['1,4', '2,4', '3,4', '4,4']]);
    close();
  });

  it('after a refusal Redis is asked again 50 ms later, or when a slot of this pod is free', async () => {
    const answers = [1, 0, 0, 1];
    const { take, free, asked, budget, close } = slots({ answer: async () => [answers.shift() ?? -1, 0] });
    const asks = (): number => asked.filter((argument) => argument.endsWith(',4')).length;
    expect([await take(0), await take(0), await take(49_999)]).toEqual(['granted', 'concurrency', 'concurrency']);
    expect([asks(), budget.inFlight]).toEqual([2, 1]);
    expect([await take(50_000), asks()]).toEqual(['concurrency', 3]);
    free();
    expect([await take(50_001), asks()]).toEqual(['granted', 4]);
    await turn();
    expect(asked.at(-1)).toBe('1,-1');
    close();
  });

  it('slots that are freed in one turn are one report', async () => {
    const { take, free, asked, close } = slots();
    await take();
    await take();
    free();
    free();
    await turn();
    expect(asked).toEqual(['1,4', '2,4', '0,-1']);
    close();
  });

  it('an answer of another form counts as malformed', async () => {
    const { take, malformed, close } = slots({ answer: async () => [1, 1] });
    expect([await take(), malformed.mock.calls]).toEqual(['granted', [['places']]]);
    close();
  });

  it('an empty answer is a refusal', async () => {
    const { take, close } = slots({ answer: async () => [] });
    expect(await take()).toBe('concurrency');
    close();
  });

  describe.each([
    ['is away', { isHere: false }],
    ['does not answer', { answer: () => Promise.reject(new Error('slow')) }],
  ])('while Redis %s', (_what, scene) => {
    it.each([
      ['Open', 1, ['granted', 'granted', 'granted', 'granted', 'concurrency']],
      ['Closed', 1, ['unavailable', 'unavailable', 'unavailable', 'unavailable', 'unavailable']],
      ['Local', 2, ['granted', 'granted', 'concurrency', 'concurrency', 'concurrency']],
      ['Local', 9, ['granted', 'concurrency', 'concurrency', 'concurrency', 'concurrency']],
    ] as const)('rule %s, %i pods: five requests at once are %j', async (rule, pods, expected) => {
      const { take, budget, close } = slots({ ...scene, rule, pods });
      const found: string[] = [];
      for (let request = 0; request < 5; request++) found.push(await take());
      expect(found).toEqual(expected);
      expect(budget.inFlight).toBe(expected.filter((one) => one === 'granted').length);
      close();
    });
  });
});
