import { invalid } from '#service/contract/errors.ts';
import { knownWallet } from '#service/decode/known-codes.ts';
import type { WalletOrder } from '#service/decode/wallet-layouts.ts';
import type { AccountId } from '#service/live/accounts/accounts.ts';
import { parseInSlices } from '#service/live/accounts/paced-cells.ts';
import { readWalletByHash, type ContractState } from '#service/live/contracts/wallets.ts';
import type { TimeSlice } from '#service/runtime/time-slice.ts';

/** Wallet that can sign a request, with the numbers that its next message must have. */
export type SigningWallet = {
  readonly account: AccountId;
  readonly order: WalletOrder;
  /** Most messages of one external message. */
  readonly messagesMax: number;
  /** Unsigned 32 bits. */
  readonly seqno: number;
  /** 32 bits; 0 for a wallet without an id. */
  readonly walletId: number;
};

/**
 * Reads the wallet that a request is from.
 * Rejects with ContractError in the words of the contract (service/emulate/README.md#emulatetonconnect).
 */
export async function readSigningWallet(
  account: AccountId,
  state: ContractState,
  timeSlice: TimeSlice,
): Promise<SigningWallet> {
  if (state.code === null || state.data === null) throw invalid('from is not a deployed wallet', 'from');
  const table = await parseInSlices(state.code, timeSlice);
  const hash = table.hash(table.roots[0]!).toString('base64');
  const version = knownWallet(hash);
  const wallet = readWalletByHash(hash, state);
  if (version?.order === undefined || wallet === undefined) throw invalid('Account is not a known wallet', 'from');
  const { order, messagesMax } = version;
  return { account, order, messagesMax, seqno: wallet.seqno, walletId: wallet.walletId ?? 0 };
}
