import { MASTERCHAIN } from '#service/decode/block-id.ts';
import { parseBoc } from '#service/decode/boc.ts';
import { ACCOUNT_STATUS_TAGS } from '#service/decode/tlb/account-status.ts';
import { FLAGS_VERSION_MIN } from '#service/decode/tlb/global-version.ts';
import type { Message } from '#service/decode/tlb/message.ts';
import { readTransaction } from '#service/decode/tlb/transaction.ts';
import type { FoundTransaction } from '#service/store/queries/transactions.ts';
import { viewBytes } from '../request/scalars.ts';
import { isNoAccount, type StatesByHash, type TransactionTail } from './transaction-views.ts';

/**
 * States of a transaction. If the index has only the state after it, balance and status before it are added. The transaction is then the
 * account's first in an index that begins later, or whose past is missing. Blocks seldom show the state before. The state before follows
 * from the transaction and the state after.
 *
 * @returns the given states without changes to add
 */
export function withStateBefore(
  row: Pick<FoundTransaction, 'boc' | 'workchain' | 'global_version'>,
  { stateUpdate, originalStatus }: Pick<TransactionTail, 'stateUpdate' | 'originalStatus'>,
  states: StatesByHash,
): StatesByHash {
  const [before, then] = [viewBytes(stateUpdate.oldHash), viewBytes(stateUpdate.newHash)];
  if (states.has(before) || isNoAccount(before)) return states;
  const after = states.get(then);
  // In the masterchain a received amount may be burnt, which no transaction shows.
  if (after === undefined || row.workchain === MASTERCHAIN) return states;
  const balance = after.balance - gained(row);
  if (balance < 0n) return states;
  // No transaction shows burnt extra currencies: all of them are unknown.
  const unknown = { extra_currencies: {}, frozen_hash: null, data_hash: null, code_hash: null };
  return new Map([
    [before, { balance, status: ACCOUNT_STATUS_TAGS[originalStatus], ...unknown }],
    [then, after],
  ]);
}

/** Change of the account's balance by a transaction: received amounts less sent amounts and fees. */
function gained({ boc, global_version: version }: Pick<FoundTransaction, 'boc' | 'global_version'>): bigint {
  const table = parseBoc(boc);
  const { inMessage, outMessages, totalFees } = readTransaction(table, table.roots[0]!);
  const hasFees = (version ?? 0) < FLAGS_VERSION_MIN;
  // The sender pays for delivery over hypercube routing; a receiver that is reached without it gets the payment back.
  const carried = ({ info }: Message): bigint =>
    info.kind === 'internal' ? info.value.grams + (hasFees ? info.extraFlags : 0n) : 0n;
  const spent = outMessages.map((one) => carried(one) + (one.info.kind === 'internal' ? one.info.forwardFee : 0n));
  const taken = inMessage === undefined ? 0n : carried(inMessage);
  return spent.reduce((left, grams) => left - grams, taken - totalFees.grams);
}
