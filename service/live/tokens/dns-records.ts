import type { CellSlice, ContractSlice } from '#service/decode/cell-slice.ts';
import {
  attempt,
  openContractCell,
  readChunkedText,
  takeText,
  walkDictionary,
  writeBag,
} from '#service/decode/contract-data.ts';
import type { ContractCell } from '#service/decode/contract-data.ts';
import { readMessageAddress } from '#service/decode/tlb/message-address.ts';
import type { ReadBudget } from '#service/decode/read-budget.ts';
import type { AccountId } from '../accounts/accounts.ts';

/** The value of a domain under one category (TEP-81). */
export type KnownRecord =
  | { readonly kind: 'text'; readonly text: Buffer }
  | { readonly kind: 'nextResolver'; readonly resolver: AccountId }
  | { readonly kind: 'smcAddress'; readonly address: AccountId }
  /** 32 bytes. */
  | { readonly kind: 'adnlAddress'; readonly address: Buffer }
  /** 32 bytes. */
  | { readonly kind: 'storageAddress'; readonly bagId: Buffer };

/** Known record, or the bag of cells of a record of another type or a malformed record. */
export type DnsRecord = KnownRecord | { readonly kind: 'unknown'; readonly boc: Buffer };

/** Record of a dictionary and its cell. `known` is undefined for a record of another type or a malformed record. */
export type FoundRecord = {
  readonly category: Buffer;
  readonly cell: ContractCell;
  readonly known: KnownRecord | undefined;
};

/** Records of one domain that are read; there are four standard categories, and an owner pays for each. */
const RECORDS_MAX = 1024;

/**
 * The records in a domain's dictionary, `Hashmap 256 ^DNSRecord`, in the order of their categories; values of another form are left
 * out. Throws DecodeError when the cell is no dictionary, and `too_big` when the budget is spent.
 */
export function readDnsRecords(root: ContractCell, budget: ReadBudget): readonly FoundRecord[] {
  const records: FoundRecord[] = [];
  walkDictionary(openContractCell(root, budget), 256, (category, value) => {
    if (value.remainingBits === 0 && value.remainingRefs === 1) {
      const cell = { table: root.table, cell: value.ref() };
      records.push({ category, cell, known: readDnsRecord(cell, budget) });
    }
    return records.length < RECORDS_MAX;
  });
  return records;
}

/** Reads one `DNSRecord`; undefined for what does not follow its type. Throws DecodeError `too_big`. */
export function readDnsRecord(cell: ContractCell, budget: ReadBudget): KnownRecord | undefined {
  return attempt(budget, () => readKnown(openContractCell(cell, budget)));
}

/** A record as an answer has it: all records of the answer share the budget. Throws DecodeError `too_big`. */
export function showRecord({ cell, known }: Omit<FoundRecord, 'category'>, budget: ReadBudget): DnsRecord {
  if (known?.kind === 'text') takeText(budget, known.text.toString());
  if (known !== undefined) return known;
  const boc = writeBag(cell, budget);
  budget.write(Math.ceil(boc.length / 3) * 4);
  return { kind: 'unknown', boc };
}

/**
 * `dns_text#1eda _:Text`, `dns_next_resolver#ba93 resolver:MsgAddressInt`, `dns_adnl_address#ad01 adnl_addr:bits256 flags:(## 8) ...`,
 * `dns_smc_address#9fd3 smc_addr:MsgAddressInt flags:(## 8) ...`, `dns_storage_address#7473 bag_id:bits256`.
 */
function readKnown(slice: ContractSlice): KnownRecord | undefined {
  switch (slice.uint(16)) {
    case 0x1eda:
      return { kind: 'text', text: readChunkedText(slice) };
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
