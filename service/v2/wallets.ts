import type { LiveAccount } from '../live/accounts/accounts.ts';
import { walletTypes } from '../decode/known-codes.ts';
import { walletDataLayouts, type WalletData, type WalletDataLayout } from '../decode/wallet-layouts.ts';
import { readWallet, type Wallet } from '../live/contracts/wallets.ts';
import { accountStatus, flag, nano, uint32 } from './scalars.ts';
import {
  constant,
  named,
  object,
  oneOf,
  oneOfStrings,
  optional,
  scalar,
  type Infer,
  type Shape,
} from '../contract/shape.ts';
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

/** Fields of every wallet, with those that only some layouts have. */
const anyWallet = object({
  ...common,
  wallet_type: oneOfStrings(walletTypes()),
  seqno: uint32,
  wallet_id: optional(walletIdV5),
  is_signature_allowed: optional(flag),
});

type WalletShape = Shape<Infer<typeof anyWallet>>;

/** Shape of the wallets with one layout of data. */
function shapeOf(data: WalletData): WalletShape {
  const { schema, fields }: WalletDataLayout = walletDataLayouts[data];
  const always = {
    ...common,
    wallet_type: oneOfStrings(walletTypes(data)),
    seqno: uint32,
    ...(fields.walletId !== undefined && { wallet_id: fields.walletId === 'int32' ? walletIdV5 : uint32 }),
    ...(fields.isSignatureAllowed !== undefined && { is_signature_allowed: flag }),
  };
  // The document lets a v5 beta have the fields of v5.
  const properties =
    data === 'v5_beta' ? { ...always, wallet_id: optional(walletIdV5), is_signature_allowed: optional(flag) } : always;
  return named(schema, object(properties) as WalletShape);
}

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
    ...(Object.keys(walletDataLayouts) as WalletData[]).map(shapeOf),
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

function viewWallet({ type, seqno, walletId, isSignatureAllowed }: Wallet) {
  if (type === 'wallet v5 beta') return { wallet_type: type, seqno };
  return {
    wallet_type: type,
    seqno,
    ...(walletId !== undefined && { wallet_id: walletId }),
    ...(isSignatureAllowed !== undefined && { is_signature_allowed: isSignatureAllowed }),
  };
}
