import { list, named, object } from '#service/contract/shape.ts';
import { readTopBalances, topBalanceOrder } from '#service/store/queries/accounts.ts';
import { readPage } from '../request/cursor.ts';
import { isNewestPage } from '../request/newest-page.ts';
import { defineV3Operation, type V3Operation } from '../request/operation.ts';
import { cursorPage, LIMIT_MAX } from '../request/parameters.ts';
import { intString, rawAddress, viewAccountKey } from '../request/scalars.ts';

const accountBalance = named('AccountBalance', object({ account: rawAddress, balance: intString }));

const listOrder = { list: 'topAccountsByBalance', order: topBalanceOrder };

/** The richest accounts (service/v3/README.md#chain-operations): a bare list. */
export function topAccountOperations(): readonly V3Operation[] {
  return [
    defineV3Operation({
      name: 'topAccountsByBalance',
      tag: 'accounts',
      summary: 'Accounts and their balances, the richest first.',
      parameters: cursorPage,
      result: list(accountBalance, LIMIT_MAX),
      sameForBlock: isNewestPage,
      handle: async (values, context) => {
        const rows = await readPage(listOrder, values, context, (after) =>
          readTopBalances(context.store, { ...values, after }),
        );
        return rows.map(({ account, balance }) => ({ account: viewAccountKey(account), balance: balance.toString() }));
      },
    }),
  ];
}
