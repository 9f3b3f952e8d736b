import type { MutantList } from './mutant.ts';

const [bucket, budget] = ['service/limits/bucket.ts', 'service/limits/budget.ts'];

/** Mutants of rates, days and slots. */
export const limitsBudget: MutantList = {
  tests: ['--project', 'service', 'test/service/limits/b', 'test/service/limits/limits.test.ts'],
  mutants: [
    { path: bucket, from: 'Math.max(0, nowUs - bucket.updatedUs)', to: '(nowUs - bucket.updatedUs)' },
    { path: bucket, from: 'if (now.deficit <= deficitMax)', to: 'if (now.deficit < deficitMax)' },
    { path: bucket, from: 'Math.max(0, rate.burst - tokens) * TOKEN', to: '(rate.burst - tokens) * TOKEN' },
    { path: bucket, from: 'Math.max(0, bucket.deficit - tokens * TOKEN)', to: 'bucket.deficit - tokens * TOKEN' },
    { path: bucket, from: 'Math.ceil((now.deficit - deficitMax)', to: 'Math.floor((now.deficit - deficitMax)' },
    { path: bucket, from: 'Math.min(deficit, rate.burst * TOKEN)', to: 'deficit' },
    { path: budget, from: 'budget.inFlight >= plan.maxConcurrent', to: 'budget.inFlight > plan.maxConcurrent' },
    { path: budget, from: 'if (day > budget.day)', to: 'if (day !== budget.day)' },
    { path: budget, from: 'budget.usedToday = 0;\n  }', to: '}' },
    {
      path: budget,
      from: 'budget.usedToday + tokens > plan.requestsPerDay',
      to: 'budget.usedToday + tokens >= plan.requestsPerDay',
    },
    { path: budget, from: '(budget.day + 1) * DAY_US - nowUs', to: 'budget.day * DAY_US - nowUs' },
    { path: budget, from: '  budget.usedToday += tokens;\n', to: '' },
    { path: budget, from: 'Math.max(0, budget.usedToday - tokens)', to: 'budget.usedToday' },
    { path: budget, from: 'budget.inFlight === 0 && !countsDay', to: '!countsDay' },
    { path: budget, from: '&& !countsRate', to: '' },
    { path: budget, from: 'budget.bucket.updatedUs + fullInUs', to: 'fullInUs' },
    { path: budget, from: 'if (remains.day >= budget.day)', to: 'if (remains.day > budget.day)' },
  ],
};
