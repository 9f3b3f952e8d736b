import type { StackEntry } from '../tvm/stack.ts';
import type { Family } from './family.ts';
import { account } from './stack-shape.ts';

/** Most bytes of stored data of one contract. A pool, the larger kind, has some 4 KB with its dictionaries. */
const DATA_BYTES_MAX = 16 * 1024;

/** Least number of values of both kinds of contracts in every version. They have some fifteen, with at least two accounts. */
const VALUES_MIN = 10;
const ACCOUNTS_MIN = 2;

/**
 * Stake wallets and pools of jVault, whose data classification reads. Both have the same method, which other contracts have too. The method cannot
 * distinguish them for certain, and need not. Data are read only if a trace has jVault's messages (service/actions/README.md#facts-about-accounts).
 */
export const jvaultContracts: Family = {
  kind: 'jvault',
  needs: ['get_storage_data'],
  detect: ({ data, answers }) =>
    isStorage(answers('get_storage_data') ?? []) && data.length <= DATA_BYTES_MAX ? { facts: { data } } : 'malformed',
};

function isStorage(stack: readonly StackEntry[]): boolean {
  const accounts = stack.filter((entry) => account(entry) !== undefined);
  return stack.length >= VALUES_MIN && accounts.length >= ACCOUNTS_MIN;
}
