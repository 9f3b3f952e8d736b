import { multisigOrders, multisigs, type MultisigOrderRow, type MultisigRow } from '../classification-tables.ts';
import { columnsOf, createConditions, limitOfEach, pageOf, type Direction, type Page } from './conditions.ts';
import { seenOrder, withId, type Placed } from './first-seen.ts';
import { addAfter, orderBy, type After, type Order } from './order.ts';
import type { StoreReader } from './reader.ts';

/** Filter of multisigs; all conditions apply. Empty lists are no conditions. Accounts are keys. */
export type MultisigFilter = {
  readonly addresses: readonly Uint8Array[];
  /** Signers or proposers: any of them. */
  readonly wallets: readonly Uint8Array[];
};

export type MultisigOrderFilter = {
  readonly addresses: readonly Uint8Array[];
  readonly multisigs: readonly Uint8Array[];
};

type SortedPage = Page & After & { readonly sort: Direction };

/** Multisigs in the order of first sight. */
export function findMultisigs(
  store: StoreReader,
  filter: MultisigFilter,
  page: SortedPage,
): Promise<readonly Placed<MultisigRow>[]> {
  const { addresses, wallets } = filter;
  const conditions = createConditions();
  const order = seenOrder(page.sort);
  if (addresses.length === 0) {
    const source = placesOf(wallets, order, page, conditions);
    return store.read(
      `SELECT ${columnsOf(multisigs, 'm')}, m.id FROM (${source}) p JOIN ${multisigs.name} m USING (id) ${orderBy(order, 'm')}`,
      conditions.values,
    );
  }
  conditions.when(addresses, (at) => `m.address = ANY(${at}::bytea[])`);
  if (wallets.length > 0) {
    conditions.when(wallets, (at) => `(m.signers && ${at}::bytea[] OR m.proposers && ${at}::bytea[])`);
  }
  addAfter(conditions, order, 'm', page.after);
  return store.read(
    `SELECT ${columnsOf(multisigs, 'm')}, m.id FROM ${withId(multisigs, 'm')} ${conditions.where()} ${orderBy(order, 'm')} ${pageOf(page)}`,
    conditions.values,
  );
}

/** A page of `id`s of the multisigs of signers or proposers. No list of a wallet is read further than the page goes. */
function placesOf(
  wallets: readonly Uint8Array[],
  order: Order,
  page: SortedPage,
  conditions: ReturnType<typeof createConditions>,
): string {
  const keys = conditions.place(wallets);
  conditions.and('e.member = w.key');
  addAfter(conditions, order, 'e', page.after);
  return `SELECT DISTINCT e.id FROM unnest(${keys}::bytea[]) w(key)
    CROSS JOIN LATERAL (SELECT e.id FROM multisig_members e ${conditions.where()} ${orderBy(order, 'e')} ${limitOfEach(page)}) e
    ${orderBy(order, 'e')} ${pageOf(page)}`;
}

/** The order of first sight. Orders of a single multisig are in that order in its index. */
export function multisigOrdersOrder({ addresses, multisigs: owners }: MultisigOrderFilter, sort: Direction): Order {
  const isOfOne = addresses.length === 0 && owners.length === 1;
  return isOfOne ? [{ column: 'multisig', type: 'bytea', sort }, ...seenOrder(sort)] : seenOrder(sort);
}

/** Orders in the order of `multisigOrdersOrder`. */
export function findMultisigOrders(
  store: StoreReader,
  filter: MultisigOrderFilter,
  page: SortedPage,
): Promise<readonly Placed<MultisigOrderRow>[]> {
  const { addresses, multisigs: owners } = filter;
  const conditions = createConditions();
  if (addresses.length > 0) conditions.when(addresses, (at) => `o.address = ANY(${at}::bytea[])`);
  if (owners.length > 0) conditions.when(owners, (at) => `o.multisig = ANY(${at}::bytea[])`);
  const order = multisigOrdersOrder(filter, page.sort);
  addAfter(conditions, order, 'o', page.after);
  const from = order.length > 1 ? `${multisigOrders.name} o` : withId(multisigOrders, 'o');
  return store.read(
    `SELECT ${columnsOf(multisigOrders, 'o')}, o.id FROM ${from} ${conditions.where()} ${orderBy(order, 'o')} ${pageOf(page)}`,
    conditions.values,
  );
}

/** Orders of multisigs as they were first seen, `ordersMax` at most. */
export function findOrdersOf(
  store: StoreReader,
  owners: readonly Uint8Array[],
  ordersMax: number,
): Promise<readonly MultisigOrderRow[]> {
  if (owners.length === 0) return Promise.resolve([]);
  const filter = { addresses: [], multisigs: owners };
  return findMultisigOrders(store, filter, { limit: ordersMax, offset: 0, sort: 'asc' });
}
