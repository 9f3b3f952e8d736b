import { readFileSync } from 'node:fs';
import { basename } from 'node:path';

import { CellSlice } from '#service/decode/cell-slice.ts';
import { parseBoc } from '#service/decode/boc.ts';
import type {
  AccountStatusName,
  EventMessage,
  ClassifierTrace,
  EventTransaction,
} from '#service/actions/engine/classifier-input.ts';
import type { Interfaces } from '#service/actions/engine/interfaces.ts';

import { fixtureFiles } from './fixtures.ts';

/** A recorded mainnet trace with the actions that belong to it, as the README of `mainnet-traces` says. */
export type RecordedTrace = {
  readonly name: string;
  readonly trace: ClassifierTrace;
  readonly interfaces: Interfaces;
  readonly expected: {
    readonly classification_state: string;
    readonly action_rows: readonly Row[];
    readonly api_actions: readonly Row[];
    readonly visible: Readonly<Record<string, readonly string[]>>;
    readonly trace_tree: Row;
    readonly transactions_order: readonly string[];
  };
  readonly cases: readonly Row[];
};

// Files of a foreign form, of which tests read what they assert.
// oxlint-disable-next-line typescript/no-explicit-any
type Row = Readonly<Record<string, any>>;

/** Files of recorded traces that are here; none without the fixtures. */
export function recordedTraceFiles(): readonly string[] {
  return fixtureFiles(/\.json$/).filter((path) => isRecordedTrace(readFileSync(path, 'utf8')));
}

/** By what the file says of itself, wherever in it: neither its name nor the order of its fields is a part of the form. */
function isRecordedTrace(text: string): boolean {
  return text.includes('v3-trace-fixture/1') && (JSON.parse(text) as Row)['format'] === 'v3-trace-fixture/1';
}

export function readRecordedTrace(path: string): RecordedTrace {
  const { trace, transactions, interfaces, expected, cases } = JSON.parse(readFileSync(path, 'utf8')) as Row;
  return {
    name: basename(path, '.json'),
    trace: {
      traceId: trace.trace_id,
      externalHash: trace.external_hash ?? null,
      externalHashNorm: trace.external_hash_norm ?? null,
      endLt: BigInt(trace.end_lt),
      endUtime: trace.end_utime,
      mcSeqnoEnd: trace.mc_seqno_end,
      transactions: transactions.map(readTransaction),
    },
    interfaces: readInterfaces(interfaces),
    expected,
    cases,
  };
}

function readTransaction(row: Row): EventTransaction {
  const messages = row['messages'] as readonly Row[];
  const inbound = messages.find(({ direction }) => direction === 'in');
  return {
    hash: row['hash'],
    account: row['account'],
    lt: BigInt(row['lt']),
    utime: row['now'],
    mcSeqno: row['mc_block_seqno'],
    kind: row['descr'],
    aborted: row['aborted'] ?? false,
    originalStatus: row['orig_status'] as AccountStatusName,
    endStatus: row['end_status'] as AccountStatusName,
    skippedReason: row['skipped_reason'] ?? null,
    exitCode: row['compute_exit_code'],
    inMessage: inbound === undefined ? null : readMessage(inbound),
    outMessages: messages.filter(({ direction }) => direction === 'out').map(readMessage),
  };
}

function readMessage(row: Row): EventMessage {
  return {
    hash: row['msg_hash'],
    source: row['source'],
    destination: row['destination'],
    value: amount(row['value']),
    extraCurrencies: row['value_extra_currencies'],
    createdLt: amount(row['created_lt']),
    createdAt: row['created_at'],
    opcode: row['opcode'] === null ? null : row['opcode'] >>> 0,
    bounce: row['bounce'] ?? false,
    body: openCell(row['message_content']?.body),
    init: openCell(row['init_state']?.body),
  };
}

function openCell(text: string | null | undefined): CellSlice | undefined {
  if (text === null || text === undefined) return undefined;
  const boc = parseBoc(Buffer.from(text, 'base64'));
  return boc.kind(boc.roots[0]!) === 'ordinary' ? new CellSlice(boc, boc.roots[0]!) : undefined;
}

function amount(value: unknown): bigint | null {
  return value === null || value === undefined ? null : BigInt(value as string);
}

function readInterfaces(rows: Row): Interfaces {
  const row = (account: string, kind: string): Row | undefined => rows[account]?.[kind];
  return {
    jettonWallet: (account) => row(account, 'JettonWallet') as never,
    nftItem(account) {
      const found = row(account, 'NftItem');
      return (
        found && {
          index: amount(found['index']),
          collection: found['collection_address'],
          owner: found['owner_address'],
          content: found['content'],
          codeHash: found['code_hash'] ?? null,
        }
      );
    },
    nftSale(account) {
      const found = row(account, 'NftSale');
      return (
        found && {
          marketplace: found['marketplace_address'],
          nft: found['nft_address'],
          nftOwner: found['nft_owner_address'],
          fullPrice: amount(found['full_price']),
          codeHash: found['code_hash'] ?? null,
        }
      );
    },
    nftAuction(account) {
      const found = row(account, 'NftAuction');
      return (
        found && {
          marketplace: found['mp_addr'],
          nft: found['nft_addr'],
          nftOwner: found['nft_owner'],
          lastBid: amount(found['last_bid']),
          codeHash: found['code_hash'] ?? null,
        }
      );
    },
    dedustPool(account) {
      const assets = row(account, 'DedustPool')?.['assets'] as readonly Row[] | undefined;
      return assets && { assets: assets.map(({ is_ton: isTon, address }) => (isTon === true ? null : address)) };
    },
    multisigOrder: (account) => row(account, 'MultisigOrder') as never,
    isNominatorPool: (account) => row(account, 'NominatorPool') !== undefined,
    data(account) {
      const text = row(account, 'data_boc')?.['data_boc'] as string | undefined;
      return text === undefined ? undefined : Buffer.from(text, 'base64');
    },
  };
}
