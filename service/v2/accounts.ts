import type { LiveAccount, LiveAccounts } from '../live/accounts/accounts.ts';
import type { LiveExtendedAccounts } from '../live/contracts/extended-accounts.ts';
import { address, spelledAddress } from './address-parameter.ts';
import { optionalSeqno } from './integer-parameter.ts';
import { extendedAccountState, viewExtendedAccount } from './extended-accounts.ts';
import { defineOperation, mapAnswer, type Operation, type OperationDefinition } from '../contract/operation.ts';
import { accountStatus, boc, bocOrEmpty, emptyText, flag, hash, nano, uint63 } from './scalars.ts';
import { constant, list, named, object, variants, type Infer, type Shape } from '../contract/shape.ts';
import { memoizeView } from '../contract/memoized-view.ts';
import {
  blockIdExt,
  EXTRA_CURRENCIES_MAX,
  extraCurrency,
  transactionId,
  viewBlockId,
  viewBoc,
  viewExtraCurrency,
  viewHash,
  viewTransactionId,
} from './views.ts';
import { tvmCell } from './stack-shapes.ts';
import { viewWalletInformation, walletInformation } from './wallets.ts';

/** State, code, data and frozen hash; other fields are common to all states (service/v2/README.md#accounts). */
function fullState<
  const S extends 'active' | 'frozen' | 'uninitialized',
  C extends string,
  D extends string,
  F extends string,
>(state: S, code: Shape<C>, data: Shape<D>, frozenHash: Shape<F>) {
  return object({
    '@type': constant('raw.fullAccountState'),
    balance: nano,
    extra_currencies: list(extraCurrency, EXTRA_CURRENCIES_MAX),
    last_transaction_id: transactionId,
    block_id: blockIdExt,
    code,
    data,
    frozen_hash: frozenHash,
    sync_utime: uint63,
    state: constant(state),
    suspended: flag,
  });
}

const fullAccountState = named(
  'FullAccountState',
  variants('state', { active: 'FullStateActive', frozen: 'FullStateFrozen', uninitialized: 'FullStateUninitialized' }, [
    named('FullStateActive', fullState('active', boc, bocOrEmpty, emptyText)),
    named('FullStateFrozen', fullState('frozen', emptyText, bocOrEmpty, hash)),
    named('FullStateUninitialized', fullState('uninitialized', emptyText, bocOrEmpty, emptyText)),
  ]),
);

/** State name: by code, then by frozen hash (service/v2/README.md#shared-objects). */
export function viewAccountStatus(account: LiveAccount): Infer<typeof accountStatus> {
  if (account.code !== null) return 'active';
  return account.frozenHash === null ? 'uninitialized' : 'frozen';
}

export function viewFullAccountState(account: LiveAccount): Infer<typeof fullAccountState> {
  const before = {
    '@type': 'raw.fullAccountState',
    balance: account.balance.toString(),
    extra_currencies: account.extraCurrencies.slice(0, EXTRA_CURRENCIES_MAX).map(viewExtraCurrency),
    last_transaction_id: viewTransactionId(account.lastTransaction),
    block_id: viewBlockId(account.masterchainBlock),
  } as const;
  const after = { sync_utime: account.shardUtime } as const;
  const data = viewBoc(account.data);
  const { suspended } = account;
  if (account.code !== null) {
    return { ...before, code: viewBoc(account.code), data, frozen_hash: '', ...after, state: 'active', suspended };
  }
  if (account.frozenHash !== null) {
    const frozenHash = viewHash(account.frozenHash);
    return { ...before, code: '', data, frozen_hash: frozenHash, ...after, state: 'frozen', suspended };
  }
  return { ...before, code: '', data, frozen_hash: '', ...after, state: 'uninitialized', suspended };
}

const accountParameters = { address, seqno: optionalSeqno };

/** Operations on one account (service/v2/README.md#accounts). */
export function accountOperations(accounts: LiveAccounts, extended: LiveExtendedAccounts): readonly Operation[] {
  return [
    ...viewOperations(accounts),
    defineOperation({
      name: 'getExtendedAddressInformation',
      methods: ['GET', 'POST'],
      tag: 'accounts',
      summary: 'As getAddressInformation, with what the data of a known contract say.',
      parameters: { address: spelledAddress, seqno: optionalSeqno },
      result: extendedAccountState,
      handle: async (values, context) => {
        const { workchain, id } = values.address;
        const answer = await extended.readExtended({ workchain, id }, values.seqno, context);
        return mapAnswer(answer, (account) => viewExtendedAccount(account, values.address));
      },
    }),
    defineOperation({
      name: 'getShardAccountCell',
      methods: ['GET', 'POST'],
      tag: 'accounts',
      summary: 'The cell of an account in its shard, with its last transaction.',
      parameters: accountParameters,
      result: tvmCell,
      handle: async (values, context) =>
        mapAnswer(await accounts.readShardAccount(values.address, values.seqno, context), (cell) => ({
          '@type': 'tvm.cell' as const,
          bytes: viewBoc(cell),
        })),
    }),
  ];
}

/** The same read, four views. */
function viewOperations(accounts: LiveAccounts): readonly Operation[] {
  const reading = <R>(
    name: string,
    summary: string,
    result: Shape<R>,
    view: (account: LiveAccount) => R,
  ): Operation => {
    const definition: OperationDefinition<typeof accountParameters, R> = {
      name,
      methods: ['GET', 'POST'],
      tag: 'accounts',
      summary,
      parameters: accountParameters,
      result,
      handle: async (values, context) =>
        mapAnswer(await accounts.readAccount(values.address, values.seqno, context), view),
    };
    return defineOperation(definition);
  };
  return [
    reading(
      'getAddressInformation',
      'State, balance, code, data and last transaction of an account.',
      fullAccountState,
      memoizeView(viewFullAccountState),
    ),
    reading('getAddressBalance', 'Balance of an account in nanotons.', nano, (account) => account.balance.toString()),
    reading(
      'getWalletInformation',
      'Type, seqno and id of a wallet.',
      walletInformation,
      memoizeView((account) => viewWalletInformation(account, viewAccountStatus(account))),
    ),
    reading('getAddressState', 'State of an account by name.', accountStatus, viewAccountStatus),
  ];
}
