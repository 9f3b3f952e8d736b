import type { StackEntry } from '../live/vm-values.ts';
import type { Family } from './family.ts';
import { account } from './stack-shape.ts';

/** Bytes of data that are kept of one contract: of a pool, the larger one, some 4 KB with its dictionaries. */
const DATA_BYTES_MAX = 16 * 1024;

/** What both kinds of contracts show of themselves, in every version: they have some fifteen values, two accounts among them at least. */
const VALUES_MIN = 10;
const ACCOUNTS_MIN = 2;

/**
 * Stake wallets and pools of jVault, whose data classification looks into: both show it by one method, which others have too. It cannot
 * tell them apart for certain, and need not: data are looked into only where a trace has jVault's messages (indexing sheet 9.8).
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
