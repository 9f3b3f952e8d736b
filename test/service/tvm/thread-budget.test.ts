import { afterAll, describe, expect, it } from 'vitest';

import { startTvm } from './recorded-world.ts';
import { callOf, ENDLESS } from './small-world.ts';

/** Gas of 40 ms. A kernel counts a thread's time in steps of 1 to 10 ms. A shorter run may count as none. */
const GAS = 200_000;

const { tvm } = startTvm();
afterAll(() => tvm.close());

describe('runs that share a budget of thread time', () => {
  it('take the time that they use', async () => {
    const budget = { leftMs: 60_000 };
    await tvm.runGetMethod(callOf(ENDLESS, { budget, gasLimit: GAS }));
    const afterOne = budget.leftMs;
    expect(afterOne).toBeLessThan(60_000);
    await tvm.runGetMethod(callOf(ENDLESS, { budget, gasLimit: GAS }));
    expect(budget.leftMs).toBeLessThan(afterOne);
  });

  it('are refused when no time is left, without a thread', async () => {
    const budget = { leftMs: 0 };
    const refused = tvm.runGetMethod(callOf('71', { budget }));
    await expect(refused).rejects.toMatchObject({ code: 'tvm_timeout' });
    expect(budget.leftMs).toBe(0);
  });
});
