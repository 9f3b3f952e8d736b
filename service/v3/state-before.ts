import { MASTERCHAIN } from '../decode/block-id.ts';
import { parseBoc } from '../decode/boc.ts';
import { ACCOUNT_STATUS_TAGS } from '../decode/tlb/account-status.ts';
import { FLAGS_VERSION_MIN } from '../decode/tlb/global-version.ts';
import type { Message } from '../decode/tlb/message.ts';
import { readTransaction } from '../decode/tlb/transaction.ts';
import type { FoundTransaction } from '../store/queries/transactions.ts';
import { viewBytes } from './scalars.ts';
import { isNoAccount, type StatesByHash, type TransactionTail } from './transaction-views.ts';

/**
 * The states of one transaction, with balance and status of its account before it where the index has only the state after it: its first one in an index that
 * begins later than the account, or whose past is not there yet. Blocks seldom show the state that they begin with; the transaction tells what became of it.
 *
 * @returns the given states when there is nothing to add
 */
export function withStateBefore(
  row: Pick<FoundTransaction, 'boc' | 'workchain' | 'global_version'>,
  { stateUpdate, originalStatus }: Pick<TransactionTail, 'stateUpdate' | 'originalStatus'>,
  states: StatesByHash,
): StatesByHash {
  const [before, then] = [viewBytes(stateUpdate.oldHash), viewBytes(stateUpdate.newHash)];
  if (states.has(before) || isNoAccount(before)) return states;
  const after = states.get(then);
  // In the masterchain what an account takes may be burnt, which no transaction tells.
  if (after === undefined || row.workchain === MASTERCHAIN) return states;
  const balance = after.balance - gained(row);
  if (balance < 0n) return states;
  // Other currencies that were burnt are told nowhere: none of them is known.
  const unknown = { extra_currencies: {}, frozen_hash: null, data_hash: null, code_hash: null };
  return new Map([
    [before, { balance, status: ACCOUNT_STATUS_TAGS[originalStatus], ...unknown }],
    [then, after],
  ]);
}

/** By what a transaction makes its account's balance larger: what came in, less what went out and what was paid. */
function gained({ boc, global_version: version }: Pick<FoundTransaction, 'boc' | 'global_version'>): bigint {
  const table = parseBoc(boc);
  const { inMessage, outMessages, totalFees } = readTransaction(table, table.roots[0]!);
  const hasFees = (version ?? 0) < FLAGS_VERSION_MIN;
  // Delivery over hypercube routing, paid by the sender, comes back to whoever is reached without.
  const carried = ({ info }: Message): bigint =>
    info.kind === 'internal' ? info.value.grams + (hasFees ? info.extraFlags : 0n) : 0n;
  const spent = outMessages.map((one) => carried(one) + (one.info.kind === 'internal' ? one.info.forwardFee : 0n));
  const taken = inMessage === undefined ? 0n : carried(inMessage);
  return spent.reduce((left, grams) => left - grams, taken - totalFees.grams);
}
