import { crc16, formatFriendlyAddress } from '../decode/address.ts';
import type { DnsEntry, LiveDns } from '../live/tokens/dns.ts';
import { isAskable } from '../live/tokens/dns-names.ts';
import type { DnsRecord } from '../live/tokens/dns-records.ts';
import { address } from './address-parameter.ts';
import { invalid } from '../contract/errors.ts';
import { optionalNonNegative, optionalSeqno } from './integer-parameter.ts';
import { defineOperation, mapAnswer, type Operation } from '../contract/operation.ts';
import { withDefault, type OptionalParameter } from '../contract/parameter.ts';
import { base64, hash, hexHash, text } from './scalars.ts';
import { constant, list, named, object, scalar, variants, type Infer } from '../contract/shape.ts';
import { accountAddress, viewAccountAddress, viewHash } from './views.ts';

const adnlAddress = named(
  'AdnlAddress',
  object({
    '@type': constant('adnlAddress'),
    adnl_address: scalar<string>({ type: 'string', pattern: '^[A-Za-z2-7]{55}$' }),
  }),
);

const entryData = named(
  'DnsEntryData',
  variants(
    '@type',
    {
      'dns.entryDataUnknown': 'DnsEntryDataUnknown',
      'dns.entryDataText': 'DnsEntryDataText',
      'dns.entryDataNextResolver': 'DnsEntryDataNextResolver',
      'dns.entryDataSmcAddress': 'DnsEntryDataSmcAddress',
      'dns.entryDataAdnlAddress': 'DnsEntryDataAdnlAddress',
      'dns.entryDataStorageAddress': 'DnsEntryDataStorageAddress',
    },
    [
      named('DnsEntryDataUnknown', object({ '@type': constant('dns.entryDataUnknown'), bytes: base64 })),
      named('DnsEntryDataText', object({ '@type': constant('dns.entryDataText'), text })),
      named(
        'DnsEntryDataNextResolver',
        object({ '@type': constant('dns.entryDataNextResolver'), resolver: accountAddress }),
      ),
      named(
        'DnsEntryDataSmcAddress',
        object({ '@type': constant('dns.entryDataSmcAddress'), smc_address: accountAddress }),
      ),
      named(
        'DnsEntryDataAdnlAddress',
        object({ '@type': constant('dns.entryDataAdnlAddress'), adnl_address: adnlAddress }),
      ),
      named(
        'DnsEntryDataStorageAddress',
        object({ '@type': constant('dns.entryDataStorageAddress'), bag_id: hexHash }),
      ),
    ],
  ),
);

const dnsEntry = named(
  'DnsEntry',
  object({ '@type': constant('dns.entry'), name: text, category: hash, entry: entryData }),
);

const dnsResolved = named('DnsResolved', object({ '@type': constant('dns.resolved'), entries: list(dnsEntry) }));

export function viewResolved(entries: readonly DnsEntry[]): Infer<typeof dnsResolved> {
  return {
    '@type': 'dns.resolved',
    entries: entries.map(({ name, category, record }) => ({
      '@type': 'dns.entry',
      name,
      category: viewHash(category),
      entry: viewRecord(record),
    })),
  };
}

function viewRecord(record: DnsRecord): Infer<typeof entryData> {
  switch (record.kind) {
    case 'text':
      return { '@type': 'dns.entryDataText', text: record.text.toString() };
    case 'nextResolver':
      return { '@type': 'dns.entryDataNextResolver', resolver: viewAccount(record.resolver) };
    case 'smcAddress':
      return { '@type': 'dns.entryDataSmcAddress', smc_address: viewAccount(record.address) };
    case 'adnlAddress':
      return {
        '@type': 'dns.entryDataAdnlAddress',
        adnl_address: { '@type': 'adnlAddress', adnl_address: adnlText(record.address) },
      };
    case 'storageAddress':
      return { '@type': 'dns.entryDataStorageAddress', bag_id: record.bagId.toString('hex') };
    case 'unknown':
      return { '@type': 'dns.entryDataUnknown', bytes: record.boc.toString('base64') };
    default:
      return record satisfies never;
  }
}

function viewAccount(account: { workchain: number; id: Buffer }): Infer<typeof accountAddress> {
  return viewAccountAddress(formatFriendlyAddress(account));
}

const base32Digits = 'abcdefghijklmnopqrstuvwxyz234567';

/** First byte of an ADNL address as text. Its digit is the same in all addresses and is left out. */
const adnlTag = 0x2d;

/** Base32 of a tag, the 32 bytes and their CRC-16: 55 digits. */
function adnlText(id: Buffer): string {
  const bytes = Buffer.alloc(35, adnlTag);
  id.copy(bytes, 1);
  bytes.writeUInt16BE(crc16(bytes.subarray(0, 33)), 33);
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('');
  const digits = bits.match(/.{5}/g) ?? [];
  return digits
    .map((digit) => base32Digits[Number.parseInt(digit, 2)])
    .join('')
    .slice(1);
}

/** Dotted labels; the empty name is the resolver's own. */
const domainName: OptionalParameter<string> = {
  name: 'name',
  missing: undefined,
  parse: (raw) => {
    if (typeof raw !== 'string') throw invalid('failed to parse name', 'name');
    return raw;
  },
  check: (value) => (isAskable(value) ? undefined : 'Name is too long'),
  input: { name: 'DomainInput', schema: { type: 'string' } },
};

/** Accepted and ignored, as the peers do: answers have records of all categories. */
const category: OptionalParameter<unknown> = {
  name: 'category',
  missing: undefined,
  parse: (raw) => raw,
  check: () => undefined,
  input: { name: 'CategoryInput', schema: { type: 'string' } },
};

export function dnsOperations(dns: LiveDns): readonly Operation[] {
  return [
    defineOperation({
      name: 'dnsResolve',
      methods: ['GET', 'POST'],
      tag: 'accounts',
      summary: 'Records of a domain name, from its resolvers.',
      parameters: {
        resolver: address,
        name: withDefault(domainName, ''),
        category,
        hops: withDefault(optionalNonNegative('ttl'), 0),
        seqno: optionalSeqno,
      },
      result: dnsResolved,
      handle: async ({ resolver, name, hops, seqno }, context) =>
        mapAnswer(await dns.resolve({ resolver, name, hops }, seqno, context), viewResolved),
    }),
  ];
}
