import { dnsEntries, type DnsEntryRow } from '../meaning-tables.ts';
import { columnsOf, createConditions, pageOf, type Page } from './conditions.ts';
import type { StoreReader } from './reader.ts';

/** What records must be; all of it. */
export type DnsFilter = {
  /** Key of the account that the name stands for. */
  readonly wallet?: Uint8Array | undefined;
  /** The full name, letter by letter. */
  readonly domain?: string | undefined;
};

/** Short names first: by bytes, whatever language the database sorts by. Names of one spelling by their items. */
export const shortestFirst = 'length(domain), domain COLLATE "C", nft_item';

/** Records of names, the shortest first. Rides `dns_entries_by_wallet` or `dns_entries_by_domain`. */
export function findDnsRecords(store: StoreReader, filter: DnsFilter, page: Page): Promise<readonly DnsEntryRow[]> {
  // Postgres has no text with a NUL in it, and no name has one.
  if (filter.domain?.includes('\0') === true) return Promise.resolve([]);
  const conditions = createConditions();
  conditions.when(filter.wallet, (at) => `d.wallet = ${at}`);
  conditions.when(filter.domain, (at) => `d.domain = ${at}`);
  return store.read(
    `SELECT ${columnsOf(dnsEntries, 'd')} FROM dns_entries d ${conditions.where()} ORDER BY ${shortestFirst} ${pageOf(page)}`,
    conditions.values,
  );
}
