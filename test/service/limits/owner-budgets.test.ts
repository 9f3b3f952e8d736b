import { describe, expect, it } from 'vitest';

import { spend } from '#service/limits/budget.ts';
import type { LimitPlan } from '#service/limits/options.ts';
import { createOwnerBudgets } from '#service/limits/owner-budgets.ts';

const nowUs = 1_795_270_000_000_000;
const plan: LimitPlan = {
  name: 'pro',
  requestsPerSecond: 1,
  burst: 3,
  requestsPerDay: null,
  maxConcurrent: null,
  methodCosts: {},
};

describe('the budgets of keys and owners', () => {
  it('unused budgets of removed keys leave once there are a thousand more than keys, and used ones stay', () => {
    let sweeps = 0;
    const budgets = createOwnerBudgets(
      () => 1,
      () => sweeps++,
    );
    const used = budgets.budget('used', plan, nowUs);
    spend(used, plan, nowUs, 3);
    const unused = budgets.budget('unused', plan, nowUs);
    for (let index = 0; index < 999; index++) budgets.budget(`removed ${index}`, plan, nowUs);
    expect([sweeps, budgets.budget('unused', plan, nowUs) === unused]).toEqual([0, true]);
    budgets.budget('one more', plan, nowUs);
    expect(sweeps).toBe(1);
    expect(budgets.budget('used', plan, nowUs)).toBe(used);
    expect(budgets.budget('unused', plan, nowUs)).not.toBe(unused);
  });
});
