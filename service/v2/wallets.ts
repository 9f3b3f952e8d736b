import type { LiveAccount } from '../live/accounts/accounts.ts';
import { walletTypes } from '../decode/known-codes.ts';
import { readWallet, type Wallet } from '../live/contracts/wallets.ts';
import { accountStatus, flag, nano, uint32 } from './scalars.ts';
import { constant, named, object, oneOf, oneOfStrings, optional, scalar, type Infer } from '../contract/shape.ts';
import { transactionId, viewTransactionId } from './views.ts';

/** `ext.accounts.walletInformation`, shape and writer (service/v2/README.md#wallet-types). */

const tag = constant('ext.accounts.walletInformation');

const common = {
  '@type': tag,
  wallet: constant(true),
  balance: nano,
  account_state: constant('active'),
  last_transaction_id: transactionId,
} as const;

/** Signed in v5, unsigned before. */
const walletIdV5 = scalar<number>({ type: 'integer', minimum: -2_147_483_648, maximum: 4_294_967_295 });

export const walletInformation = named(
  'WalletInformation',
  oneOf([
    named(
      'NotAWallet',
      object({
        '@type': tag,
        wallet: constant(false),
        balance: nano,
        account_state: accountStatus,
        last_transaction_id: transactionId,
      }),
    ),
    named(
      'WalletV1V2',
      object({
        ...common,
        wallet_type: oneOfStrings(walletTypes('seqno')),
        seqno: uint32,
      }),
    ),
    named(
      'WalletV3V4',
      object({
        ...common,
        wallet_type: oneOfStrings(walletTypes('seqno_id')),
        seqno: uint32,
        wallet_id: uint32,
      }),
    ),
    named(
      'WalletV5Beta',
      object({
        ...common,
        wallet_type: oneOfStrings(walletTypes('v5_beta')),
        seqno: uint32,
        wallet_id: optional(walletIdV5),
        is_signature_allowed: optional(flag),
      }),
    ),
    named(
      'WalletV5',
      object({
        ...common,
        wallet_type: oneOfStrings(walletTypes('v5')),
        seqno: uint32,
        wallet_id: walletIdV5,
        is_signature_allowed: flag,
      }),
    ),
  ]),
);

/** @param status the name of the account's state, shown of what is no wallet: a wallet is active */
export function viewWalletInformation(
  account: LiveAccount,
  status: Infer<typeof accountStatus>,
): Infer<typeof walletInformation> {
  const wallet = readWallet(account);
  const type = { '@type': 'ext.accounts.walletInformation' } as const;
  const balance = account.balance.toString();
  const last = { last_transaction_id: viewTransactionId(account.lastTransaction) };
  if (wallet === undefined) return { ...type, wallet: false, balance, account_state: status, ...last };
  return { ...type, wallet: true, balance, account_state: 'active', ...last, ...viewWallet(wallet) };
}

function viewWallet(wallet: Wallet) {
  const { seqno } = wallet;
  if (wallet.type === 'wallet v5 beta') return { wallet_type: wallet.type, seqno };
  if (!('walletId' in wallet)) return { wallet_type: wallet.type, seqno };
  if (!('isSignatureAllowed' in wallet)) return { wallet_type: wallet.type, seqno, wallet_id: wallet.walletId };
  return {
    wallet_type: wallet.type,
    seqno,
    wallet_id: wallet.walletId,
    is_signature_allowed: wallet.isSignatureAllowed,
  };
}
