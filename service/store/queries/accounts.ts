import type { LatestAccountStateRow } from '../tables.ts';
import { momentColumns, momentOf, type Moment, type MomentRow } from './account-changes.ts';
import { anyKeyAt, createConditions, keysAt, pageOf, type Page } from './conditions.ts';
import { shortestFirst } from './dns.ts';
import { addAfter, orderBy, type After, type Order } from './order.ts';
import type { StoreReader } from './reader.ts';

/** An account's newest indexed state and the data of its code. */
export type AccountRow = Omit<LatestAccountStateRow, 'data_boc_hash' | 'data_boc_lt' | 'changed_lt'> & {
  /** Null when not requested, or not known whole. */
  readonly data_boc: Uint8Array | null;
  /** Null when not requested, or unknown. */
  readonly code_boc: Uint8Array | null;
  readonly methods: readonly number[] | null;
};

export type AccountFilter = {
  /** Keys of `accountKey`. */
  readonly accounts: readonly Uint8Array[];
  /** Empty: any code. */
  readonly codeHashes: readonly Uint8Array[];
  /** Bags of cells to read. */
  readonly bocs: 'none' | 'data' | 'all';
};

/** Newest states of the accounts that the index has, in no order. Uses the primary keys of `latest_account_states` and `codes`. */
export function readAccounts(store: StoreReader, filter: AccountFilter): Promise<readonly AccountRow[]> {
  const data = filter.bocs === 'none' ? 'NULL::bytea' : 'CASE WHEN l.data_boc_hash = l.data_hash THEN l.data_boc END';
  const code = filter.bocs === 'all' ? 'c.boc' : 'NULL::bytea';
  const conditions = createConditions();
  conditions.when(filter.accounts, (at) => `l.account = ANY(${at}::bytea[])`);
  if (filter.codeHashes.length > 0) conditions.when(filter.codeHashes, (at) => `l.code_hash = ANY(${at}::bytea[])`);
  return store.read(
    `SELECT l.account, l.hash, l.balance, l.extra_currencies, l.status, l.utime, l.last_trans_hash, l.last_trans_lt,
       l.frozen_hash, l.data_hash, l.code_hash, ${data} AS data_boc, ${code} AS code_boc, c.methods
     FROM latest_account_states l LEFT JOIN codes c ON c.code_hash = l.code_hash ${conditions.where()}`,
    conditions.values,
  );
}

/** Data of an account besides its state. */
export type AccountNameRow = {
  /** Null for an account without code, and for an account outside of the index. */
  readonly code_hash: Uint8Array | null;
  /** Shortest of the domains that the account owns and that resolve to it. */
  readonly domain: string | null;
  /** True if the account is or was a token or a wallet of a token. */
  readonly is_token: boolean;
  /** True if the index has a state of the account. */
  readonly is_indexed: boolean;
};

/** Names of accounts, and stale accounts among earlier results. @property rows a row for each account, in the given order */
export type AccountNames = Moment & { readonly rows: readonly AccountNameRow[] };

/**
 * Codes, domains and tokens of the same snapshot. Uses the primary keys of `latest_account_states` and `token_accounts`,
 * `dns_entries_of_themselves` and `account_changes_by_xid`. @param since a transaction, `settled` of an earlier result; undefined: no
 * changes
 */
export async function readAccountNames(
  store: StoreReader,
  accounts: readonly Uint8Array[],
  since: bigint | undefined,
): Promise<AccountNames> {
  const [moment, ...rows] = await store.read<AccountNameRow & MomentRow>(
    `SELECT 0 AS place, ${momentColumns('$2')},
       NULL::bytea AS code_hash, NULL AS domain, false AS is_token, false AS is_indexed
     UNION ALL SELECT a.place, NULL, NULL, l.code_hash, d.domain, t.account IS NOT NULL, l.account IS NOT NULL
     FROM unnest(${keysAt('$1')}) WITH ORDINALITY AS a (account, place)
     LEFT JOIN latest_account_states l ON l.account = a.account
     LEFT JOIN token_accounts t ON t.account = a.account
     LEFT JOIN LATERAL (
       SELECT domain FROM dns_entries WHERE nft_item_owner = a.account AND nft_item_owner IS NOT DISTINCT FROM wallet ORDER BY ${shortestFirst} LIMIT 1
     ) d ON true
     ORDER BY place`,
    [accounts, since?.toString() ?? null],
    { statement: 'account_names' },
  );
  return { rows, ...momentOf(moment!) };
}

export type CodeMethodsRow = Pick<AccountRow, 'methods'> & { readonly code_hash: Uint8Array };

/** Methods of the codes that the index has, in no order. Uses the primary key of `codes`. */
export function readCodeMethods(
  store: StoreReader,
  codeHashes: readonly Uint8Array[],
): Promise<readonly CodeMethodsRow[]> {
  return store.read(`SELECT code_hash, methods FROM codes WHERE code_hash = ${anyKeyAt('$1')}`, [codeHashes], {
    statement: 'code_methods',
  });
}

export type BalanceRow = Pick<LatestAccountStateRow, 'account' | 'balance'>;

/** Largest balance first, then address (service/v3/README.md#order). */
export const topBalanceOrder: Order = [
  { column: 'balance', type: 'numeric', sort: 'desc' },
  { column: 'account', type: 'bytea', sort: 'asc' },
];

/** Balances in the order of `topBalanceOrder`. Uses the index on both. */
export function readTopBalances(store: StoreReader, page: Page & After): Promise<readonly BalanceRow[]> {
  const conditions = createConditions();
  addAfter(conditions, topBalanceOrder, 'l', page.after);
  return store.read(
    `SELECT l.account, l.balance FROM latest_account_states l ${conditions.where()} ${orderBy(topBalanceOrder, 'l')} ${pageOf(page)}`,
    conditions.values,
  );
}
