import { createHash } from 'node:crypto';

import type { ContractSlice } from '../decode/cell-slice.ts';
import { lookUpEntry, openContractCell } from '../decode/contract-data.ts';
import { DecodeError } from '../decode/errors.ts';
import type { KnownRecord } from '../live/tokens/dns-records.ts';
import { readDnsRecord } from '../live/tokens/dns-records.ts';
import { TELEGRAM_ZONE } from '../live/tokens/dns-zones.ts';
import { cellOfSlice } from '../tvm/stack.ts';
import type { StackCell, StackEntry } from '../tvm/stack.ts';
import { accountKey } from '../store/account-key.ts';
import type { DnsEntryRow } from '../store/classification-tables.ts';
import type { Answers } from './family.ts';
import { anyCell, int, slice, stackShape } from './stack-shape.ts';

export type Domain = {
  /** Full name, e.g. `foo.ton`. */
  readonly name: string;
  /** Undefined for an item that does not resolve its own name. */
  readonly records: DomainRecords | undefined;
};

export type DomainRecords = Pick<DnsEntryRow, 'next_resolver' | 'wallet' | 'site_adnl' | 'storage_bag_id'>;

/** Bits of the zero byte that a domain is asked to resolve. */
const OWN_NAME_BITS = 8n;

const text = stackShape({ bytes: slice });

const resolved = stackShape({ bits: int, records: anyCell });

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Reads an item of a zone's collection as a domain; undefined when it has no readable name (service/interfaces/README.md#names). */
export function readDomain(zone: string, answers: Answers): Domain | undefined {
  const name =
    zone === TELEGRAM_ZONE
      ? readLabels(textOf(answers('get_full_domain')))
      : withZone(textOf(answers('get_domain')), zone);
  return name === undefined ? undefined : { name, records: readRecords(answers('dnsresolve')) };
}

function withZone(label: string | undefined, zone: string): string | undefined {
  return label === undefined || label.includes('\0') ? undefined : `${label}.${zone}`;
}

/** Reads labels, each ended by a zero byte, the last label first. */
function readLabels(labels: string | undefined): string | undefined {
  return labels?.split('\0').slice(0, -1).toReversed().join('.');
}

/** Reads a slice of whole bytes as text. */
function textOf(stack: readonly StackEntry[] | undefined): string | undefined {
  const found = text(stack)?.bytes;
  if (found === undefined || (found.endBit - found.startBit) % 8 !== 0) return undefined;
  const { table, cell } = cellOfSlice(found);
  try {
    return utf8.decode(openContractCell({ table, cell }).bytes(table.bitLength(cell) >> 3));
  } catch {
    return undefined;
  }
}

const NO_RECORDS: DomainRecords = { next_resolver: null, wallet: null, site_adnl: null, storage_bag_id: null };

/**
 * Reads the records of a result. The result must be the resolved length, which is all of it, and a dictionary. Null stands for an empty dictionary.
 */
function readRecords(stack: readonly StackEntry[] | undefined): DomainRecords | undefined {
  const answer = stack?.length === 2 ? resolved(stack) : undefined;
  if (answer?.bits !== OWN_NAME_BITS) return undefined;
  try {
    return answer.records === null ? NO_RECORDS : lookUpRecords(answer.records);
  } catch (error) {
    if (error instanceof DecodeError) return undefined;
    throw error;
  }
}

function lookUpRecords(root: StackCell): DomainRecords {
  const dictionary = openContractCell(root);
  const site = lookUp(dictionary, 'site');
  const wallet = lookUp(dictionary, 'wallet');
  const next = lookUp(dictionary, 'dns_next_resolver');
  const storage = lookUp(dictionary, 'storage');
  return {
    next_resolver: next?.kind === 'nextResolver' ? accountKey(next.resolver) : null,
    wallet: wallet?.kind === 'smcAddress' ? accountKey(wallet.address) : null,
    site_adnl: site?.kind === 'adnlAddress' ? upperHex(site.address) : null,
    storage_bag_id: storage?.kind === 'storageAddress' ? upperHex(storage.bagId) : null,
  };
}

function lookUp(dictionary: ContractSlice, category: string): KnownRecord | undefined {
  const value = lookUpEntry(dictionary, 256, createHash('sha256').update(category).digest());
  const isReference = value?.remainingBits === 0 && value.remainingRefs === 1;
  return isReference ? readDnsRecord({ table: value.table, cell: value.ref() }, value.budget) : undefined;
}

function upperHex(bytes: Buffer): string {
  return bytes.toString('hex').toUpperCase();
}
