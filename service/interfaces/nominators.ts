import type { Family } from './family.ts';

/** Pool of ton-blockchain/nominator-pool, detected by its code. */
export const nominatorPools: Family = {
  kind: 'nominator_pool',
  codeHashes: new Set(['mj7BS8CY9rRAZMMFIiyuooAPF92oXuaoGYpwle3hDc8=']),
  needs: [],
  detect: () => ({ facts: { isNominatorPool: true } }),
};
