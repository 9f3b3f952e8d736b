import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { createAddresses } from '#service/limits/addresses.ts';
import { spend, takeSlot } from '#service/limits/budget.ts';
import type { LimitPlan } from '#service/limits/options.ts';
import { heapBytes } from '#test/support/garbage.ts';

const startUs = 1_795_270_000_000_000;

const plan: LimitPlan = {
  name: 'anonymous',
  requestsPerSecond: 1,
  burst: 3,
  requestsPerDay: 10,
  maxConcurrent: null,
  methodCosts: {},
};

describe('the budgets of addresses', () => {
  it('the number of cached budgets stays within its bound, whatever number of addresses comes', () => {
    const addresses = createAddresses(plan, 100, 1);
    for (let index = 0; index < 10_000; index++)
      spendAndRelease(addresses, `192.0.${index >> 8}.${index & 255}`, startUs);
    expect(addresses.size).toBe(100);
  });

  it('an evicted caller never gets more than a cached caller', () => {
    const step = fc.record({ pauseUs: fc.integer({ min: 0, max: 400_000 }), caller: fc.integer({ min: 0, max: 7 }) });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), fc.integer(), (steps, seed) => {
        const forgetful = createAddresses(plan, 2, seed);
        const perfect = createAddresses(plan, 1000, seed);
        const granted = new Map<number, [number, number]>();
        let nowUs = startUs;
        for (const { pauseUs, caller } of steps) {
          nowUs += pauseUs;
          const [less, more] = granted.get(caller) ?? [0, 0];
          granted.set(caller, [
            less + Number(spendAndRelease(forgetful, `caller ${caller}`, nowUs)),
            more + Number(spendAndRelease(perfect, `caller ${caller}`, nowUs)),
          ]);
        }
        for (const [less, more] of granted.values()) expect(less).toBeLessThanOrEqual(more);
      }),
      { seed: 20_261_121, numRuns: 300 },
    );
  });

  it('a caller that comes back after eviction has exactly the budget it had left', () => {
    const addresses = createAddresses(plan, 1, 1);
    expect([1, 2, 3, 4].map(() => spendAndRelease(addresses, 'busy', startUs))).toEqual([true, true, true, false]);
    spendAndRelease(addresses, 'other', startUs);
    expect(addresses.size).toBe(1);
    expect(spendAndRelease(addresses, 'busy', startUs + 999_999)).toBe(false);
    spendAndRelease(addresses, 'other', startUs + 999_999);
    expect(spendAndRelease(addresses, 'busy', startUs + 1_000_000)).toBe(true);
  });

  it('a flood of new addresses takes a few microseconds each', () => {
    const addresses = createAddresses(plan, 50_000, 1);
    for (let index = 0; index < 50_000; index++) addresses.budget(`before ${index}`, startUs);
    const rounds = 100_000;
    const before = process.threadCpuUsage();
    for (let index = 0; index < rounds; index++) spendAndRelease(addresses, `new ${index}`, startUs);
    const { user, system } = process.threadCpuUsage(before);
    expect((user + system) / rounds).toBeLessThan(10);
    expect(addresses.size).toBe(50_000);
  });

  it('a million requests of few callers leave no memory behind, before any eviction and after one', () => {
    for (const max of [50_000, 2]) {
      const addresses = createAddresses(plan, max, 1);
      const request = (index: number): unknown => addresses.budget(`caller ${index % 3 === 0 ? 0 : 1}`, startUs);
      for (const caller of ['a', 'b', 'c']) addresses.budget(caller, startUs);
      request(0);
      const before = heapBytes();
      for (let index = 0; index < 1_000_000; index++) request(index);
      expect(heapBytes() - before).toBeLessThan(2_000_000);
    }
  });

  it('the count of the day survives an eviction', () => {
    const addresses = createAddresses(plan, 1, 1);
    let granted = 0;
    for (let second = 0; second < 60; second++) {
      granted += Number(spendAndRelease(addresses, 'busy', startUs + second * 1_000_000));
      spendAndRelease(addresses, 'other', startUs + second * 1_000_000);
    }
    expect(granted).toBe(10);
  });

  it('a caller is not evicted while a request of it runs', () => {
    const addresses = createAddresses(plan, 1, 1);
    const running = addresses.budget('running', startUs);
    spend(running, plan, startUs, 1);
    takeSlot(running, plan);
    for (const other of ['a', 'b', 'c']) addresses.budget(other, startUs);
    expect(addresses.budget('running', startUs)).toBe(running);
    running.inFlight -= 1;
    addresses.budget('d', startUs);
    addresses.budget('e', startUs);
    expect(addresses.size).toBeLessThanOrEqual(2);
  });
});

function spendAndRelease(addresses: ReturnType<typeof createAddresses>, subject: string, nowUs: number): boolean {
  const budget = addresses.budget(subject, nowUs);
  return spend(budget, plan, nowUs, 1) === undefined;
}
