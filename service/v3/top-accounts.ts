import { list, named, object } from '../contract/shape.ts';
import { readTopBalances } from '../store/queries/accounts.ts';
import { defineV3Operation, type V3Operation } from './operation.ts';
import { limitMax, page } from './parameters.ts';
import { intString, rawAddress, viewAccountKey } from './scalars.ts';

const accountBalance = named('AccountBalance', object({ account: rawAddress, balance: intString }));

/** The richest accounts (v3 sheet section 7): a bare list. */
export function topAccountOperations(): readonly V3Operation[] {
  return [
    defineV3Operation({
      name: 'topAccountsByBalance',
      tag: 'accounts',
      summary: 'Accounts and their balances, the richest first.',
      parameters: page,
      result: list(accountBalance, limitMax),
      handle: async (values, { store }) => {
        const rows = await readTopBalances(store, values);
        return rows.map(({ account, balance }) => ({ account: viewAccountKey(account), balance: balance.toString() }));
      },
    }),
  ];
}
