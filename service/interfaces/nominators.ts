import { hashesOfCode } from '../decode/known-codes.ts';
import type { Family } from './family.ts';

/** Pool of ton-blockchain/nominator-pool, detected by its code. */
export const nominatorPools: Family = {
  kind: 'nominator_pool',
  codeHashes: hashesOfCode('nominator_pool'),
  needs: [],
  detect: () => ({ facts: { isNominatorPool: true } }),
};
