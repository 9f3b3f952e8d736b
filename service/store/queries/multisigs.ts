import { multisigOrders, multisigs, type MultisigOrderRow, type MultisigRow } from '../meaning-tables.ts';
import { columnsOf, createConditions, firstSeen, pageOf, type Direction, type Page } from './conditions.ts';
import type { StoreReader } from './reader.ts';

/** What multisigs must be; all of it. Empty lists ask for nothing. Accounts are keys. */
export type MultisigFilter = {
  readonly addresses: readonly Uint8Array[];
  /** Signers or proposers: any of them. */
  readonly wallets: readonly Uint8Array[];
};

export type MultisigOrderFilter = {
  readonly addresses: readonly Uint8Array[];
  readonly multisigs: readonly Uint8Array[];
};

type SortedPage = Page & { readonly sort: Direction };

/** Multisigs: those that were asked for by address by that, others as they were first seen. */
export function findMultisigs(
  store: StoreReader,
  { addresses, wallets }: MultisigFilter,
  page: SortedPage,
): Promise<readonly MultisigRow[]> {
  const conditions = createConditions();
  if (addresses.length > 0) conditions.when(addresses, (at) => `m.address = ANY(${at}::bytea[])`);
  if (wallets.length > 0) {
    conditions.when(wallets, (at) => `(m.signers && ${at}::bytea[] OR m.proposers && ${at}::bytea[])`);
  }
  const order = addresses.length > 0 ? 'm.address' : `${firstSeen('m')} ${page.sort}`;
  return store.read(
    `SELECT ${columnsOf(multisigs, 'm')} FROM multisigs m ${conditions.where()} ORDER BY ${order} ${pageOf(page)}`,
    conditions.values,
  );
}

/** Orders, in the order of `findMultisigs`. */
export function findMultisigOrders(
  store: StoreReader,
  filter: MultisigOrderFilter,
  page: SortedPage,
): Promise<readonly MultisigOrderRow[]> {
  const conditions = createConditions();
  if (filter.addresses.length > 0) conditions.when(filter.addresses, (at) => `o.address = ANY(${at}::bytea[])`);
  if (filter.multisigs.length > 0) conditions.when(filter.multisigs, (at) => `o.multisig = ANY(${at}::bytea[])`);
  return store.read(
    `SELECT ${columnsOf(multisigOrders, 'o')} FROM multisig_orders o ${conditions.where()} ORDER BY ${orderOfOrders(filter, page.sort)} ${pageOf(page)}`,
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

function orderOfOrders({ addresses, multisigs: owners }: MultisigOrderFilter, sort: Direction): string {
  if (addresses.length > 0) return 'o.address';
  // The orders of one stand in its index in their order.
  return owners.length === 1 ? `o.multisig ${sort}, o.id ${sort}` : `${firstSeen('o')} ${sort}`;
}
