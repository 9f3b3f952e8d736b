import { list, named, object, optional, type Infer } from '#service/contract/shape.ts';
import { createTimeSlice, mapInSlices } from '#service/runtime/time-slice.ts';
import type { AccountRow } from '#service/store/queries/accounts.ts';
import type { AccountContents } from '../views/account-contents.ts';
import { interfacesOf } from '../views/account-interfaces.ts';
import { readRequested, viewCurrencies, viewStatus } from '../views/account-rows.ts';
import { answerAnnotations, type AnswerAnnotations } from '../annotations/answer-annotations.ts';
import { defineV3Operation, type V3Operation } from '../request/operation.ts';
import { accounts, bool, hashes, LIMIT_MAX } from '../request/parameters.ts';
import { requiredList } from '../request/required-parameters.ts';
import {
  accountStatus,
  anyText,
  extraCurrencies,
  hash,
  integer,
  intString,
  orNull,
  rawAddress,
  viewAccountKey,
  viewBytes,
} from '../request/scalars.ts';

const accountState = named(
  'AccountStateFull',
  object({
    address: orNull(rawAddress),
    account_state_hash: hash,
    balance: orNull(intString),
    extra_currencies: orNull(extraCurrencies),
    status: orNull(accountStatus),
    frozen_hash: optional(hash),
    last_transaction_hash: orNull(hash),
    last_transaction_lt: orNull(intString),
    data_hash: optional(hash),
    code_hash: optional(hash),
    data_boc: optional(anyText),
    code_boc: optional(anyText),
    contract_methods: orNull(list(integer)),
    interfaces: orNull(list(anyText)),
  }),
);

const response = named(
  'AccountStatesResponse',
  object({ accounts: list(accountState, LIMIT_MAX), ...answerAnnotations }),
);

/** An account of service/v3/README.md#account-states; bags of cells that the row lacks are omitted. */
export function viewAccountState(row: AccountRow): Infer<typeof accountState> {
  const codeHash = row.code_hash === null ? null : viewBytes(row.code_hash);
  return {
    address: viewAccountKey(row.account),
    account_state_hash: viewBytes(row.hash),
    balance: row.balance.toString(),
    extra_currencies: viewCurrencies(row),
    status: viewStatus(row.status),
    ...(row.frozen_hash !== null && { frozen_hash: viewBytes(row.frozen_hash) }),
    last_transaction_hash: viewBytes(row.last_trans_hash),
    last_transaction_lt: row.last_trans_lt.toString(),
    ...(row.data_hash !== null && { data_hash: viewBytes(row.data_hash) }),
    ...(codeHash !== null && { code_hash: codeHash }),
    ...(row.data_boc !== null && { data_boc: viewBytes(row.data_boc) }),
    ...(row.code_boc !== null && { code_boc: viewBytes(row.code_boc) }),
    contract_methods: row.methods,
    interfaces: interfacesOf({ codeHash, methods: row.methods }),
  };
}

/** Dependencies of the operations on account states. */
export type AccountStateDependencies = { readonly contents: AccountContents; readonly notes: AnswerAnnotations };

/** States of accounts as of the newest indexed block (service/v3/README.md#account-states). */
export function accountStateOperations(dependencies: AccountStateDependencies): readonly V3Operation[] {
  const { contents, notes } = dependencies;
  return [
    defineV3Operation({
      name: 'accountStates',
      tag: 'accounts',
      summary: 'Newest states of accounts. Accounts that the index does not know are left out.',
      parameters: {
        addresses: requiredList(accounts('address'), 'address of account is required'),
        codeHashes: hashes('code_hash'),
        includeBoc: bool('include_boc', true),
      },
      result: response,
      flat: true,
      handle: async ({ addresses, codeHashes, includeBoc }, context) => {
        const bocs = includeBoc ? 'all' : 'none';
        const found = await readRequested(context.store, addresses, { codeHashes, bocs });
        const rows = await contents.complete(found, { bocs, of: () => true }, context);
        const states = await mapInSlices(rows, viewAccountState, createTimeSlice(context.signal));
        const shown = states.map(({ address }) => address);
        return { accounts: states, ...(await notes.notesOf(shown, context)) };
      },
    }),
  ];
}
