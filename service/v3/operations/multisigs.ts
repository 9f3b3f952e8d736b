import { createTimeSlice, mapInSlices } from '#service/runtime/time-slice.ts';
import { list, named, object } from '#service/contract/shape.ts';
import { READ_LIMITS, ReadBudget } from '#service/decode/read-budget.ts';
import { accountKey } from '#service/store/account-key.ts';
import type { MultisigOrderRow } from '#service/store/classification-tables.ts';
import { seenOrder } from '#service/store/queries/first-seen.ts';
import {
  findMultisigOrders,
  findMultisigs,
  findOrdersOf,
  multisigOrdersOrder,
} from '#service/store/queries/multisigs.ts';
import { addressBook, type AddressBooks } from '../annotations/address-book.ts';
import { openCursor, announceNextPage } from '../request/cursor.ts';
import { V3Error } from '../request/errors.ts';
import { accountsOfActions, ORDER_STEPS_MAX, readOrderActions } from '../views/multisig-order.ts';
import {
  multisig,
  multisigOrder,
  viewMultisig,
  viewMultisigOrder,
  type MultisigOrderView,
  type MultisigView,
} from '../views/multisig-views.ts';
import { defineV3Operation, type V3Operation } from '../request/operation.ts';
import { accounts, bool, cursorPaging, LIMIT_MAX } from '../request/parameters.ts';
import { viewAccountKey } from '../request/scalars.ts';

/** Orders of multisigs in an answer: 4 MB of usual orders. */
const ORDERS_MAX = 4000;

/** Bytes of BoCs of orders in an answer, same as for states of accounts. JSON of their steps is some three times as large at most. */
const BYTES_MAX = 12 * 1024 * 1024;

const multisigsResponse = named(
  'MultisigResponse',
  object({ multisigs: list(multisig, LIMIT_MAX), address_book: addressBook }),
);

const ordersResponse = named(
  'MultisigOrderResponse',
  object({ orders: list(multisigOrder, LIMIT_MAX), address_book: addressBook }),
);

/** JSON characters of the steps of all orders in an answer. Each order may use `READ_LIMITS.output` of them. */
const STEPS_OUTPUT_MAX = 3 * 1024 * 1024;

/** Multisigs of version 2 and their orders (service/v3/README.md#multisigs). */
export function multisigOperations(addressBooks: Pick<AddressBooks, 'bookOf'>): readonly V3Operation[] {
  return [
    defineV3Operation({
      name: 'multisig/wallets',
      tag: 'multisig',
      summary: 'Multisig wallets by address, or by who signs or proposes.',
      parameters: {
        addresses: accounts('address'),
        wallets: accounts('wallet_address'),
        includeOrders: bool('include_orders', true),
        ...cursorPaging,
      },
      rule: {
        schema: {},
        check: ({ addresses, wallets }) =>
          addresses.length + wallets.length > 0
            ? undefined
            : 'At least one of address or wallet_address should be specified',
      },
      result: multisigsResponse,
      handle: async ({ addresses, wallets, includeOrders, ...page }, context) => {
        const filter = { addresses: addresses.map(accountKey), wallets: wallets.map(accountKey) };
        const listOrder = { list: 'multisig/wallets', order: seenOrder(page.sort) };
        const after = openCursor(listOrder, page);
        const rows = await findMultisigs(context.store, filter, { ...page, after });
        announceNextPage(listOrder, rows, page.limit, context);
        const owners = includeOrders ? rows.map(({ address }) => address) : [];
        const orders = await findOrdersOf(context.store, owners, ORDERS_MAX + 1);
        if (orders.length > ORDERS_MAX) {
          throw new V3Error('answer_too_large', 'too many orders: lower limit, or ask multisig/orders');
        }
        const views = Map.groupBy(await viewOrders(orders, false, context.signal), (order) => order.multisig_address);
        const multisigs = rows.map((row) => viewMultisig(row, views.get(viewAccountKey(row.address)) ?? []));
        return { multisigs, address_book: await addressBooks.bookOf(accountsOfMultisigs(multisigs), context) };
      },
    }),
    defineV3Operation({
      name: 'multisig/orders',
      tag: 'multisig',
      summary: 'Orders of multisig wallets by address, or by their wallet.',
      parameters: {
        addresses: accounts('address'),
        multisigs: accounts('multisig_address'),
        parseActions: bool('parse_actions'),
        ...cursorPaging,
      },
      rule: {
        schema: {},
        check: ({ addresses, multisigs }) =>
          addresses.length + multisigs.length > 0
            ? undefined
            : 'At least one of address or multisig_address should be specified',
      },
      result: ordersResponse,
      handle: async ({ addresses, multisigs, parseActions, ...page }, context) => {
        const filter = { addresses: addresses.map(accountKey), multisigs: multisigs.map(accountKey) };
        const listOrder = { list: 'multisig/orders', order: multisigOrdersOrder(filter, page.sort) };
        const after = openCursor(listOrder, page);
        const rows = await findMultisigOrders(context.store, filter, { ...page, after });
        announceNextPage(listOrder, rows, page.limit, context);
        const orders = await viewOrders(rows, parseActions, context.signal);
        return { orders, address_book: await addressBooks.bookOf(accountsOfOrders(orders), context) };
      },
    }),
  ];
}

async function viewOrders(
  rows: readonly MultisigOrderRow[],
  parseActions: boolean,
  signal: AbortSignal,
): Promise<MultisigOrderView[]> {
  const bytes = rows.reduce((sum, row) => sum + row.order_boc.length, 0);
  if (bytes > BYTES_MAX) throw new V3Error('answer_too_large', 'the answer is too large: lower limit');
  const timeSlice = createTimeSlice(signal);
  const views: MultisigOrderView[] = [];
  let left = STEPS_OUTPUT_MAX;
  for (const row of rows) {
    await timeSlice.pause();
    const budget = new ReadBudget({ steps: ORDER_STEPS_MAX, output: Math.min(left, READ_LIMITS.output) });
    const steps = parseActions
      ? await mapInSlices(readOrderActions(row.order_boc, budget), (step) => step, timeSlice)
      : null;
    views.push(viewMultisigOrder(row, steps));
    left = Math.max(0, left - budget.outputTaken);
  }
  return views;
}

function* accountsOfMultisigs(multisigs: readonly MultisigView[]): Generator<string> {
  for (const { address, signers, proposers, orders } of multisigs) {
    yield address;
    yield* signers ?? [];
    yield* proposers ?? [];
    yield* accountsOfOrders(orders ?? []);
  }
}

function* accountsOfOrders(orders: readonly MultisigOrderView[]): Generator<string> {
  for (const { address, multisig_address: owner, signers, actions } of orders) {
    yield address;
    yield owner;
    yield* signers ?? [];
    yield* accountsOfActions(actions ?? []);
  }
}
