import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

import { beforeAll, describe, expect, test } from 'vitest';

import type { BlockId } from '#service/decode/block-id.ts';
import { parseBoc, type Boc } from '#service/decode/boc.ts';
import { readBlockTransactions } from '#service/decode/tlb/account-blocks.ts';
import { readBlock } from '#service/decode/tlb/block.ts';
import { readBlockInfo } from '#service/decode/tlb/block-info.ts';
import type { Chain } from '#service/devchain/chain/chain.ts';
import { answerListing, answerListingExt } from '#service/devchain/queries/listing-queries.ts';
import type { ChainView } from '#service/devchain/chain/chain-view.ts';
import type { LiveAnswer } from '#service/contract/answer.ts';
import { createLiveTransactions } from '#service/live/transactions/live-transactions.ts';
import type { LiveTransactions } from '#service/live/transactions/transactions.ts';
import type { LiteServerFunction } from '#service/liteserver/functions.ts';
import { fixtureFiles } from '#test/support/fixtures.ts';
import { skipLoudly } from '#test/support/skips.ts';
import { within } from '../pool/network.ts';

const files = fixtureFiles(/mainnet-blocks\/.*\.boc$/).filter(isBlock);

type Large = { readonly id: BlockId; readonly boc: Boc; readonly hashes: readonly string[] };

/** Other things than blocks lie there too. */
function isBlock(file: string): boolean {
  const boc = parseBoc(readFileSync(file));
  const root = boc.roots[0]!;
  return boc.bitLength(root) >= 32 && boc.bytes.readUInt32BE(boc.dataOffset(root)) === 0x11ef55aa;
}

/** A block file as lite servers know it, with the hashes of its transactions in their order. */
function read(file: string): Large {
  const bytes = readFileSync(file);
  const boc = parseBoc(bytes);
  const root = boc.roots[0]!;
  const { workchain, shard, seqno } = readBlockInfo(boc, readBlock(boc, root).info);
  const fileHash = createHash('sha256').update(bytes).digest();
  const hashes = readBlockTransactions(boc, root).map(({ cell }) => boc.hash(cell).toString('hex'));
  return { id: { workchain, shard, seqno, rootHash: boc.hash(root), fileHash }, boc, hashes };
}

/**
 * Transactions over one block that no recorded network has. Answers are those of the embedded lite server, and their proofs are
 * checked; only the way to it is cut short.
 */
function openBlock({ id, boc }: Large): { live: LiveTransactions; asked: number[] } {
  const asked: number[] = [];
  const block = { id, masterchainSeqno: 1 };
  const chain = { find: () => block, parse: () => boc, zeroStates: [] } as unknown as Chain;
  const view: ChainView = { chain, tip: 1, nowSeconds: 0 };
  const query = async (
    fn: LiteServerFunction<never, unknown>,
    args: Parameters<typeof answerListing>[1],
    _context: unknown,
    { check }: { check: (answer: unknown) => unknown },
  ): Promise<LiveAnswer<unknown>> => {
    asked.push(args.count);
    const answer = (fn.name === 'listBlockTransactions' ? answerListing : answerListingExt)(view, args);
    return { value: check(fn.decode(fn.encodeAnswer(answer))), liteServers: [0], cached: false };
  };
  const blocks = { findBlock: async () => ({ value: { id }, liteServers: [], cached: true }) };
  const dependencies = { pool: { query }, blocks, accounts: {} };
  return {
    live: createLiveTransactions(dependencies as unknown as Parameters<typeof createLiveTransactions>[0]),
    asked,
  };
}

describe.skipIf(skipLoudly(files.length === 0, { what: 'large blocks', why: 'no blocks of the mainnet' }))(
  'a listing beyond what one answer holds',
  () => {
    let large: Large;

    beforeAll(() => {
      large = files.map(read).toSorted((a, b) => b.hashes.length - a.hashes.length)[0]!;
    });

    test('goes on from answer to answer until the block or the wanted count ends', () => {
      expect(large.hashes.length).toBeGreaterThan(257);
    });

    test.each([255, 256, 257, 300, 10_000])(
      'listBlock with a count of %i returns so many names, or all',
      async (count) => {
        const { live, asked } = openBlock(large);
        const { value } = await live.listBlock(large.id, { count }, within(60_000));
        expect(value.transactions.map(({ hash }) => hash.toString('hex'))).toEqual(large.hashes.slice(0, count));
        expect(value.incomplete).toBe(large.hashes.length > count);
        expect(Math.max(...asked)).toBeLessThanOrEqual(256);
      },
    );

    test.each([257, 10_000])('%i transactions', async (count) => {
      const { live } = openBlock(large);
      const { value } = await live.readBlockTransactions(large.id, { count }, within(60_000));
      const hashes = value.transactions.map(({ table, transaction }) => table.hash(transaction.cell).toString('hex'));
      expect(hashes).toEqual(large.hashes.slice(0, count));
      expect(value.incomplete).toBe(large.hashes.length > count);
    });

    test('as many as there are: nothing follows', async () => {
      const { live } = openBlock(large);
      const { value } = await live.listBlock(large.id, { count: large.hashes.length }, within(60_000));
      expect([value.transactions.length, value.incomplete]).toEqual([large.hashes.length, false]);
    });
  },
);
