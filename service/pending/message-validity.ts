import { parseBoc } from '../decode/boc.ts';
import { DecodeError } from '../decode/errors.ts';
import { knownWallet } from '../decode/known-codes.ts';
import { openBody, readMessage } from '../decode/tlb/message.ts';
import { readValidUntil } from '../decode/wallet-layouts.ts';
import type { SimulatedTrace } from '../simulation/simulate-message.ts';

/**
 * Reads the last Unix second in which a wallet accepts a message from outside. Undefined when the account is no known wallet, and when the message
 * has no such time.
 * @param message a bag of cells that `readExternalMessage` made
 */
export function validUntilOf(
  message: Buffer,
  { transactions, states }: Pick<SimulatedTrace, 'transactions' | 'states'>,
): number | undefined {
  const [first] = transactions;
  const state = states.find(({ hash }) => first?.transaction.stateUpdate.newHash.equals(hash));
  if (state === undefined || state.codeHash === null) return undefined;
  const order = knownWallet(state.codeHash.toString('base64'))?.order;
  if (order === undefined) return undefined;
  const table = parseBoc(message);
  try {
    return readValidUntil(order, openBody(table, readMessage(table, table.roots[0]!).body));
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    return undefined;
  }
}
