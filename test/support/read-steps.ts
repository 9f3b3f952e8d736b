import { vi } from 'vitest';

import { ReadBudget } from '#service/decode/read-budget.ts';

/** Steps that all budgets together pay for while `work` runs, and what `work` returns. */
export async function countSteps<Value>(
  work: () => Value,
): Promise<{ readonly steps: number; readonly value: Awaited<Value> }> {
  const step = vi.spyOn(ReadBudget.prototype, 'step');
  try {
    const value = await work();
    return { value, steps: step.mock.calls.reduce((sum, [count = 1]) => sum + count, 0) };
  } finally {
    step.mockRestore();
  }
}
