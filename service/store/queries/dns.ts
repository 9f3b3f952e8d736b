import { dnsEntries, type DnsEntryRow } from '../classification-tables.ts';
import { columnsOf, createConditions, pageOf, type Page } from './conditions.ts';
import { addAfter, orderBy, type After, type Order } from './order.ts';
import type { StoreReader } from './reader.ts';

/** Filter of records; all conditions apply. */
export type DnsFilter = {
  /** Key of the account that the name resolves to. */
  readonly wallet?: Uint8Array | undefined;
  /** The full name, letter by letter. */
  readonly domain?: string | undefined;
};

/** Short names first, compared by bytes in every locale of the database. Equal names are ordered by their items. */
export const shortestFirst = 'length(domain), domain COLLATE "C", nft_item';

/** The same order for rows with their length and sort name. */
export const dnsOrder: Order = [
  { column: 'length', type: 'integer', sort: 'asc' },
  { column: 'name', type: 'text', sort: 'asc' },
  { column: 'nft_item', type: 'bytea', sort: 'asc' },
];

export type PlacedDnsEntry = DnsEntryRow & { readonly length: number; readonly name: string };

/** Records of names, the shortest first. Uses `dns_entries_by_wallet` or `dns_entries_by_domain`. */
export function findDnsRecords(
  store: StoreReader,
  filter: DnsFilter,
  page: Page & After,
): Promise<readonly PlacedDnsEntry[]> {
  // Postgres texts cannot contain NUL, and no name contains it.
  if (filter.domain?.includes('\0') === true) return Promise.resolve([]);
  const conditions = createConditions();
  conditions.when(filter.wallet, (at) => `d.wallet = ${at}`);
  conditions.when(filter.domain, (at) => `d.domain = ${at}`);
  addAfter(conditions, dnsOrder, 'd', page.after);
  const placed = `(SELECT ${columnsOf(dnsEntries, 'e')}, length(e.domain) AS length, e.domain COLLATE "C" AS name FROM dns_entries e) d`;
  return store.read(
    `SELECT ${columnsOf(dnsEntries, 'd')}, d.length, d.name FROM ${placed} ${conditions.where()} ${orderBy(dnsOrder, 'd')} ${pageOf(page)}`,
    conditions.values,
  );
}
