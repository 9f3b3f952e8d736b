import { crc16, fitsFriendly, formatFriendlyAddress, type ParsedAddress } from '../decode/address.ts';
import type { AccountId } from '../live/accounts/accounts.ts';
import type { LiveExtendedAccount } from '../live/contracts/extended-accounts.ts';
import type { KnownContract } from '../live/contracts/known-contracts.ts';
import {
  describeChannelState,
  type ChannelConfig,
  type ChannelState,
  type PaymentChannel,
} from '../live/contracts/payment-channel.ts';
import type { RestrictedWallet } from '../live/contracts/restricted-wallet.ts';
import { int64, viewInteger } from '../contract/json-integer.ts';
import { bocOrEmpty, flag, int32, nano, uint32, uint63 } from './scalars.ts';
import { constant, list, named, object, scalar, variants, type Infer } from '../contract/shape.ts';
import {
  accountAddress,
  blockIdExt,
  EXTRA_CURRENCIES_MAX,
  extraCurrency,
  transactionId,
  viewAccountAddress,
  viewBlockId,
  viewBoc,
  viewExtraCurrency,
  viewHash,
  viewTransactionId,
} from './views.ts';

/** `fullAccountState` and its states, shape and writer (service/v2/README.md#contract-types). */

const hashOrEmpty = named('HashOrEmpty', scalar<string>({ type: 'string', pattern: '^(?:[A-Za-z0-9+/]{43}=)?$' }));

const raw = named(
  'RawAccountState',
  object({ '@type': constant('raw.accountState'), code: bocOrEmpty, data: bocOrEmpty, frozen_hash: hashOrEmpty }),
);

const uninited = named(
  'UninitedAccountState',
  object({ '@type': constant('uninited.accountState'), frozen_hash: hashOrEmpty }),
);

function walletShape<const T extends string>(tag: T) {
  return object({ '@type': constant(tag), wallet_id: uint32, seqno: uint32 });
}

function numberedShape<const T extends string>(tag: T) {
  return object({ '@type': constant(tag), wallet_id: uint32 });
}

const rwalletLimit = named(
  'RWalletLimit',
  object({ '@type': constant('rwallet.limit'), seconds: int32, value: int64 }),
);

const rwalletConfig = named(
  'RWalletConfig',
  object({ '@type': constant('rwallet.config'), start_at: int64, limits: list(rwalletLimit) }),
);

const rwallet = object({
  '@type': constant('rwallet.accountState'),
  wallet_id: uint32,
  seqno: uint32,
  unlocked_balance: int64,
  config: rwalletConfig,
});

const publicKey = scalar<string>({ type: 'string', pattern: '^[A-Za-z0-9_-]{48}$' });

const pchanConfig = named(
  'PChanConfig',
  object({
    '@type': constant('pchan.config'),
    alice_public_key: publicKey,
    alice_address: accountAddress,
    bob_public_key: publicKey,
    bob_address: accountAddress,
    init_timeout: int32,
    close_timeout: int32,
    channel_id: int64,
  }),
);

function openChannelShape<const T extends string>(tag: T) {
  return object({
    '@type': constant(tag),
    signed_A: flag,
    signed_B: flag,
    min_A: int64,
    min_B: int64,
    expire_at: int64,
    A: int64,
    B: int64,
  });
}

const pchanState = named(
  'PChanState',
  variants(
    '@type',
    {
      'pchan.stateInit': 'PChanStateInit',
      'pchan.stateClose': 'PChanStateClose',
      'pchan.statePayout': 'PChanStatePayout',
    },
    [
      named('PChanStateInit', openChannelShape('pchan.stateInit')),
      named('PChanStateClose', openChannelShape('pchan.stateClose')),
      named('PChanStatePayout', object({ '@type': constant('pchan.statePayout'), A: int64, B: int64 })),
    ],
  ),
);

const pchan = object({
  '@type': constant('pchan.accountState'),
  config: pchanConfig,
  state: pchanState,
  description: scalar<string>({ type: 'string' }),
});

const extendedState = named(
  'ExtendedState',
  variants(
    '@type',
    {
      'raw.accountState': 'RawAccountState',
      'wallet.v3.accountState': 'WalletV3AccountState',
      'wallet.v4.accountState': 'WalletV4AccountState',
      'wallet.highload.v1.accountState': 'HighloadV1AccountState',
      'wallet.highload.v2.accountState': 'HighloadV2AccountState',
      'dns.accountState': 'DnsAccountState',
      'rwallet.accountState': 'RWalletAccountState',
      'pchan.accountState': 'PChanAccountState',
      'uninited.accountState': 'UninitedAccountState',
    },
    [
      raw,
      named('WalletV3AccountState', walletShape('wallet.v3.accountState')),
      named('WalletV4AccountState', walletShape('wallet.v4.accountState')),
      named('HighloadV1AccountState', walletShape('wallet.highload.v1.accountState')),
      named('HighloadV2AccountState', numberedShape('wallet.highload.v2.accountState')),
      named('DnsAccountState', numberedShape('dns.accountState')),
      named('RWalletAccountState', rwallet),
      named('PChanAccountState', pchan),
      uninited,
    ],
  ),
);

export const extendedAccountState = named(
  'ExtendedAccountState',
  object({
    '@type': constant('fullAccountState'),
    address: accountAddress,
    balance: nano,
    extra_currencies: list(extraCurrency, EXTRA_CURRENCIES_MAX),
    last_transaction_id: transactionId,
    block_id: blockIdExt,
    sync_utime: uint63,
    account_state: extendedState,
    revision: scalar<number>({ type: 'integer', minimum: -1 }),
  }),
);

/** @param address as requested, with its flags */
export function viewExtendedAccount(
  extended: LiveExtendedAccount,
  address: ParsedAddress,
): Infer<typeof extendedAccountState> {
  const { account, known } = extended;
  return {
    '@type': 'fullAccountState',
    address: viewAddress(address, address),
    balance: account.balance.toString(),
    extra_currencies: account.extraCurrencies.slice(0, EXTRA_CURRENCIES_MAX).map(viewExtraCurrency),
    last_transaction_id: viewTransactionId(account.lastTransaction),
    block_id: viewBlockId(account.masterchainBlock),
    sync_utime: account.shardUtime,
    account_state: viewState(extended),
    revision: known?.revision ?? 0,
  };
}

function viewState(extended: LiveExtendedAccount): Infer<typeof extendedState> {
  const { account, known } = extended;
  if (account.code === null) {
    const frozenHash = account.frozenHash === null ? '' : viewHash(account.frozenHash);
    return { '@type': 'uninited.accountState', frozen_hash: frozenHash };
  }
  if (known !== undefined) return viewContract(known.contract, extended.unlockedBalance);
  return { '@type': 'raw.accountState', code: viewBoc(account.code), data: viewBoc(account.data), frozen_hash: '' };
}

function viewContract(contract: KnownContract, unlockedBalance: bigint): Infer<typeof extendedState> {
  if (contract.kind === 'pchan') return viewChannel(contract.channel);
  if (contract.kind === 'rwallet') return viewRestrictedWallet(contract.wallet, unlockedBalance);
  if (!('seqno' in contract)) return { '@type': `${contract.kind}.accountState`, wallet_id: contract.walletId };
  return { '@type': `${contract.kind}.accountState`, wallet_id: contract.walletId, seqno: contract.seqno };
}

function viewChannel({ config, state }: PaymentChannel): Infer<typeof pchan> {
  return {
    '@type': 'pchan.accountState',
    config: viewChannelConfig(config),
    state: viewChannelState(state),
    description: describeChannelState(state),
  };
}

function viewRestrictedWallet(wallet: RestrictedWallet, unlockedBalance: bigint): Infer<typeof rwallet> {
  const limits = wallet.limits.map(({ seconds, locked }) => ({
    '@type': 'rwallet.limit' as const,
    seconds,
    value: viewInteger(locked),
  }));
  return {
    '@type': 'rwallet.accountState',
    wallet_id: wallet.walletId,
    seqno: wallet.seqno,
    unlocked_balance: viewInteger(unlockedBalance),
    config: { '@type': 'rwallet.config', start_at: wallet.startAt, limits },
  };
}

function viewChannelConfig(config: ChannelConfig): Infer<typeof pchanConfig> {
  return {
    '@type': 'pchan.config',
    alice_public_key: viewPublicKey(config.publicKeyA),
    alice_address: viewAddress(config.addressA),
    bob_public_key: viewPublicKey(config.publicKeyB),
    bob_address: viewAddress(config.addressB),
    init_timeout: config.initTimeout,
    close_timeout: config.closeTimeout,
    channel_id: viewInteger(config.channelId),
  };
}

/** Tonlib puts the three last values of an open channel in each other's places; here each has its own. */
function viewChannelState(state: ChannelState): Infer<typeof pchanState> {
  const sums = { A: viewInteger(state.a), B: viewInteger(state.b) };
  if (state.kind === 'payout') return { '@type': 'pchan.statePayout', ...sums };
  return {
    '@type': state.kind === 'init' ? 'pchan.stateInit' : 'pchan.stateClose',
    signed_A: state.signedA,
    signed_B: state.signedB,
    min_A: viewInteger(state.minA),
    min_B: viewInteger(state.minB),
    expire_at: state.expireAt,
    ...sums,
  };
}

/** Friendly form; empty beyond the 8 bits that it has for a workchain. */
function viewAddress(
  address: AccountId,
  style: { readonly bounceable?: boolean; readonly testOnly?: boolean } = {},
): Infer<typeof accountAddress> {
  const { bounceable = true, testOnly = false } = style;
  return viewAccountAddress(fitsFriendly(address) ? formatFriendlyAddress(address, { bounceable, testOnly }) : '');
}

/** Bytes before an Ed25519 key in its friendly form, which ends with a CRC-16 and is base64url (48 characters). */
const PUBLIC_KEY_TAG = Buffer.from([0x3e, 0xe6]);

function viewPublicKey(key: Buffer): string {
  const checked = Buffer.concat([PUBLIC_KEY_TAG, key]);
  const sum = Buffer.alloc(2);
  sum.writeUInt16BE(crc16(checked));
  return Buffer.concat([checked, sum]).toString('base64url');
}
