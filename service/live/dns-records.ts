import { writeBoc } from '../decode/boc-writer.ts';
import { CellSlice } from '../decode/cell-slice.ts';
import type { CellTable } from '../decode/cell-table.ts';
import { DecodeError } from '../decode/errors.ts';
import { walkHashmap } from '../decode/hashmap.ts';
import { readMessageAddress } from '../decode/tlb/message-address.ts';
import type { AccountId } from './accounts.ts';

/** What a domain says under one category (TEP-81). */
export type DnsRecord =
  | { readonly kind: 'text'; readonly text: Buffer }
  | { readonly kind: 'nextResolver'; readonly resolver: AccountId }
  | { readonly kind: 'smcAddress'; readonly address: AccountId }
  /** 32 bytes. */
  | { readonly kind: 'adnlAddress'; readonly address: Buffer }
  /** 32 bytes. */
  | { readonly kind: 'storageAddress'; readonly bagId: Buffer }
  /** Of another type, or malformed: its cell as a bag of cells. */
  | { readonly kind: 'unknown'; readonly boc: Buffer };

/** Records of one domain that are read; there are four standard categories, and an owner pays for each. */
const RECORDS_MAX = 1024;

/**
 * The records in a domain's dictionary, `Hashmap 256 ^DNSRecord`, in the order of their categories; values of another form are left
 * out. Throws DecodeError when the cell is no dictionary.
 */
export function readDnsRecords(
  table: CellTable,
  root: number,
): readonly { readonly category: Buffer; readonly record: DnsRecord }[] {
  const records: { category: Buffer; record: DnsRecord }[] = [];
  walkHashmap(table, root, 256, (category, value) => {
    if (value.remainingBits === 0 && value.remainingRefs === 1) {
      records.push({ category, record: readDnsRecord(table, value.ref()) });
    }
    return records.length < RECORDS_MAX;
  });
  return records;
}

/** Reads one `DNSRecord`; what does not follow its type is `unknown`. */
export function readDnsRecord(table: CellTable, cell: number): DnsRecord {
  try {
    const record = readKnown(new CellSlice(table, cell));
    if (record !== undefined) return record;
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
  }
  return { kind: 'unknown', boc: writeBoc(table, [cell], { crc32c: true }) };
}

/**
 * `dns_text#1eda _:Text`, `dns_next_resolver#ba93 resolver:MsgAddressInt`, `dns_adnl_address#ad01 adnl_addr:bits256 flags:(## 8) ...`,
 * `dns_smc_address#9fd3 smc_addr:MsgAddressInt flags:(## 8) ...`, `dns_storage_address#7473 bag_id:bits256`.
 */
function readKnown(slice: CellSlice): DnsRecord | undefined {
  switch (slice.uint(16)) {
    case 0x1eda:
      return { kind: 'text', text: readText(slice) };
    case 0xba93: {
      const resolver = readAccount(slice);
      return resolver && { kind: 'nextResolver', resolver };
    }
    case 0x9fd3: {
      const address = readAccount(slice);
      return address && { kind: 'smcAddress', address };
    }
    case 0xad01:
      return { kind: 'adnlAddress', address: slice.hash() };
    case 0x7473:
      return { kind: 'storageAddress', bagId: slice.hash() };
    default:
      return undefined;
  }
}

/** An `addr_std` without anycast; undefined for another kind of address. */
export function readAccount(slice: CellSlice): AccountId | undefined {
  const address = readMessageAddress(slice);
  if (address?.kind !== 'internal' || address.variable || address.anycast !== undefined) return undefined;
  return { workchain: address.workchain, id: address.id };
}

/**
 * `text$_ chunks:(## 8) rest:(TextChunks chunks)`, `text_chunk$_ len:(## 8) data:(bits (len * 8)) next:(TextChunkRef n)`,
 * `chunk_ref$_ ref:^(TextChunks (n + 1))`.
 */
function readText(text: CellSlice): Buffer {
  const chunks: Buffer[] = [];
  let slice = text;
  for (let left = slice.uint(8); left > 0; left--) {
    chunks.push(slice.bytes(slice.uint(8)));
    if (left > 1) slice = slice.refSlice();
  }
  return Buffer.concat(chunks);
}
