import { mapAnswer } from '#service/contract/operation.ts';
import { named, object, optional, type Infer, type Shape } from '#service/contract/shape.ts';
import type { LiveAccount, LiveAccounts } from '#service/live/accounts/accounts.ts';
import { readWallet, type Wallet } from '#service/live/contracts/wallets.ts';
import { V3Error } from '../request/errors.ts';
import { defineLiveOperation } from '../request/live-operation.ts';
import type { V3Operation } from '../request/operation.ts';
import { account, bool } from '../request/parameters.ts';
import { required } from '../request/required-parameters.ts';
import { anyText, integer, intString, orNull, viewBytes, viewBytesOrNull } from '../request/scalars.ts';
import { viewWallet } from './wallet-states.ts';

// Operations in the form of v2 (service/v3/README.md#operations-at-the-head). They read the served head with any `use_v2`; the parameter
// selects the names of values.

const addressInformation = named(
  'V2AddressInformation',
  object({
    balance: intString,
    code: orNull(anyText),
    data: orNull(anyText),
    last_transaction_lt: orNull(intString),
    last_transaction_hash: orNull(anyText),
    frozen_hash: orNull(anyText),
    status: anyText,
  }),
);

const walletInformation = named(
  'V2WalletInformation',
  object({
    balance: intString,
    wallet_type: optional(anyText),
    seqno: optional(integer),
    wallet_id: optional(integer),
    last_transaction_lt: intString,
    last_transaction_hash: anyText,
    status: anyText,
  }),
);

/** Index statuses. An account that does not exist, or has neither code nor a frozen state, is uninitialized. */
const indexedStatuses = { active: 'active', frozen: 'frozen', uninitialized: 'uninit' } as const;

function viewStatusAs(state: LiveAccount['state'], useV2: boolean): string {
  return useV2 ? state : indexedStatuses[state];
}

/** @param useV2 uses the names of v2; only v2 has the hash of a frozen state */
export function viewAddressInformation(live: LiveAccount, useV2: boolean): Infer<typeof addressInformation> {
  return {
    balance: live.balance.toString(),
    code: viewBytesOrNull(live.code),
    data: viewBytesOrNull(live.data),
    ...viewLastTransaction(live),
    frozen_hash: useV2 ? viewBytesOrNull(live.frozenHash) : null,
    status: viewStatusAs(live.state, useV2),
  };
}

/** Renders a wallet at the head. @throws V3Error `not_a_wallet` for an account with present or past code that is no wallet */
export function viewWalletInformation(live: LiveAccount, useV2: boolean): Infer<typeof walletInformation> {
  const wallet = readWallet(live);
  if (wallet === undefined && live.state !== 'uninitialized') throw new V3Error('not_a_wallet', 'not a wallet');
  return {
    balance: live.balance.toString(),
    ...(wallet !== undefined && viewKnownWallet(wallet, useV2)),
    ...viewLastTransaction(live),
    status: viewStatusAs(live.state, useV2),
  };
}

/** In v2 the id of a wallet v5 is signed, and the id of a v5 beta is omitted. */
function viewKnownWallet(wallet: Wallet, useV2: boolean) {
  const { is_signature_allowed: _, ...shown } = viewWallet(wallet);
  const { walletId, isSignatureAllowed } = wallet;
  if (!useV2 || walletId === undefined || isSignatureAllowed === undefined) return shown;
  const { wallet_id: _unsigned, ...unreported } = shown;
  return wallet.type === 'wallet v5 beta' ? unreported : { ...unreported, wallet_id: walletId };
}

function viewLastTransaction({ lastTransaction: { lt, hash } }: LiveAccount) {
  return { last_transaction_lt: lt.toString(), last_transaction_hash: viewBytes(hash) };
}

const parameters = {
  account: required(account('address'), 'address of account is required'),
  useV2: bool('use_v2'),
};

export function accountInformationOperations(accounts: Pick<LiveAccounts, 'readAccount'>): readonly V3Operation[] {
  const reading = <R>(
    definition: {
      readonly name: string;
      readonly aliases: readonly string[];
      readonly summary: string;
      failures?: number[];
    },
    result: Shape<R>,
    view: (live: LiveAccount, useV2: boolean) => R,
  ): V3Operation =>
    defineLiveOperation({
      ...definition,
      methods: ['GET'],
      parameters,
      result,
      handle: async (values, context) =>
        mapAnswer(await accounts.readAccount(values.account, undefined, context), (live) => view(live, values.useV2)),
    });
  return [
    reading(
      {
        name: 'addressInformation',
        aliases: ['account'],
        summary: 'State, balance, code, data and last transaction of an account.',
      },
      addressInformation,
      viewAddressInformation,
    ),
    reading(
      {
        name: 'walletInformation',
        aliases: ['wallet'],
        summary: 'Balance and last transaction of an account, type, seqno and id of a wallet.',
        failures: [409],
      },
      walletInformation,
      viewWalletInformation,
    ),
  ];
}
