import { BOUNCE_OPCODES } from '#service/decode/tlb/bounced-body.ts';
import type { ContractSlice } from '#service/decode/cell-slice.ts';
import { readChunkedText } from '#service/decode/contract-data.ts';
import { knownCode } from '#service/decode/known-codes.ts';
import { callOf } from '../engine/basic-blocks.ts';
import { isAborted } from '../engine/trace-fragment.ts';
import { body, maybeAddress, uint64, type FieldReader } from '../engine/body.ts';
import type { ActionData } from '../engine/columns.ts';
import type { NftItemInfo } from '../engine/interfaces.ts';
import { innerCall } from '../operations/jettons.ts';
import type { Matcher } from '../engine/matcher.ts';
import { transferValues } from '../operations/nft.ts';
import { call, followedBy, maybe, withoutExcesses } from '../engine/pattern.ts';
import type { FamilyTypes } from '../engine/action-type.ts';
import type { Family } from '../engine/family.ts';

// Names of `.ton` (TEP-81): their auctions, and the records that their owners write.

const collection = '0:B774D95EB20543F186C06B371AB88AD704F7E256130CAF96189368A7D0CB6CCF';

/** True for an item that is a `.ton` name of the main network. A network may delegate `.ton` to another collection, which counts too. */
export function isDnsItem({ codeHash, collection: of, content }: NftItemInfo): boolean {
  // Only detection sets `domain`; an item's own content never has it.
  const domain = content?.['domain'];
  const isItemCode = codeHash !== null && knownCode(codeHash)?.name === 'dns_item';
  return isItemCode || of === collection || (typeof domain === 'string' && domain.endsWith('.ton'));
}

/** Null when the body ends before it. */
const maybeQueryId: FieldReader<bigint | null> = (slice) => (slice.remainingBits < 64 ? null : slice.uint64());
const queryBody = body({ queryId: maybeQueryId });

/** Releases a name for a new sale: by the owner, or by anyone after a year without renewal. */
const release: Matcher<Type> = {
  pattern: call(0x4ed14b65),
  build(root, _found, { interfaces }) {
    const { message, source, destination: item } = innerCall(root);
    const info = interfaces.nftItem(item);
    if (info === undefined || !isDnsItem(info)) return undefined;
    const { queryId } = queryBody(message);
    return {
      type: 'dns_release',
      columns: {
        source,
        destination: item,
        asset: info.collection,
        value: message.value,
        data: transferValues({ query_id: queryId, nft_item_index: info.index }),
      },
      failed: isAborted(root),
    };
  },
};

/** The first call after an auction's end makes the name pay its price to the collection. */
const purchase: Matcher<Type> = {
  pattern: call(0x370fec51),
  build(root, _found, { interfaces }) {
    const { message, source: item } = innerCall(root);
    const info = interfaces.nftItem(item);
    const before = root.previous && callOf(root.previous);
    if (info === undefined || !isDnsItem(info) || before === undefined) return undefined;
    const { queryId } = queryBody(message);
    return {
      type: 'dns_purchase',
      columns: {
        destination: before.message.source,
        asset: info.collection,
        assetSecondary: item,
        data: transferValues({
          query_id: queryId,
          is_purchase: true,
          price: message.value,
          payout_amount: message.value,
          nft_item_index: info.index,
        }),
      },
      failed: isAborted(root),
    };
  },
};

type DnsRecord = { readonly schema: string; readonly value: string | null; readonly flags: number | null };

const hex: FieldReader<string> = (slice) => slice.hash().toString('hex');
/** PostgreSQL stores no NUL. */
const text: FieldReader<string> = (slice) => readChunkedText(slice).toString('utf8').replaceAll('\0', '');

/** Readers of a record after its tag of 16 bits. */
const schemas: ReadonlyMap<
  number,
  { readonly schema: string; readonly read: FieldReader<string | null>; readonly flags?: true }
> = new Map([
  [0xba93, { schema: 'DNSNextResolver', read: maybeAddress }],
  [0xad01, { schema: 'DNSAdnlAddress', read: hex, flags: true }],
  [0x9fd3, { schema: 'DNSSmcAddress', read: maybeAddress, flags: true }],
  [0x7473, { schema: 'DNSStorageAddress', read: hex }],
  [0x1eda, { schema: 'DNSText', read: text }],
]);

function readRecord(slice: ContractSlice): DnsRecord {
  const known = schemas.get(slice.uint(16));
  if (known === undefined) return { schema: 'Unknown', value: null, flags: null };
  return { schema: known.schema, value: known.read(slice), flags: known.flags === true ? slice.uint(8) : null };
}

const changeBody = body({
  queryId: uint64,
  key: hex,
  record: (slice) => (slice.remainingRefs === 0 ? undefined : readRecord(slice.refSlice())),
});

const noCategory = '0'.repeat(64);

function recordData(key: string, record: DnsRecord | undefined): ActionData {
  const { schema = null, value = null, flags = null } = record ?? {};
  return { change_dns_record_data: { key, value_schema: schema, value, flags } };
}

const change: Matcher<Type> = {
  pattern: followedBy(call(0x4eb1f0f9), maybe(withoutExcesses(call(...BOUNCE_OPCODES)))),
  build(root, _found, { interfaces }) {
    const { message, source, destination } = innerCall(root);
    const { key, record } = changeBody(message);
    const isRenewal = record === undefined && key === noCategory;
    const columns = { source, destination, asset: interfaces.nftItem(destination)?.collection ?? null };
    return {
      type: record !== undefined ? 'change_dns' : isRenewal ? 'renew_dns' : 'delete_dns',
      columns: isRenewal ? columns : { ...columns, data: recordData(key, record) },
      failed: root.failed,
    };
  },
};

/** Types of names. */
const types = {
  change_dns: {
    words: [
      'DNS record set',
      '{@source} sets record {key} of {!asset}[ to {@value.dns_smc_address}][ to {"value.dns_text}]' +
        '[ to {value.dns_adnl_address}][ to {@value.dns_next_resolver_address}][ to {value.dns_storage_address}]',
    ],
    since: 'v1',
    groups: ['dns', 'dns.v2'],
    isIndivisible: true,
    details: {
      key: 'text change_dns_record_data.key',
      value: 'dns_record! change_dns_record_data',
      source: 'address source',
      asset: 'address destination',
      nft_collection: 'address asset',
    },
  },
  renew_dns: {
    words: ['Domain renewed', '{@source} renews {!asset}'],
    since: 'v1',
    groups: ['dns', 'dns.v2'],
    isIndivisible: true,
    details: { source: 'address source', asset: 'address destination', nft_collection: 'address asset' },
  },
  delete_dns: {
    words: ['DNS record deleted', '{@source} deletes record {key} of {!asset}'],
    since: 'v1',
    groups: ['dns', 'dns.v2'],
    isIndivisible: true,
    details: {
      hash: 'text change_dns_record_data.key',
      key: 'text change_dns_record_data.key',
      source: 'address source',
      asset: 'address destination',
      nft_collection: 'address asset',
    },
  },
  dns_release: {
    words: ['Domain released', '{@source} releases {!nft_item}[ with {$value}]'],
    since: 'v3',
    groups: ['nft.v3', 'dns', 'dns.v2'],
    isIndivisible: false,
    details: {
      query_id: 'amount nft_transfer_data.query_id',
      source: 'address source',
      nft_item: 'address destination',
      nft_collection: 'address asset',
      nft_item_index: 'amount nft_transfer_data.nft_item_index',
      value: 'amount value',
    },
  },
  dns_purchase: {
    words: ['Domain purchase', '{@new_owner} buys {!nft_item}[ for {$price}]'],
    since: 'v3',
    groups: ['nft.v3', 'dns', 'dns.v2'],
    isIndivisible: false,
    details: {
      nft_collection: 'address asset',
      nft_item: 'address assetSecondary',
      nft_item_index: 'amount nft_transfer_data.nft_item_index',
      new_owner: 'address destination',
      price: 'amount nft_transfer_data.price',
      query_id: 'amount nft_transfer_data.query_id',
      payout_amount: 'amount nft_transfer_data.payout_amount',
    },
  },
} satisfies FamilyTypes;

type Type = keyof typeof types;

/** Actions of names. */
export const dns = { types, matchers: { release, purchase, change } } satisfies Family;
