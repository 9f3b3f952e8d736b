import type { ChangedAccount } from '../interfaces/detector.ts';
import { accountOfKey } from '../store/account-key.ts';
import { hashKey } from '../store/hash-key.ts';
import type { StateCode } from '../store/interpreted-rows.ts';
import type { OpenTransaction } from './traces.ts';

/** Change of an account in one masterchain block. */
export type AccountChange = {
  readonly mcSeqno: number;
  /** Key of `accountKey`. */
  readonly account: Uint8Array;
  readonly first: OpenTransaction;
  readonly last: OpenTransaction;
};

/** Each account once for each masterchain block. @param transactions by lt */
export function changesOf(transactions: Iterable<OpenTransaction>): AccountChange[] {
  const changes = new Map<string, AccountChange>();
  for (const transaction of transactions) {
    const { account, mc_seqno: mcSeqno } = transaction.stored;
    const name = `${mcSeqno} ${hashKey(account)}`;
    const known = changes.get(name);
    changes.set(name, { mcSeqno, account, first: known?.first ?? transaction, last: transaction });
  }
  return [...changes.values()];
}

/** True for a change after which the account has code. */
export function isActive({ last }: AccountChange): boolean {
  return last.event.endStatus === 'active';
}

/** True when the code that the account had is there no more. */
export function isDestroyed(change: AccountChange): boolean {
  return mayHaveBeen(change) && !isActive(change);
}

/** True for a change before which the account had code. */
export function mayHaveBeen({ first }: AccountChange): boolean {
  return first.event.originalStatus === 'active';
}

/** Converts to the input of detection. @param code of a state of the account */
export function changedAccount({ account }: AccountChange, code: StateCode): ChangedAccount {
  return { account: accountOfKey(account), codeHash: code.code_hash, methods: code.methods };
}
