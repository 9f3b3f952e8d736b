import { parseBoc } from '../decode/boc.ts';
import type { CellSlice } from '../decode/cell-slice.ts';
import { DecodeError } from '../decode/errors.ts';
import { knownWallet, type WalletOrder } from '../decode/known-codes.ts';
import { openBody, readMessage } from '../decode/tlb/message.ts';
import type { SimulatedTrace } from '../simulation/simulate-message.ts';

/** Bits before `valid_until:uint32` in the body of a wallet's order; undefined for an order without a time. */
const BITS_BEFORE: Readonly<Record<WalletOrder, number | undefined>> = {
  v1: undefined,
  /** `signature:bits512 seqno:uint32`. */
  v2: 512 + 32,
  /** `signature:bits512 wallet_id:uint32`. */
  v3: 512 + 32,
  v4: 512 + 32,
  /** `operation:uint32 wallet_id:int32`. */
  v5: 32 + 32,
};

/** Operation of an external message to a wallet v5. */
const EXTERNAL_SIGNED = 0x7369676e;

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
  const skipped = order && BITS_BEFORE[order];
  if (skipped === undefined) return undefined;
  const table = parseBoc(message);
  try {
    const body = openBody(table, readMessage(table, table.roots[0]!).body);
    if (order === 'v5' && operationOf(body) !== EXTERNAL_SIGNED) return undefined;
    body.skip(skipped);
    return body.uint(32);
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    return undefined;
  }
}

function operationOf(body: CellSlice): number {
  return body.clone().uint(32);
}
