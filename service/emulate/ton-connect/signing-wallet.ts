import { invalid } from '#service/contract/errors.ts';
import { knownWallet, type WalletOrder } from '#service/decode/known-codes.ts';
import type { AccountId } from '#service/live/accounts/accounts.ts';
import { codeHash, readWalletByHash, type ContractState } from '#service/live/contracts/wallets.ts';

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
 * @throws ContractError in the words of the contract (service/emulate/README.md#emulatetonconnect)
 */
export function readSigningWallet(account: AccountId, state: ContractState): SigningWallet {
  const hash = codeHash(state);
  if (hash === undefined || state.data === null) throw invalid('from is not a deployed wallet', 'from');
  const version = knownWallet(hash);
  const wallet = readWalletByHash(hash, state);
  if (version?.order === undefined || wallet === undefined) throw invalid('Account is not a known wallet', 'from');
  const { order, messagesMax } = version;
  return { account, order, messagesMax, seqno: wallet.seqno, walletId: 'walletId' in wallet ? wallet.walletId : 0 };
}
