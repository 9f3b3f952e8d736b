import {
  jettonBurns,
  jettonMasters,
  jettonTransfers,
  jettonWallets,
  type JettonMasterRow,
  type JettonWalletRow,
} from '../classification-tables.ts';
import {
  columnsOf,
  createConditions,
  distinctKeys,
  firstOfEach,
  pageOf,
  type Direction,
  type Page,
} from './conditions.ts';
import type { Placed } from './first-seen.ts';
import { addAfter, orderBy, type After, type Order } from './order.ts';
import type { StoreReader } from './reader.ts';
import { findOwnedContracts } from './token-contracts.ts';
import type { SortedPage } from './transactions.ts';
import { findTransfers, partyColumns, type FoundTransfer, type TransferWindow } from './transfers.ts';

/** Filter of masters; all conditions apply. Empty lists are no conditions. Accounts are keys, here and below. */
export type JettonMasterFilter = { readonly addresses: readonly Uint8Array[]; readonly admins: readonly Uint8Array[] };

/** Masters in the order of `findOwnedContracts`. */
export function findJettonMasters(
  store: StoreReader,
  { addresses, admins }: JettonMasterFilter,
  page: Page & After,
): Promise<readonly Placed<JettonMasterRow>[]> {
  const contracts = { table: jettonMasters, owner: 'admin' } as const;
  return findOwnedContracts(store, contracts, { addresses, owners: admins }, page);
}

export type JettonWalletFilter = {
  readonly addresses: readonly Uint8Array[];
  readonly owners: readonly Uint8Array[];
  readonly jettons: readonly Uint8Array[];
  readonly excludesEmpty: boolean;
};

export type FoundJettonWallet = Placed<JettonWalletRow> & {
  /** Metadata of the jetton: endpoint for its unclaimed coins; null without it. */
  readonly payload_apis: unknown;
};

/**
 * Wallets in the order of first sight, or by balance if an order is given. Wallets of owners are ordered by owner first, unless they are of
 * one jetton. Wallets named by address alone are ordered by address. Uses the primary key, the indexes on owner and on jetton (each with id
 * or balance), and the index on both. The order by balance uses its index.
 */
export function findJettonWallets(
  store: StoreReader,
  filter: JettonWalletFilter,
  page: WalletPage & After,
): Promise<readonly FoundJettonWallet[]> {
  const { addresses, jettons, excludesEmpty } = filter;
  const owners = distinctKeys(filter.owners);
  const conditions = createConditions();
  if (addresses.length > 0) conditions.when(addresses, (at) => `t.address = ANY(${at}::bytea[])`);
  if (jettons.length === 1) conditions.when(jettons[0], (at) => `t.jetton = ${at}`);
  if (jettons.length > 1) conditions.when(jettons, (at) => `t.jetton = ANY(${at}::bytea[])`);
  if (excludesEmpty) conditions.and('t.balance > 0');
  const columns = jettonWalletOrder(filter, page);
  const order = orderBy(columns, 't');
  addAfter(conditions, columns, 't', page.after);
  const select = `${columnsOf(jettonWallets, 't')}, t.id`;
  let cut = '';
  if (addresses.length > 0 || owners.length < 2) {
    if (owners.length === 1) conditions.when(owners[0], (at) => `t.owner = ${at}`);
    if (owners.length > 1) conditions.when(owners, (at) => `t.owner = ANY(${at}::bytea[])`);
    cut = `SELECT ${select} FROM jetton_wallets t ${conditions.where()}`;
  } else {
    const list = { select, from: 'jetton_wallets t', key: 't.owner' };
    cut = firstOfEach(list, conditions.place(owners), conditions, order, page);
  }
  return store.read(
    `SELECT ${columnsOf(jettonWallets, 't')}, t.id, CASE WHEN NOT t.mintless_is_claimed THEN (SELECT m.extra -> 'custom_payload_api_uri'
        FROM address_metadata m WHERE m.address = t.jetton AND m.type = 'jetton_masters' AND m.valid) END AS payload_apis
      FROM (SELECT * FROM (${cut}) t ${order} ${pageOf(page)}) t ${order}`,
    conditions.values,
  );
}

export type WalletPage = Page & { readonly sort?: Direction | undefined };

/** Order of jetton wallets (service/v3/README.md#order). */
export function jettonWalletOrder(
  { addresses, jettons, owners }: Omit<JettonWalletFilter, 'excludesEmpty'>,
  { sort }: Pick<WalletPage, 'sort'>,
): Order {
  const isByOwner = jettons.length !== 1 && distinctKeys(owners).length > 1;
  const byOwner = isByOwner ? [{ column: 'owner', type: 'bytea', sort: 'asc' } as const] : [];
  if (sort !== undefined) {
    return [...byOwner, { column: 'balance', type: 'numeric', sort }, { column: 'id', type: 'bigint', sort }];
  }
  const isByAddress = addresses.length > 0 && jettons.length === 0 && owners.length === 0;
  if (isByAddress) return [{ column: 'address', type: 'bytea', sort: 'asc' }];
  return [...byOwner, { column: 'id', type: 'bigint', sort: 'asc' }];
}

export type JettonTransferFilter = TransferWindow & {
  readonly owners: readonly Uint8Array[];
  readonly wallets: readonly Uint8Array[];
  readonly master: Uint8Array | undefined;
  /** Direction from the owner's side: sent, received, or either. */
  readonly direction?: 'in' | 'out' | undefined;
};

/** Transfers that wallets executed, in the order of `findTransfers`; with `in` only transfers that arrived. */
export function findJettonTransfers(
  store: StoreReader,
  filter: JettonTransferFilter,
  page: SortedPage & After,
): Promise<readonly FoundTransfer<typeof jettonTransfers.columns>[]> {
  return findTransfers(
    store,
    {
      table: jettonTransfers,
      parties: { columns: partyColumns('source', 'destination', filter.direction), keys: filter.owners },
      contract: { column: 'jetton_wallet', keys: filter.wallets },
      family: { column: 'jetton_master', key: filter.master },
      // Callers that ask for incoming transfers want to book them.
      only: ['NOT t.tx_aborted', ...(filter.direction === 'in' ? ['NOT t.returned'] : [])],
    },
    filter,
    page,
  );
}

/** Burns, failed burns included, in the order of `findTransfers`. */
export function findJettonBurns(
  store: StoreReader,
  filter: Omit<JettonTransferFilter, 'direction'>,
  page: SortedPage & After,
): Promise<readonly FoundTransfer<typeof jettonBurns.columns>[]> {
  return findTransfers(
    store,
    {
      table: jettonBurns,
      parties: { columns: ['owner'], keys: filter.owners },
      contract: { column: 'jetton_wallet', keys: filter.wallets },
      family: { column: 'jetton_master', key: filter.master },
    },
    filter,
    page,
  );
}
