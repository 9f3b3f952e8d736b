import type { Transaction } from '../objects.ts';
import { paths } from '../paths.ts';

/** Path of a transaction. A simulated transaction has no page: its trace shows it. The path is undefined for an emulation. */
export function transactionPath({
  hash,
  emulated,
  trace_external_hash: external,
}: Pick<Transaction, 'hash' | 'emulated' | 'trace_external_hash'>): string | undefined {
  if (emulated !== true) return paths.transaction(hash);
  return external === null || external === undefined ? undefined : paths.trace(external, hash);
}
