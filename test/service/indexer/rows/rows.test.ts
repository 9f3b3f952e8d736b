import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { Cell } from '@ton/core';
import { beforeAll, describe, expect, it } from 'vitest';

import { parseBoc } from '#service/decode/boc.ts';
import { readBlockInfo } from '#service/decode/tlb/block-info.ts';
import { readBlock } from '#service/decode/tlb/block.ts';
import { rowsOf } from '#service/indexer/rows/rows.ts';
import type { SourceBlocks } from '#service/indexer/source.ts';
import type { BlockRows, TransactionLinks } from '#service/store/tables.ts';
import { fixtureFiles } from '#test/support/fixtures.ts';
import { skipLoudly } from '#test/support/skips.ts';
import { recordedBlocks } from '../recorded-blocks.ts';
import type { PlainMessage, PlainTransaction } from './core-rows.ts';
import { coreTransactions, plainMessage, plainTransaction } from './core-rows.ts';

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

const byText = <T extends { readonly hash: string; readonly lt: bigint }>(one: T, other: T): number =>
  one.hash < other.hash || (one.hash === other.hash && one.lt < other.lt) ? -1 : 1;

/** Rows against an independent pass: the same transactions, each message once, nothing lost in the bags. */
function expectAll(expected: readonly PlainTransaction[], rows: BlockRows): void {
  expect(rows.transactions.map(plainTransaction).toSorted(byText)).toEqual(expected.toSorted(byText));
  for (const { hash, in_msg_hash, boc } of rows.transactions) {
    const [cell] = Cell.fromBoc(Buffer.from(boc)) as [Cell];
    expect(hex(cell.hash())).toBe(hex(hash));
    const inMessage = cell.refs[0]!.beginParse().loadMaybeRef();
    expect(in_msg_hash && hex(in_msg_hash)).toBe(inMessage && inMessage.hash().toString('hex'));
  }
  const found = rows.transactions.map(({ hash, in_opcode, in_body_hash }) =>
    [hex(hash), in_opcode, in_body_hash && hex(in_body_hash)].join(),
  );
  const taken = expected.map((one) => [one.hash, one.in?.opcode, one.in?.body_hash].join());
  expect(found.toSorted()).toEqual(taken.toSorted());
  const messages = new Map<string, PlainMessage>();
  for (const { in: inMessage, out } of expected) {
    for (const message of [...(inMessage ? [inMessage] : []), ...out]) {
      messages.set(`${message.hash} ${message.kind === 0 ? message.lt : ''}`, message);
    }
  }
  expect(rows.messages.map(plainMessage).toSorted(byText)).toEqual([...messages.values()].toSorted(byText));
}

function plainLinks(hash: string, { cause, externalHashNorm, sent, logs }: TransactionLinks) {
  return { hash, cause, norm: externalHashNorm && hex(externalHashNorm), sent: sent.map(hex), logs };
}

function linksOf({ hash, in: taken, out }: PlainTransaction, sentByAny: ReadonlySet<string>) {
  const causes = ['external', sentByAny.has(taken?.hash ?? '') ? 'internal' : 'system', 'none'] as const;
  return {
    hash,
    cause: taken ? causes[taken.kind] : 'none',
    norm: taken?.kind === 0 ? (taken.hash_norm ?? taken.hash) : null,
    sent: out.filter(({ kind }) => kind === 1).map((message) => message.hash),
    logs: out.filter(({ kind }) => kind === 2).length,
  };
}

describe('rows of the recorded chain', () => {
  let rows: readonly BlockRows[];
  let expected: readonly (readonly PlainTransaction[])[];

  beforeAll(async () => {
    const blocks = await recordedBlocks();
    expected = blocks.map(coreTransactions);
    rows = blocks.map(rowsOf);
  });

  it('are the transactions and messages that @ton/core finds, and hold their cells', () => {
    expected.forEach((all, index) => expectAll(all, rows[index]!));
    expect(rows.flatMap(({ transactions }) => transactions)).toHaveLength(6475);
  });

  it('tell by which version of the rules blocks were made, and for want of better that of the software', async () => {
    const [source] = await recordedBlocks();
    const versions = (globalVersion: number | undefined) =>
      rowsOf({ ...source!, globalVersion }).blocks.map((row) => [row.global_version, row.software_version]);
    const software = rows[0]!.blocks.map((row) => row.software_version!);
    expect(versions(7)).toEqual(software.map((version) => [7, version]));
    expect(versions(undefined)).toEqual(software.map((version) => [version, version]));
  });

  it('stand in the order of lt, workchain, account', () => {
    for (const { transactions } of rows) {
      const keys = transactions.map(({ lt, account }) => `${lt.toString().padStart(20, '0')} ${hex(account)}`);
      expect(keys).toEqual(keys.toSorted());
    }
  });

  it('link each transaction to what it took and sent', () => {
    const all = new Map(expected.flat().map((one) => [one.hash, one]));
    // The chain is whole: what no transaction sent is the block's own.
    const sentByAny = new Set(expected.flat().flatMap(({ out }) => out.map(({ hash }) => hash)));
    const found = rows.flatMap(({ transactions, links }) =>
      links.map((link, index) => plainLinks(hex(transactions[index]!.hash), link)),
    );
    expect(found).toEqual(found.map(({ hash }) => linksOf(all.get(hash)!, sentByAny)));
    const causes = new Set(rows.flatMap(({ links }) => links.map(({ cause }) => cause)));
    expect([...causes].toSorted()).toEqual(['external', 'internal', 'none', 'system']);
  });

  it('name every block, the one before it, and the tops of each masterchain block', () => {
    const all = rows.flatMap((one) => one.blocks);
    const names = new Map(all.map((row) => [`${row.workchain} ${row.shard} ${row.seqno}`, row]));
    for (const row of all) {
      const isFirst = row.seqno === 1;
      expect(names.has(`${row.workchain} ${row.prev_shard} ${row.prev_seqno}`)).toBe(!isFirst);
      expect(row.prev_shard_2 === null).toBe(!row.after_merge);
      const second = `${row.workchain} ${row.prev_shard_2} ${row.prev_seqno_2}`;
      expect(row.prev_shard_2 === null || names.has(second)).toBe(true);
    }
    expect(all.reduce((sum, { tx_count }) => sum + tx_count, 0)).toBe(6475);
    for (const { mcSeqno, shardTops } of rows) {
      expect(shardTops[0]).toMatchObject({ mc_seqno: mcSeqno, workchain: -1, seqno: mcSeqno });
      for (const { workchain, shard, seqno } of shardTops) {
        expect(seqno === 0 || names.has(`${workchain} ${shard} ${seqno}`)).toBe(true);
      }
    }
  });
});

const files = fixtureFiles(/\/mainnet-blocks\/(block|shard)-[^/]*\.boc$/);

describe.skipIf(skipLoudly(files.length === 0, { what: 'rows of mainnet blocks', why: 'no fixtures' }))(
  'rows of mainnet blocks (from the shared fixtures)',
  () => {
    it.each(files.map((file) => ({ name: basename(file), file })))('$name loses nothing', ({ file }) => {
      const source = aloneIn(readFileSync(file));
      const rows = rowsOf(source);
      expectAll(coreTransactions(source), rows);
      const accounts = new Set(rows.transactions.map(({ account }) => hex(account)));
      expect(rows.latestAccountStates.map(({ account }) => hex(account)).toSorted()).toEqual([...accounts].toSorted());
    });
  },
);

/** As if it were a masterchain block without shards. */
function aloneIn(boc: Buffer): SourceBlocks {
  const table = parseBoc(boc);
  const root = table.roots[0]!;
  const { workchain, shard, seqno } = readBlockInfo(table, readBlock(table, root).info);
  const id = { workchain, shard, seqno, rootHash: table.hash(root), fileHash: Buffer.alloc(32) };
  const masterchain = { id, boc };
  return { mcSeqno: 1, utime: 0, masterchain, shards: [], zeroStates: [], tops: [], globalVersion: undefined };
}
