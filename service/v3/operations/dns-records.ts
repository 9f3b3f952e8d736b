import { list, named, object, type Infer } from '#service/contract/shape.ts';
import { accountKey } from '#service/store/account-key.ts';
import type { DnsEntryRow } from '#service/store/classification-tables.ts';
import { dnsOrder, findDnsRecords } from '#service/store/queries/dns.ts';
import { addressBook, type AddressBooks } from '../annotations/address-book.ts';
import { openCursor, announceNextPage } from '../request/cursor.ts';
import { defineV3Operation, type V3Operation } from '../request/operation.ts';
import { account, cursorPage, LIMIT_MAX, plainText } from '../request/parameters.ts';
import { anyText, orNull, rawAddress, viewAccountKey } from '../request/scalars.ts';

const dnsRecord = named(
  'DNSRecord',
  object({
    nft_item_address: rawAddress,
    nft_item_owner: orNull(rawAddress),
    domain: anyText,
    dns_next_resolver: orNull(rawAddress),
    dns_wallet: orNull(rawAddress),
    dns_site_adnl: orNull(anyText),
    dns_storage_bag_id: orNull(anyText),
  }),
);

const response = named(
  'DNSRecordsResponse',
  object({ records: list(dnsRecord, LIMIT_MAX), address_book: addressBook }),
);

const listOrder = { list: 'dns/records', order: dnsOrder };

/** Operations on domains and their records (service/v3/README.md#dns-records). */
export function dnsOperations(addressBooks: Pick<AddressBooks, 'bookOf'>): readonly V3Operation[] {
  return [
    defineV3Operation({
      name: 'dns/records',
      tag: 'dns',
      summary: 'Records of a domain, or of all domains that stand for a wallet.',
      parameters: { wallet: account('wallet'), domain: plainText('domain'), ...cursorPage },
      rule: {
        schema: {},
        check: ({ wallet, domain }) => {
          if (wallet === undefined && domain === undefined) return 'either wallet address or domain is required';
          const both = wallet !== undefined && domain !== undefined;
          return both ? 'provide either wallet address or domain, not both' : undefined;
        },
      },
      result: response,
      flat: true,
      handle: async ({ wallet, domain, ...part }, context) => {
        const filter = { wallet: wallet && accountKey(wallet), domain };
        const after = openCursor(listOrder, part);
        const rows = await findDnsRecords(context.store, filter, { ...part, after });
        announceNextPage(listOrder, rows, part.limit, context);
        const records = rows.map(viewRecord);
        return { records, address_book: await addressBooks.bookOf(records.flatMap(accountsOf), context) };
      },
    }),
  ];
}

function viewRecord(row: DnsEntryRow): Infer<typeof dnsRecord> {
  return {
    nft_item_address: viewAccountKey(row.nft_item),
    nft_item_owner: viewKeyOrNull(row.nft_item_owner),
    domain: row.domain,
    dns_next_resolver: viewKeyOrNull(row.next_resolver),
    dns_wallet: viewKeyOrNull(row.wallet),
    dns_site_adnl: row.site_adnl,
    dns_storage_bag_id: row.storage_bag_id,
  };
}

function viewKeyOrNull(key: Uint8Array | null): string | null {
  return key === null ? null : viewAccountKey(key);
}

/** The resolver is not in the address book. */
function accountsOf(record: Infer<typeof dnsRecord>): (string | null)[] {
  return [record.nft_item_address, record.nft_item_owner, record.dns_wallet];
}
