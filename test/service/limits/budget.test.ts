import { describe, expect, it } from 'vitest';

import { bucketFullAt, putBack, TOKEN } from '#service/limits/bucket.ts';
import {
  budgetFrom,
  DAY_US,
  giveBack,
  isUnused,
  newBudget,
  remainsOf,
  spend,
  takeSlot,
  timesPlan,
} from '#service/limits/budget.ts';
import type { LimitPlan } from '#service/limits/options.ts';
import { schemaOf } from '#test/service/crds/definitions.ts';
import { readSources } from '#test/style/sources.ts';

const planOf = (more: Partial<LimitPlan> = {}): LimitPlan => ({
  name: 'pro',
  requestsPerSecond: 10,
  burst: 20,
  requestsPerDay: 100,
  maxConcurrent: 5,
  methodCosts: {},
  ...more,
});
const onlyRate = planOf({ requestsPerDay: null, maxConcurrent: null });
const onlyDay = planOf({ requestsPerSecond: 0, maxConcurrent: null });

/** A time in the middle of a day. */
const NOON = 20_000 * DAY_US + DAY_US / 2;

describe('a plan for several subjects', () => {
  it('a plan for several subjects has the rates and bounds of all of them, and no bound stays none', () => {
    expect(timesPlan(planOf(), 3)).toEqual(
      planOf({ requestsPerSecond: 30, burst: 60, requestsPerDay: 300, maxConcurrent: 15 }),
    );
    expect(timesPlan(onlyRate, 3)).toEqual({ ...onlyRate, requestsPerSecond: 30, burst: 60 });
  });
});

describe('unused tokens', () => {
  it('unused tokens fill a bucket no further than full', () => {
    expect(putBack({ deficit: TOKEN, updatedUs: NOON }, 3)).toEqual({ deficit: 0, updatedUs: NOON });
  });

  it('unused tokens that come back after midnight take nothing from the use of the new day', () => {
    const budget = newBudget(NOON);
    giveBack(budget, 4);
    expect(budget.usedToday).toBe(0);
    spend(budget, onlyDay, NOON, 6);
    giveBack(budget, 4);
    expect(budget.usedToday).toBe(2);
  });
});

describe('a budget that equals a new one', () => {
  it('a new budget is unused', () => {
    expect(isUnused(newBudget(NOON), planOf(), NOON)).toBe(true);
  });

  it('a budget with a running request is used, and is unused after its end', () => {
    const budget = newBudget(NOON);
    takeSlot(budget, planOf());
    expect(isUnused(budget, planOf(), NOON)).toBe(false);
    budget.inFlight -= 1;
    expect(isUnused(budget, planOf(), NOON)).toBe(true);
  });

  it('a budget is used until its bucket is full again', () => {
    const budget = newBudget(NOON);
    spend(budget, onlyRate, NOON, 10);
    expect(isUnused(budget, onlyRate, NOON + 999_999)).toBe(false);
    expect(isUnused(budget, onlyRate, NOON + 1_000_000)).toBe(true);
  });

  it('a budget is used until the day ends whose requests it counts', () => {
    const budget = newBudget(NOON);
    spend(budget, onlyDay, NOON, 1);
    expect(isUnused(budget, onlyDay, NOON + DAY_US / 2 - 1)).toBe(false);
    expect(isUnused(budget, onlyDay, NOON + DAY_US / 2)).toBe(true);
  });
});

describe('a budget that is evicted and comes back', () => {
  it('a budget that comes back has the same bucket and the same use of the day', () => {
    const budget = newBudget(NOON);
    spend(budget, planOf(), NOON, 15);
    const back = budgetFrom(remainsOf(budget, planOf()), planOf(), NOON);
    expect(back).toEqual(budget);
    const later = budgetFrom(remainsOf(budget, planOf()), planOf(), NOON + 500_000);
    expect(later.bucket).toEqual({ deficit: 10 * TOKEN, updatedUs: NOON + 500_000 });
  });

  it('a budget that comes back the next day has a new day', () => {
    const budget = newBudget(NOON);
    spend(budget, onlyDay, NOON, 15);
    const back = budgetFrom(remainsOf(budget, onlyDay), onlyDay, NOON + DAY_US);
    expect(back).toEqual(newBudget(NOON + DAY_US));
  });

  it('a budget that comes back after the clock went back a day counts the later day on', () => {
    const budget = newBudget(NOON);
    spend(budget, onlyDay, NOON, 15);
    const back = budgetFrom(remainsOf(budget, onlyDay), onlyDay, NOON - DAY_US);
    expect([back.day, back.usedToday]).toEqual([budget.day, 15]);
  });

  it('a bucket that is full in an hour lacks no more than its burst', () => {
    expect(bucketFullAt(NOON + 3_600_000_000, planOf(), NOON).deficit).toBe(20 * TOKEN);
  });
});

it('every number of a plan is read where it limits something, not only where plans are multiplied', () => {
  const { spec } = schemaOf('tonapis').properties!;
  const properties = spec!.properties!['plans']!.items!.properties!;
  const numbers = Object.entries(properties).flatMap(([name, { type }]) => (type === 'integer' ? [name] : []));
  const text = readSources('service/limits')
    .map((source) => source.text)
    .join('');
  expect(numbers.length).toBeGreaterThan(3);
  expect(numbers.filter((name) => [...text.matchAll(new RegExp(`\\b${name}\\b`, 'g'))].length < 2)).toEqual([]);
});
